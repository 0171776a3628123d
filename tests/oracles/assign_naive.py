"""Slow, obvious twins of the kernels of assign, and small random instances for them.

A box is a tuple of d lows and d highs; a filter is a list of boxes; a region is the set of unit cells inside.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from pubplan.problems.assign.field import field_of, tree_of
from pubplan.problems.assign.kernels.field import Field, Tree
from pubplan.problems.assign.kernels.measures import Measure

Box = tuple[int, ...]
STEPS = 6


def cells_of(box: Box) -> set[tuple[int, ...]]:
    """The unit cells inside a box."""
    dims = len(box) // 2
    return set(itertools.product(*(range(box[k], box[dims + k]) for k in range(dims))))


def region(boxes: Sequence[Box]) -> set[tuple[int, ...]]:
    return set().union(*(cells_of(box) for box in boxes))


def measured(measure: Measure, boxes: Sequence[Box]) -> int:
    """The measure of a union, unit cell by unit cell."""
    cells = region(boxes)
    if not len(measure.prefix):
        return len(cells)
    shape = tuple(measure.cells + 1)
    messages = np.array(measure.prefix).reshape(shape)
    for axis in range(len(shape)):
        messages = np.diff(messages, axis=axis)
    return sum(int(messages[tuple(np.array(cell) // measure.widths)]) for cell in cells)


def covers(boxes: Sequence[Box], box: Box) -> bool:
    return cells_of(box) <= region(boxes)


def hull(box: Box, other: Box) -> Box:
    """The smallest box around two."""
    dims = len(box) // 2
    return (*(min(box[k], other[k]) for k in range(dims)), *(max(box[k], other[k]) for k in range(dims, 2 * dims)))


def contains(outer: Box, inner: Box) -> bool:
    return hull(outer, inner) == outer


def ways(boxes: list[Box], box: Box, alpha: int) -> Iterator[tuple[list[Box], list[Box]]]:
    """All ways to make a filter cover a box, in order: the boxes then, and those of them that are new."""
    for slot in range(len(boxes)):
        wide = hull(boxes[slot], box)
        yield [*boxes[:slot], wide, *boxes[slot + 1 :]], [wide]
    if len(boxes) < alpha:
        yield [*boxes, box], [box]
        return
    for slot, other in itertools.combinations(range(len(boxes)), 2):
        merged, changed = hull(boxes[slot], boxes[other]), list(boxes)
        changed[slot], changed[other] = merged, box
        yield changed, [merged, box]


def without_contained(boxes: list[Box]) -> list[Box]:
    """Boxes that no other one contains, the first of equal ones."""
    return [
        box
        for slot, box in enumerate(boxes)
        if not any(contains(other, box) and (other != box or at < slot) for at, other in enumerate(boxes) if at != slot)
    ]


def enlarged(measure: Measure, boxes: list[Box], box: Box, alpha: int) -> tuple[list[Box], list[Box]]:
    """A filter that covers a box in the first of the cheapest ways, and those of its boxes that are new."""
    if covers(boxes, box):
        return boxes, []
    changed, new = min(ways(boxes, box, alpha), key=lambda way: measured(measure, way[0]))
    kept = without_contained(changed)
    return kept, [each for each in kept if each in new]


@dataclass
class Instance:
    """A small random instance: as the kernels want it, and as plain values."""

    field: Field
    tree: Tree
    limits: np.ndarray
    latencies: np.ndarray
    alpha: int
    boxes: list[Box] = field(init=False)

    def __post_init__(self) -> None:
        self.boxes = [tuple(row) for row in self.field.boxes.tolist()]

    def box_of(self, client: int) -> Box:
        return self.boxes[self.field.rectangles[client]]

    def candidates_of(self, client: int) -> list[int]:
        group = self.field.groups[client]
        return self.field.candidates[self.field.offsets[group] : self.field.offsets[group + 1]].tolist()

    def path(self, leaf: int) -> Iterator[int]:
        while leaf >= 0:
            yield leaf
            leaf = int(self.field.parents[leaf])


def random_instance(seed: int, *, dims: int | None = None, alpha: int | None = None) -> Instance:
    """Few clients, groups and brokers; equal rectangles, ties, weights, densities, trees of one to three levels."""
    rng = np.random.default_rng(seed)
    dims = dims or int(rng.integers(1, 4))
    num_clients, num_rectangles, num_groups = int(rng.integers(0, 14)), int(rng.integers(1, 7)), int(rng.integers(1, 4))
    lows = rng.integers(0, STEPS - 1, (num_rectangles, dims))
    highs = np.minimum(STEPS, lows + rng.integers(1, 4, (num_rectangles, dims)))
    corners = np.unique(np.hstack([lows, highs]), axis=0)
    parents = _random_tree(rng)
    num_brokers = len(parents)
    leaves = np.array([broker for broker in range(num_brokers) if broker not in parents], dtype=np.int32)
    shares = np.zeros(num_brokers, dtype=np.int64)
    shares[leaves] = rng.integers(1, 4, len(leaves))
    rows = [np.sort(rng.choice(leaves, rng.integers(1, len(leaves) + 1), replace=False)) for _ in range(num_groups)]
    weights = rng.integers(1, 4, num_clients) if rng.random() < 0.3 else np.ones(num_clients, dtype=np.int64)
    levels = np.array([sum(1 for _ in _upwards(parents, broker)) for broker in range(num_brokers)], dtype=np.int32)
    arrays = SimpleNamespace(
        rectangle=rng.integers(0, len(corners), num_clients).astype(np.int32),
        group=rng.integers(0, num_groups, num_clients).astype(np.int32),
        weights=weights,
        lows=corners[:, :dims],
        highs=corners[:, dims:],
        candidate_offsets=np.cumsum([0, *map(len, rows)]),
        candidates=np.concatenate(rows).astype(np.int32),
        parents=np.array(parents, dtype=np.int32),
        leaves=leaves,
        shares=shares,
        levels=levels,
        measure=random_measure(rng, dims),
        num_brokers=num_brokers,
    )
    limits = _limits(weights, shares, Fraction(int(rng.integers(10, 15)), 10), Fraction(int(rng.integers(15, 40)), 10))
    latencies = rng.integers(1, 4, len(arrays.candidates))
    alpha = alpha or int(rng.integers(1, 6))
    return Instance(field_of(arrays), tree_of(arrays), limits, latencies, alpha)


def random_measure(rng: np.random.Generator, dims: int) -> Measure:
    """A volume, or messages in cells of 2 or 3 steps, many of them without any."""
    width = int(rng.choice([1, 2, 3]))
    cells, widths = np.full(dims, STEPS // width, dtype=np.int64), np.full(dims, width, dtype=np.int64)
    if width == 1:
        return Measure(cells, widths, np.empty(0, dtype=np.int64))
    prefix = np.zeros(cells + 1, dtype=np.int64)
    prefix[(slice(1, None),) * dims] = rng.integers(0, 3, cells)
    for axis in range(dims):
        np.cumsum(prefix, axis=axis, out=prefix)
    return Measure(cells, widths, prefix.reshape(-1))


def _random_tree(rng: np.random.Generator) -> list[int]:
    parents = [-1] * int(rng.integers(1, 4))
    for _ in range(int(rng.choice([0, 0, 2, 4]))):
        parents.append(int(rng.integers(0, len(parents))))
    return parents


def _upwards(parents: list[int], broker: int) -> Iterator[int]:
    while broker >= 0:
        yield broker
        broker = parents[broker]


def _limits(weights: np.ndarray, shares: np.ndarray, factor: Fraction, most: Fraction, steps: int = 3) -> np.ndarray:
    """Limits by step of the load factor."""
    total, whole = int(weights.sum()), int(shares.sum())
    factors = [factor + (most - factor) * step / steps for step in range(steps + 1)]
    return np.array([[each * int(share) * total // whole for share in shares] for each in factors], dtype=np.int64)


class Greedy:
    """Gr and Gr* by their definitions, on plain lists."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.loads = [0] * instance.field.num_brokers
        self.filters: list[list[Box]] = [[] for _ in self.loads]
        self.brokers = [-1] * instance.field.num_clients
        self.step = 0

    def has_room(self, leaf: int, weight: int = 1) -> bool:
        return bool(self.loads[leaf] + weight <= self.instance.limits[self.step][leaf])

    def paths(self, leaf: int, box: Box) -> dict[int, list[Box]]:
        """The filters from a leaf up once the leaf covers a box: each covers what is new below."""
        measure, pending, result = self.instance.field.measure, [box], {}
        for broker in self.instance.path(leaf):
            boxes, new = self.filters[broker], []
            for each in pending:
                boxes, changed = enlarged(measure, boxes, each, self.instance.alpha)
                new = [*new, *changed]
            pending = [each for each in boxes if each in new]
            result[broker] = boxes
        return result

    def cost(self, leaf: int, box: Box) -> int:
        if covers(self.filters[leaf], box):
            return -1
        measure = self.instance.field.measure
        grown = self.paths(leaf, box).items()
        return sum(measured(measure, boxes) - measured(measure, self.filters[broker]) for broker, boxes in grown)

    def choice(self, client: int) -> int:
        """The cheapest leaf with room, then the least loaded, then the smallest."""
        box, weight = self.instance.box_of(client), int(self.instance.field.weights[client])
        leaves = [leaf for leaf in self.instance.candidates_of(client) if self.has_room(leaf, weight)]
        shares = self.instance.field.shares
        ranks = [(self.cost(leaf, box), Fraction(self.loads[leaf], int(shares[leaf])), leaf) for leaf in leaves]
        return min(ranks)[2] if ranks else -1

    def risen_choice(self, client: int) -> int:
        """The choice, with limits that rise where nobody has room."""
        leaf = self.choice(client)
        while leaf < 0 and self.step + 1 < len(self.instance.limits):
            self.step += 1
            leaf = self.choice(client)
        return leaf

    def attach(self, client: int, leaf: int) -> None:
        for broker, boxes in self.paths(leaf, self.instance.box_of(client)).items():
            self.filters[broker] = boxes
        self.loads[leaf] += int(self.instance.field.weights[client])
        self.brokers[client] = leaf

    def in_order(self) -> None:
        """Gr; who finds no room goes to the candidate with the least load for its share."""
        shares = self.instance.field.shares
        for client in range(len(self.brokers)):
            leaf = self.risen_choice(client)
            if leaf < 0:
                leaf = min(
                    self.instance.candidates_of(client),
                    key=lambda leaf: (Fraction(self.loads[leaf], int(shares[leaf])), leaf),
                )
            self.attach(client, leaf)

    def fewest_first(self) -> None:
        """Gr*: the order is made anew before every client."""
        waiting = list(range(len(self.brokers)))
        while waiting:
            client = min(waiting, key=self._rank)
            waiting.remove(client)
            leaf = self.risen_choice(client)
            if leaf >= 0:
                self.attach(client, leaf)

    def _rank(self, client: int) -> tuple[int, int, int]:
        num_open = sum(self.has_room(leaf) for leaf in self.instance.candidates_of(client))
        return num_open, int(self.instance.field.groups[client]), client
