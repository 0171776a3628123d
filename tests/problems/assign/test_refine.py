"""Steps that change an assignment: whatever they do, it stays one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import assign_naive as naive

from pubplan.errors import InputError
from pubplan.problems.assign.greedy import fewest_first
from pubplan.problems.assign.ground import Ground, assignment_of
from pubplan.problems.assign.kernels.field import State
from pubplan.problems.assign.kernels.members import Members, link_all
from pubplan.problems.assign.kernels.refining import empty_leaves, push_sides
from pubplan.problems.assign.kernels.rooms import make_room
from pubplan.problems.assign.kernels.trail import begin, go_back
from pubplan.problems.assign.refine import refine, refinement_of
from pubplan.problems.assign.tighten import tighten

pytestmark = pytest.mark.kernel

SEEDS = st.integers(0, 2**32 - 1)
BATCH = 8


def ground_of(instance: naive.Instance) -> Ground:
    return Ground(instance.field, instance.tree, instance.limits, instance.alpha)


def assigned(instance: naive.Instance) -> tuple[State, int] | None:
    """The assignment of Gr*, or None if there is no room for all."""
    try:
        return fewest_first(ground_of(instance))[:2]
    except InputError:
        return None


def check(instance: naive.Instance, state: State) -> None:
    """Everybody is at a candidate that covers the rectangle, filters nest, loads and measures are right."""
    field = instance.field
    assignment = assignment_of(state)
    filters = [[tuple(box) for box in assignment.boxes_of(broker).tolist()] for broker in range(field.num_brokers)]
    for client, leaf in enumerate(state.brokers.tolist()):
        assert leaf in instance.candidates_of(client)
        assert naive.covers(filters[leaf], instance.box_of(client))
    assert state.loads.tolist() == np.bincount(state.brokers, field.weights, field.num_brokers).tolist()
    for broker, boxes in enumerate(filters):
        assert len(boxes) <= instance.alpha
        assert state.filters.measures[broker] == naive.measured(field.measure, boxes)
        if field.parents[broker] >= 0:
            assert naive.region(boxes) <= naive.region(filters[field.parents[broker]])


@given(SEEDS)
def test_tightened_filters_still_cover(seed: int) -> None:
    """Tightening keeps an assignment valid and never makes it larger; brokers with nobody below have no boxes."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        answer = assigned(instance)
        if answer is None:
            continue
        state, before = answer[0], int(answer[0].filters.measures.sum())
        check(instance, state)
        tighten(ground_of(instance), state)
        check(instance, state)
        assert state.filters.measures.sum() <= before
        is_used = {broker for leaf in state.brokers.tolist() for broker in instance.path(leaf)}
        assert set(np.flatnonzero(state.filters.sizes).tolist()) == is_used


@given(SEEDS)
def test_refining_is_never_worse(seed: int) -> None:
    """After any number of steps the assignment is valid, keeps its limits, and is no larger."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        answer = assigned(instance)
        if answer is None:
            continue
        state, step = answer
        tighten(ground_of(instance), state)
        before, loads = int(state.filters.measures.sum()), state.loads.copy()
        max_steps = seed % 60
        assert refine(ground_of(instance), state, instance.limits[step], seed, max_steps) <= max_steps
        check(instance, state)
        assert state.filters.measures.sum() <= before
        assert (state.loads <= np.maximum(instance.limits[step], loads)).all()


@given(SEEDS)
def test_gains_are_what_filters_shrink_by(seed: int) -> None:
    """Each kind of steps returns how much smaller filters are; chains and scratch are left in order."""
    instance = naive.random_instance(seed)
    answer = assigned(instance)
    if answer is None:
        return
    state, step = answer
    refinement = refinement_of(ground_of(instance), state, instance.limits[step], seed)
    before = int(state.filters.measures.sum())
    num_steps, gain = push_sides(refinement, 50)
    assert num_steps <= 50
    assert gain == before - int(state.filters.measures.sum())
    check(instance, state)
    gain += empty_leaves(refinement, 10 if len(refinement.leaves) else 0)
    assert gain == before - int(state.filters.measures.sum())
    assert (refinement.seen == -1).all()
    assert chained(refinement.members, instance.field.num_brokers) == [
        set(np.flatnonzero(state.brokers == broker).tolist()) for broker in range(instance.field.num_brokers)
    ]


def chained(members: Members, num_brokers: int) -> list[set[int]]:
    """The clients in the chain of every broker; each chain is the same both ways."""
    chains = []
    for broker in range(num_brokers):
        chain, client, before = [], int(members.heads[broker]), -1
        while client >= 0:
            assert members.previous[client] == before
            chain.append(client)
            client, before = int(members.following[client]), client
        assert len(chain) == len(set(chain))
        chains.append(set(chain))
    return chains


@given(SEEDS)
def test_the_seed_decides(seed: int) -> None:
    """The same seed gives the same assignment."""
    instance = naive.random_instance(seed)
    answers = []
    for _ in range(2):
        answer = assigned(instance)
        if answer is None:
            return
        state, step = answer
        refine(ground_of(instance), state, instance.limits[step], seed, 40)
        answers.append((state.brokers.tolist(), state.filters.boxes.tolist()))
    assert answers[0] == answers[1]


def test_refining_finds_what_gr_star_missed() -> None:
    """Four clients, two leaves of two: Gr* mixes near and far, refined separates them.

    Intervals of length 1 at 0, 1, 10 and 11, one box per leaf. Ties go to the least loaded leaf, so 0 and 1 go to
    different ones; then 10 costs 9 beside 1, and 11 must go beside 0: [1, 11) and [0, 12), 22 in all. [0, 2) and
    [10, 12) are 4.
    """
    instance = line_of_squares([0, 1, 10, 11])
    state, step, _ = fewest_first(ground_of(instance))
    tighten(ground_of(instance), state)
    assert int(state.filters.measures.sum()) == 22
    refine(ground_of(instance), state, instance.limits[step], 0, 200)
    assert int(state.filters.measures.sum()) == 4
    check(instance, state)


def line_of_squares(corners: list[int]) -> naive.Instance:
    """Clients with intervals of length 1, two leaves of equal shares, everybody may use both; loads are even."""
    instance = naive.random_instance(0, dims=1, alpha=1)
    number = len(corners)
    field = instance.field._replace(
        rectangles=np.arange(number, dtype=np.int32),
        groups=np.zeros(number, dtype=np.int32),
        weights=np.ones(number, dtype=np.int64),
        boxes=np.array([[corner, corner + 1] for corner in corners]),
        offsets=np.array([0, 2]),
        candidates=np.array([0, 1], dtype=np.int32),
        parents=np.array([-1, -1]),
        shares=np.array([1, 1]),
        leaf_offsets=np.array([0, 1, 2]),
        leaves_below=np.array([0, 1], dtype=np.int32),
        measure=instance.field.measure._replace(prefix=np.empty(0, dtype=np.int64)),
    )
    tree = instance.tree._replace(
        inner=np.empty(0, dtype=np.int64), child_offsets=np.zeros(3, dtype=np.int64), children=np.empty(0, np.int32)
    )
    return naive.Instance(field, tree, np.full((1, 2), number // 2), np.ones(2, dtype=np.int64), 1)


def test_going_back_restores_everything() -> None:
    """Moves are taken back: clients, loads and filters are as before, and kept costs do not outlive the filters."""
    instance = line_of_squares([0, 1, 10, 11])
    state, step, _ = fewest_first(ground_of(instance))
    refinement = refinement_of(ground_of(instance), state, instance.limits[step], 0)
    before = (state.brokers.tolist(), state.loads.tolist(), state.filters.boxes.tolist())
    begin(state, refinement.trail)
    state.filters.boxes[:] += 1
    state.costs.versions[0] += 1
    go_back(refinement.field, state, refinement.members, refinement.trail, refinement.trail.before, 0)
    assert (state.brokers.tolist(), state.loads.tolist(), state.filters.boxes.tolist()) == before
    assert state.costs.shrunk_at[0] == state.costs.versions[0]


@given(SEEDS)
def test_room_is_made_where_there_is_any(seed: int) -> None:
    """Of clients who weigh the same, as many are assigned as a largest matching with places at leaves assigns."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field = instance.field._replace(weights=np.ones(instance.field.num_clients, dtype=np.int64))
        instance = naive.Instance(field, instance.tree, instance.limits, instance.latencies, instance.alpha)
        state = ground_of(instance).start()
        limits = np.random.default_rng(seed).integers(0, 4, field.num_brokers)
        members = Members.empty(field.num_brokers, field.num_clients)
        clients = np.random.default_rng(seed).permutation(field.num_clients).astype(np.int32)
        num_without_room = make_room(field, state, limits, members, clients)
        assert num_without_room == (state.brokers < 0).sum() == field.num_clients - matched(instance, limits)
        assert (state.loads <= limits).all()
        assert state.loads.sum() == (state.brokers >= 0).sum()


def matched(instance: naive.Instance, limits: np.ndarray) -> int:
    """The size of a largest matching of clients and places at their candidates, by augmenting paths."""
    taken: dict[tuple[int, int], int] = {}

    def augment(client: int, tried: set[tuple[int, int]]) -> bool:
        for leaf in instance.candidates_of(client):
            for slot in range(limits[leaf]):
                if (leaf, slot) not in tried:
                    tried.add((leaf, slot))
                    if (leaf, slot) not in taken or augment(taken[leaf, slot], tried):
                        taken[leaf, slot] = client
                        return True
        return False

    return sum(augment(client, set()) for client in range(instance.field.num_clients))


@given(SEEDS)
def test_room_is_kept_with_weights(seed: int) -> None:
    """Clients of different weights never overload a leaf, and those without room stay unassigned."""
    for index in range(BATCH):
        instance = naive.random_instance(seed + index)
        field, state = instance.field, ground_of(instance).start()
        members = Members.empty(field.num_brokers, field.num_clients)
        link_all(state.brokers, members)  # nobody yet
        clients = np.arange(field.num_clients, dtype=np.int32)
        num_without_room = make_room(field, state, instance.limits[0], members, clients)
        is_assigned = state.brokers >= 0
        assert num_without_room == (~is_assigned).sum()
        assert (state.loads <= instance.limits[0]).all()
        expected = np.bincount(state.brokers[is_assigned], field.weights[is_assigned], field.num_brokers)
        assert state.loads.tolist() == expected.tolist()
