"""The kernels of assign against twins that count unit cells of the grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import assign_naive as naive

from pubplan.problems.assign.field import by_value, start_state, transposed
from pubplan.problems.assign.kernels.field import State
from pubplan.problems.assign.kernels.filters import (
    Filters,
    Work,
    covers,
    drop_contained,
    enlarge,
    least_enlargement,
    path_cost,
)
from pubplan.problems.assign.kernels.flows import follow_flows
from pubplan.problems.assign.kernels.greedy import assign_fewest_first
from pubplan.problems.assign.kernels.measures import MAX_BOXES, box_measure, union_of
from pubplan.problems.assign.kernels.nearest import assign_nearest
from pubplan.problems.assign.kernels.order import assign_in_order
from pubplan.problems.assign.kernels.packing import MAX_MERGED, absorb_rest, maximal_boxes, pack
from pubplan.problems.assign.kernels.randomness import draw_below

pytestmark = pytest.mark.kernel

SEEDS = st.integers(0, 2**32 - 1)
BATCH = 15
"""Instances per example: most of them are tiny, and few have everything at once."""


def random_boxes(rng: np.random.Generator, number: int, dims: int) -> list[naive.Box]:
    lows = rng.integers(0, naive.STEPS - 1, (number, dims))
    highs = np.minimum(naive.STEPS, lows + rng.integers(1, 5, (number, dims)))
    return [tuple(row) for row in np.hstack([lows, highs]).tolist()]


def rows_of(boxes: list[naive.Box], alpha: int, dims: int) -> np.ndarray:
    """Boxes as the first of ``alpha`` rows."""
    rows = np.zeros((alpha, 2 * dims), dtype=np.int64)
    rows[: len(boxes)] = np.array(boxes, dtype=np.int64).reshape(-1, 2 * dims)
    return rows


def filters_of(state: State) -> list[list[naive.Box]]:
    boxes, sizes = state.filters.boxes.tolist(), state.filters.sizes.tolist()
    return [[tuple(box) for box in rows[:size]] for rows, size in zip(boxes, sizes, strict=True)]


@given(SEEDS)
def test_measures_count_cells(seed: int) -> None:
    """The measure of a box and of a union is the sum over its unit cells, with and without a density."""
    rng = np.random.default_rng(seed)
    for _ in range(BATCH):
        dims, number = int(rng.integers(1, 4)), int(rng.integers(0, MAX_BOXES + 1))
        measure, boxes, work = naive.random_measure(rng, dims), random_boxes(rng, number, dims), Work.empty(dims)
        rows = rows_of(boxes, MAX_BOXES, dims)
        assert union_of(measure, rows, number, work.subsets, False) == naive.measured(measure, boxes)
        assert union_of(measure, rows, number, work.subsets, True) == len(naive.region(boxes))
        for box in boxes:
            assert box_measure(measure, np.array(box)) == naive.measured(measure, [box])


@given(SEEDS)
def test_enlargements_are_the_cheapest(seed: int) -> None:
    """Covering, what an enlargement costs, and the boxes it leaves are those of trying all ways."""
    rng = np.random.default_rng(seed)
    for _ in range(BATCH):
        dims, alpha = int(rng.integers(1, 4)), int(rng.integers(1, MAX_BOXES + 1))
        measure, work = naive.random_measure(rng, dims), Work.empty(dims)
        boxes = naive.without_contained(random_boxes(rng, int(rng.integers(0, alpha + 1)), dims))
        (box,) = random_boxes(rng, 1, dims)
        rows, changed = rows_of(boxes, alpha, dims), np.zeros(alpha + 1, dtype=np.int64)
        is_covered = naive.covers(boxes, box)
        assert covers(measure, rows, len(boxes), np.array(box), work) == is_covered
        before = naive.measured(measure, boxes)
        if not is_covered:
            growth, _, _ = least_enlargement(measure, rows, len(boxes), before, np.array(box), work)
            assert growth == min(naive.measured(measure, way) for way, _ in naive.ways(boxes, box, alpha)) - before
        size, measured = enlarge(measure, rows, changed, len(boxes), before, np.array(box), work)
        expected, new = naive.enlarged(measure, boxes, box, alpha)
        assert [tuple(row) for row in rows[:size].tolist()] == expected
        assert measured == naive.measured(measure, expected)
        assert {tuple(rows[slot].tolist()) for slot in np.flatnonzero(changed[:size])} == set(new)


def test_equal_boxes_are_dropped_but_one() -> None:
    """Of three equal boxes the first stays, with its mark."""
    rows = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [1, 1, 2, 2], [0, 0, 2, 2]])
    changed = np.array([0, 1, 1, 1])
    assert drop_contained(rows, changed, 4) == 1
    assert (rows[0].tolist(), changed[0]) == ([0, 0, 2, 2], 0)


@given(SEEDS)
def test_gr_star_makes_the_choices_of_its_definition(seed: int) -> None:
    """Clients, loads, filters and the step of the limits are those of sorting all clients anew before each."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field, state = instance.field, start_state(instance.field, instance.alpha)
        members = by_value(field.groups, len(field.offsets) - 1)
        groups = transposed(field.candidates, field.offsets, field.num_brokers)
        step = assign_fewest_first(field, state, instance.limits, *members, *groups)
        twin = naive.Greedy(instance)
        twin.fewest_first()
        assert state.brokers.tolist() == twin.brokers, seed + index
        assert (step, state.loads.tolist(), filters_of(state)) == (twin.step, twin.loads, twin.filters), seed + index
        expected = [naive.measured(field.measure, boxes) for boxes in twin.filters]
        assert state.filters.measures.tolist() == expected


@given(SEEDS)
def test_gr_makes_the_choices_of_its_definition(seed: int) -> None:
    """Without evictions: clients in their order, overloading the least loaded candidate where there is no room."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field, state = instance.field, start_state(instance.field, instance.alpha)
        step, num_evicted = assign_in_order(field, state, instance.limits, np.ones(1, dtype=np.int64), 0, False)
        twin = naive.Greedy(instance)
        twin.in_order()
        assert (state.brokers.tolist(), step, num_evicted) == (twin.brokers, twin.step, 0), seed + index
        assert filters_of(state) == twin.filters


@given(SEEDS)
def test_known_costs_change_nothing(seed: int) -> None:
    """Gr* chooses the same whether or not costs of rectangles are kept."""
    instance = naive.random_instance(seed)
    field = instance.field
    members = by_value(field.groups, len(field.offsets) - 1)
    groups = transposed(field.candidates, field.offsets, field.num_brokers)
    brokers = []
    for is_kept in (True, False):
        state = start_state(field, instance.alpha)
        if not is_kept:
            state.costs.rows[:] = -1
        assign_fewest_first(field, state, instance.limits, *members, *groups)
        brokers.append(state.brokers.tolist())
    assert brokers[0] == brokers[1]


@given(SEEDS)
def test_path_costs_are_what_paths_grow_by(seed: int) -> None:
    """The cost of a rectangle at a leaf is the growth of all filters up to the publisher, which stay as they are."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        twin = naive.Greedy(instance)
        twin.in_order()
        field, dims = instance.field, instance.field.num_dimensions
        rows = np.array([rows_of(boxes, instance.alpha, dims) for boxes in twin.filters])
        sizes = np.array([len(boxes) for boxes in twin.filters])
        measures = np.array([naive.measured(field.measure, boxes) for boxes in twin.filters])
        filters, before = Filters(rows, sizes, measures), rows.copy()
        for leaf in field.candidates.tolist():
            for box in instance.boxes:
                if not naive.covers(twin.filters[leaf], box):
                    cost = path_cost(field.measure, field.parents, filters, leaf, np.array(box), Work.empty(dims))
                    assert cost == twin.cost(leaf, box), (seed + index, leaf, box)
        assert (filters.boxes == before).all()


@given(SEEDS, st.booleans())
def test_evictions_leave_everybody_assigned(seed: int, is_now: bool) -> None:
    """Whoever is removed is assigned again: all clients are at candidates, loads are theirs, filters cover them."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field, state = instance.field, start_state(instance.field, instance.alpha)
        generator = np.array([1 + seed % 1000], dtype=np.int64)
        _, num_evicted = assign_in_order(field, state, instance.limits, generator, 20, is_now)
        assert 0 <= num_evicted <= 20
        filters = filters_of(state)
        for client, leaf in enumerate(state.brokers.tolist()):
            assert leaf in instance.candidates_of(client)
            assert naive.covers(filters[leaf], instance.box_of(client))
        assert state.loads.tolist() == np.bincount(state.brokers, field.weights, field.num_brokers).tolist()


def test_evictions_make_room() -> None:
    """Two leaves with room for one client each: one who can only use the first comes last, and gets there.

    Without eviction the first leaf serves two clients, since the first client takes it by the smaller number.
    """
    instance = two_clients_two_leaves()
    for max_evictions, loads in ((0, [2, 0]), (10, [1, 1])):
        state = start_state(instance.field, 1)
        _, num_evicted = assign_in_order(
            instance.field, state, instance.limits, np.array([7], dtype=np.int64), max_evictions, True
        )
        # The evicted one may choose the first leaf only if there is room: it has none, so it goes to the second.
        assert (state.loads.tolist(), num_evicted) == (loads, min(1, max_evictions))


def two_clients_two_leaves() -> naive.Instance:
    """Client 0 may use leaves 0 and 1, client 1 only leaf 0; each has room for one."""
    instance = naive.random_instance(0, dims=1, alpha=1)
    field = instance.field._replace(
        rectangles=np.zeros(2, dtype=np.int32),
        groups=np.array([0, 1], dtype=np.int32),
        weights=np.ones(2, dtype=np.int64),
        boxes=np.array([[0, 2]]),
        offsets=np.array([0, 2, 3]),
        candidates=np.array([0, 1, 0], dtype=np.int32),
        parents=np.array([-1, -1]),
        shares=np.array([1, 1]),
        leaf_offsets=np.array([0, 1, 2]),
        leaves_below=np.array([0, 1], dtype=np.int32),
    )
    return naive.Instance(field, instance.tree, np.array([[1, 1]]), np.array([1, 1, 1]), 1)


@given(SEEDS)
def test_the_nearest_candidates(seed: int) -> None:
    """Each client is at the nearest candidate with room at its turn, else at the nearest."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field, state = instance.field, start_state(instance.field, instance.alpha)
        num_without_room = assign_nearest(field, instance.latencies, instance.limits[0], state)
        loads, expected, without_room = [0] * field.num_brokers, [], 0
        for client in range(field.num_clients):
            first, weight = field.offsets[field.groups[client]], int(field.weights[client])
            ranked = sorted(
                (instance.latencies[first + at], leaf) for at, leaf in enumerate(instance.candidates_of(client))
            )
            open_ones = [leaf for _, leaf in ranked if loads[leaf] + weight <= instance.limits[0][leaf]]
            without_room += not open_ones
            expected.append(open_ones[0] if open_ones else ranked[0][1])
            loads[expected[-1]] += weight
        assert (state.brokers.tolist(), num_without_room) == (expected, without_room)


def test_flows_are_followed() -> None:
    """Flows of 1 and 1 from the first group, 0 from the second: its client has nowhere to go."""
    instance = two_clients_two_leaves()
    state = start_state(instance.field, 1)
    follow_flows(instance.field, np.array([0, 1, 0]), np.array([1, 0], dtype=np.int32), state)
    assert (state.brokers.tolist(), state.loads.tolist()) == ([1, -1], [0, 1])


@given(SEEDS)
def test_packed_filters_cover(seed: int) -> None:
    """A packed filter covers what it must with at most alpha boxes, and is never larger than one that did so before."""
    rng = np.random.default_rng(seed)
    for _ in range(BATCH):
        dims, alpha = int(rng.integers(1, 4)), int(rng.integers(1, MAX_BOXES + 1))
        measure, work = naive.random_measure(rng, dims), Work.empty(dims)
        covered = random_boxes(rng, int(rng.integers(0, 9)), dims)
        boxes = random_boxes(rng, int(rng.integers(0, alpha + 1)), dims)
        if rng.random() < 0.5:  # a filter that covers everything
            for box in covered:
                boxes, _ = naive.enlarged(measure, boxes, box, alpha)
        rows = rows_of(boxes, alpha, dims)
        size, measured = pack(measure, rows, len(boxes), np.array(covered, dtype=np.int64).reshape(-1, 2 * dims), work)
        packed = [tuple(row) for row in rows[:size].tolist()]
        assert all(naive.covers(packed, box) for box in covered)
        assert measured == naive.measured(measure, packed)
        if all(naive.covers(boxes, box) for box in covered):
            assert measured <= naive.measured(measure, boxes)
        if not covered:
            assert (size, measured) == (0, 0)


def test_merging_finds_clusters() -> None:
    """Three pairs of neighbours become three boxes: 2 x 1 each, 6 in all."""
    covered = np.array([[x, y, x + 1, y + 1] for x, y in ((0, 0), (50, 0), (51, 0), (0, 70), (1, 0), (1, 70))])
    rows = np.zeros((3, 4), dtype=np.int64)
    measure = naive.random_instance(0, dims=2).field.measure._replace(prefix=np.empty(0, dtype=np.int64))
    assert pack(measure, rows, 0, covered, Work.empty(2)) == (3, 6)


@given(SEEDS)
def test_maximal_boxes(seed: int) -> None:
    """Those that no other one contains, largest first; and few that contain them all."""
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, int(rng.integers(1, 30)), 2)
    kept = [tuple(row) for row in maximal_boxes(np.array(boxes)).tolist()]
    assert sorted(kept) == sorted(naive.without_contained(boxes))
    assert kept == sorted(kept, key=lambda box: -len(naive.cells_of(box)))
    rows = np.array(kept)
    size = absorb_rest(rows, min(3, len(rows)))
    assert all(any(naive.contains(tuple(row), box) for row in rows[:size].tolist()) for box in boxes)


def test_many_boxes_are_packed() -> None:
    """More boxes than are merged pair by pair, on a diagonal: covered all the same."""
    number = 2 * MAX_MERGED
    covered = np.array([[at, at, at + 1, at + 1] for at in range(number)])
    rows = np.zeros((2, 4), dtype=np.int64)
    measure = naive.random_instance(0, dims=2).field.measure._replace(prefix=np.empty(0, dtype=np.int64))
    size, measured = pack(measure, rows, 0, covered, Work.empty(2))
    packed = [tuple(row) for row in rows[:size].tolist()]
    assert all(any(naive.contains(box, tuple(each)) for box in packed) for each in covered.tolist())
    assert number**2 / 2 <= measured <= number**2  # two halves of the diagonal at best


def test_random_numbers_are_spread() -> None:
    """Of 4000 numbers below 4, each comes between 900 and 1100 times; the state never becomes 0."""
    generator = np.array([1], dtype=np.int64)
    for _ in range(10):
        draw_below(generator, 2)  # from a small seed the first numbers are small
    counts = np.bincount([draw_below(generator, 4) for _ in range(4000)], minlength=4)
    assert len(counts) == 4
    assert counts.min() > 900
    assert counts.max() < 1100
    assert 0 < generator[0] < 2**32
