"""Brokers placed like the sites, in a tree that follows the network."""

from __future__ import annotations

import numpy as np

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.generate.content.network import MAX_LATENCIES, REGIONS, Network, hop_latencies
from pubplan.workload import PUBLISHER, Brokers, Int32Array, Int64Array, numbered_ids

MAX_LEVELS = 5
OUT_DEGREE = 15
MAX_OUT_DEGREE = 1000


def make_brokers(network: Network, num_brokers: int, levels: int = 1, out_degree: int = OUT_DEGREE) -> Brokers:
    """A tree of ``num_brokers`` brokers; all leaves are at the same depth, with equal shares.

    Leaves are placed stratified: sites are cut into as many runs of neighbours as there are leaves, and each run has
    one, in the middle of it. Drawn independently, some regions would have too few brokers to balance any load. Inner
    brokers feed at most ``out_degree`` neighbours of one region, from the centre of them; the publisher may feed more.

    Raises:
        InputError: a number is out of range, or there are too few brokers for the levels.
    """
    _check(network, num_brokers, levels, out_degree)
    # The number of leaves is the largest that leaves enough brokers to feed them.
    most = num_brokers if levels == 1 else num_brokers * out_degree // (out_degree + 1)
    for num_leaves in range(most, 0, -1):
        starts = np.arange(num_leaves + 1, dtype=np.int64) * network.num_sites // num_leaves
        regions = network.regions[(starts[:-1] + starts[1:]) // 2]
        parents = _parents(regions, levels, out_degree, num_brokers)
        if parents is not None:
            return _tree(network, _leaf_points(network, starts, regions), parents)
    raise InputError(
        f"{num_brokers} brokers are too few for {levels} levels: inner brokers feed brokers of one region, and "
        f"there are {len(REGIONS)}."
    )


def _check(network: Network, num_brokers: int, levels: int, out_degree: int) -> None:
    for option, value, least, most in (
        ("levels", levels, 1, MAX_LEVELS),
        ("out_degree", out_degree, 2, MAX_OUT_DEGREE),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InputError(f"{argument(option)} is a whole number from {least} to {most:,}, not {value}.")
    if network.num_sites * num_brokers > MAX_LATENCIES:
        raise InputError(
            f"{network.num_sites:,} sites and {num_brokers:,} brokers have more than {MAX_LATENCIES:,} latencies "
            f"between them: ask for fewer {argument('num_sites')} or {argument('num_brokers')}."
        )


def _leaf_points(network: Network, starts: Int64Array, regions: Int32Array) -> Int64Array:
    """Where the leaves are: in each run of sites at the one nearest to the centre of those of its region."""
    points_of_leaves = []
    for first, last, region in zip(starts[:-1].tolist(), starts[1:].tolist(), regions.tolist(), strict=True):
        run = np.arange(first, max(last, first + 1))  # more leaves than sites: some sites have several
        points = network.coordinates[run[network.regions[run] == region]]
        centre = points.sum(axis=0) // len(points)
        points_of_leaves.append(points[np.argmin(((points - centre) ** 2).sum(axis=1))])
    return np.array(points_of_leaves)


def _parents(regions: Int32Array, levels: int, out_degree: int, num_brokers: int) -> list[Int32Array] | None:
    """For each layer but the top one, from the leaves up: the positions of their parents in the layer above.

    None where leaves of these regions need more or fewer than ``num_brokers`` brokers in all.
    """
    layers: list[Int32Array] = []
    num_left = num_brokers - len(regions)
    for level in range(levels, 1, -1):
        # The top layer takes all brokers that are left.
        parents = _runs(regions, out_degree, num_left if level == 2 else None)
        if parents is None:
            return None
        layers.append(parents)
        regions = regions[_first_of(parents)]
        num_left -= len(regions)
    return layers if num_left == 0 else None


def _runs(regions: Int32Array, out_degree: int, number: int | None) -> Int32Array | None:
    """Cut brokers into runs of at most ``out_degree`` of one region, as few as possible or ``number`` of them.

    None where that many are too few, or more than there are brokers.
    """
    members = np.bincount(regions, minlength=len(REGIONS))
    runs = -(-members // out_degree)
    while number is not None and runs.sum() < number <= len(regions):
        # Another run where they are longest; numbers of members per run, compared as whole numbers.
        lengths = np.where(runs < members, members * len(regions) // np.maximum(runs, 1), -1)
        runs[np.argmax(lengths)] += 1
    if number is not None and runs.sum() != number:
        return None
    first = np.cumsum(runs) - runs
    position = np.concatenate([np.arange(count) for count in members])
    return (first[regions] + position * runs[regions] // members[regions]).astype(np.int32)


def _first_of(parents: Int32Array) -> Int64Array:
    """Where the children of each parent begin."""
    return np.flatnonzero(np.diff(parents, prepend=-1))


def _tree(network: Network, leaves: Int64Array, layers: list[Int32Array]) -> Brokers:
    """Brokers inside the tree are at the centre of those that they feed; those that the publisher feeds come first."""
    points, parents = [leaves], [np.full(len(leaves), PUBLISHER, dtype=np.int32)]
    for above in layers:
        starts = _first_of(above)
        sizes = np.diff(starts, append=len(above))
        points.insert(0, np.add.reduceat(points[0], starts, axis=0) // sizes[:, None])
        parents[0] = above
        parents.insert(0, np.full(len(starts), PUBLISHER, dtype=np.int32))
    first = 0
    for layer, above_points in enumerate(points[:-1], start=1):
        parents[layer] = parents[layer] + np.int32(first)
        first += len(above_points)
    all_points, all_parents = np.concatenate(points), np.concatenate(parents)
    origins = np.where((all_parents == PUBLISHER)[:, None], network.publisher, all_points[all_parents])
    shares = np.zeros(len(all_points), dtype=np.int64)
    shares[first:] = 1  # the leaves come last
    return Brokers(
        numbered_ids("b", 0, len(all_points)),
        all_parents,
        hop_latencies(origins, all_points),
        shares,
        np.zeros(len(all_points), dtype=np.int64),
        all_points,
    )
