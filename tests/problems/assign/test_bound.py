"""The bounds: never above the best of all plans, and what they are on instances that can be solved by hand."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.assign import Broker, Case, Client, best_bandwidth, cases, mask, measure
from oracles.assign_plans import draft_for

from pubplan.errors import Reason
from pubplan.planning import Draft, Exact
from pubplan.problems.assign import forced as forced_module
from pubplan.problems.assign import grids
from pubplan.problems.assign.bound import capacity_bound, forced_bound, union_bound
from pubplan.problems.assign.forced import least_measure
from pubplan.problems.assign.grids import integrals_of_counts, strides_for
from pubplan.problems.assign.kernels.measures import volume_only
from pubplan.problems.assign.kernels.witnesses import farthest_rectangles
from pubplan.problems.assign.plan import LATENCY_BROKEN, LOAD_BROKEN
from pubplan.problems.assign.verifier import covers
from pubplan.problems.assign.verifier.boxes import is_inside, measure_of_union
from pubplan.problems.assign.verifier.depths import integral, lines_of

EMPTY = Draft({}, Exact(0))

ONE = (Broker(),)
"""A single broker, which must serve everybody."""


def alone(steps: tuple[int, ...], *boxes: tuple[tuple[int, ...], tuple[int, ...]], **asked: Any) -> Case:
    """One broker, and clients that want these boxes."""
    return Case(steps, ONE, ((1,),), tuple(Client(0, low, high) for low, high in boxes), **asked)


def bounds_of(case: Case, draft: Draft = EMPTY) -> dict[str, int]:
    """All bounds of a case, unscaled."""
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory))
        certificates = [
            each for bound in (union_bound, capacity_bound, forced_bound) for each in bound(problem, draft, None)
        ]
    assert all(certificate.bound.scale == case.scale for certificate in certificates)
    return {certificate.name: certificate.bound.value for certificate in certificates}


@pytest.mark.kernel
@given(cases())
def test_no_bound_is_above_the_best_plan(case: Case) -> None:
    """One to three boxes, one to three levels and attributes, volumes and densities, by trying every plan."""
    best = best_bandwidth(case)
    if best is None:
        return
    bounds = bounds_of(case)
    assert set(bounds) == {"union", "capacity", "forced"}
    assert max(bounds.values()) <= best
    assert bounds["union"] <= min(bounds["capacity"], bounds["forced"])


def test_what_a_single_broker_must_let_through() -> None:
    """Squares in three corners of 5 x 5 steps. One box contains everything: 25. Two boxes: one contains two corners of
    a side, 5 steps, the other the third: 6. Three boxes: 3, which is what the squares cover.
    """
    corners = [((0, 0), (1, 1)), ((4, 0), (5, 1)), ((0, 4), (1, 5))]
    for boxes, least in ((1, 25), (2, 6), (3, 3)):
        case = alone((5, 5), *corners, boxes=boxes)
        assert bounds_of(case) == {"union": 3, "capacity": 3, "forced": least}


def test_a_rectangle_may_lie_in_two_boxes_together() -> None:
    """x 0-2, y 2-3 lies in the two columns x 0-1, y 2-5 and x 1-2, y 0-3. Their 6 steps are a filter of two boxes.

    If every rectangle had to lie in one box, the least would be 8 steps: x 0-2, y 2-5 with x 1-2, y 0-2.
    """
    case = alone((2, 6), ((0, 2), (2, 3)), ((0, 2), (1, 5)), ((1, 0), (2, 3)), boxes=2)
    assert best_bandwidth(case) == 6
    assert bounds_of(case) == {"union": 6, "capacity": 6, "forced": 6}


def test_events_that_many_want_pass_several_brokers() -> None:
    """Four clients of weight 3 want the first of 4 steps. Three leaves of the same share may serve 4 of these 12 each,
    so all of them let it through. One client wants the second step besides: a single leaf can serve 3.
    """
    brokers = (Broker(), Broker(), Broker())
    wanted = [((0,), (1,))] * 3 + [((0,), (2,))]
    clients = tuple(Client(0, low, high, weight=3) for low, high in wanted)
    case = Case((4,), brokers, ((1, 1, 1),), clients, boxes=1, max_load="1")
    assert bounds_of(case) == {"union": 2, "capacity": 3 + 1, "forced": 2}


def test_levels_add_up() -> None:
    """The publisher feeds two brokers, each of which feeds a leaf. Two clients at either site reach one leaf only: each
    inner broker and each leaf lets 3 of 6 steps through, in one box. All subscriptions are the 4 outer steps, twice.
    """
    brokers = (Broker(share=0), Broker(share=0), Broker(0), Broker(1))
    clients = tuple(Client(site, (low,), (low + 1,)) for site, low in ((0, 0), (0, 2), (1, 3), (1, 5)))
    case = Case((6,), brokers, ((0, 0, 1, 9), (0, 0, 9, 1)), clients, max_delay="0")
    assert bounds_of(case) == {"union": 8, "capacity": 8, "forced": 12}
    assert best_bandwidth(case) == 12


def test_only_levels_that_all_paths_cross_count_the_union() -> None:
    """A leaf that the publisher feeds, and one below an inner broker: whoever uses the first leaves the second level
    empty. Two clients force 1 step through the second leaf, its parent and the first leaf each.
    """
    brokers = (Broker(), Broker(share=0), Broker(1))
    clients = (Client(0, (0,), (1,), allowed=(0,)), Client(0, (1,), (2,), allowed=(2,)))
    case = Case((2,), brokers, ((1, 1, 1),), clients, max_load="2")
    assert bounds_of(case) == {"union": 2, "capacity": 2, "forced": 3}


def test_clients_of_few_leaves_are_tried_at_each() -> None:
    """Two leaves of one box each, and clients that may use both want the first, the middle and the last of 9 steps.

    Two of them share a leaf in every case: the first and the middle, 5 steps, or the middle and the last, also 5.
    """
    clients = tuple(Client(0, (low,), (low + 1,)) for low in (0, 4, 8))
    case = Case((9,), (Broker(), Broker()), ((1, 1),), clients, max_load="2")
    assert bounds_of(case) == {"union": 3, "capacity": 3, "forced": 1 + 5}
    assert best_bandwidth(case) == 6


@pytest.mark.parametrize(
    ("limit", "left"), [(LOAD_BROKEN, {"union", "forced"}), (LATENCY_BROKEN, {"union", "capacity"})]
)
def test_plans_that_break_a_limit_have_no_bound_that_needs_it(limit: str, left: set[str]) -> None:
    """They may be below it."""
    draft = Draft({}, Exact(0), reasons=(Reason(limit, 0, 1),))
    assert set(bounds_of(alone((2,), ((0,), (1,))), draft)) == left


def rectangles(max_number: int = 6) -> st.SearchStrategy[tuple[list, list]]:
    """Low and high corners in 5 x 4 steps."""
    side = [st.sampled_from([(low, high) for high in range(size + 1) for low in range(high)]) for size in (5, 4)]
    return st.lists(st.tuples(*side), min_size=1, max_size=max_number).map(
        lambda boxes: ([[x[0], y[0]] for x, y in boxes], [[x[1], y[1]] for x, y in boxes])
    )


@pytest.mark.kernel
@given(rectangles(), st.lists(st.integers(0, 3), min_size=6, max_size=6), st.integers(1, 2), st.integers(1, 2))
def test_weights_of_events_are_counted_on_a_grid(
    corners: tuple[list, list], weights: list[int], x_stride: int, y_stride: int
) -> None:
    """Step by step: how many of the thresholds 0, 2 and 4 are below the weight of what contains it. The verifier
    counts the same; with fewer lines than edges both count less.
    """
    lows, highs = (np.array(side) for side in corners)
    client_weights, strides = np.array(weights[: len(lows)]), [x_stride, y_stride]
    thresholds = np.array([0, 2, 4])
    lines = lines_of(lows, highs, strides)
    assert lines is not None
    (counted,) = integrals_of_counts(lows, highs, client_weights, volume_only(2), strides, [thresholds])
    assert counted == integral(lows, highs, client_weights, np.ones((1, 1), int), (5, 4), lines, thresholds)
    expected = 0
    for step in np.ndindex(5, 4):
        weight = sum(client_weights[((lows <= step) & (step < highs)).all(axis=1)])
        expected += int((thresholds < weight).sum())
    assert counted == expected if strides == [1, 1] else counted <= expected


def test_grids_that_are_too_fine_lose_lines() -> None:
    """1,000 edges times 10 are 10,000 cells: with at most 2,000 every eighth line of the first is left."""
    edges = [np.arange(1000), np.arange(10)]
    assert strides_for(edges) == [1, 1]
    assert strides_for(edges, 2000) == [8, 1]


def test_coarse_grids_give_smaller_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four clients want 2 of 12 steps each, from 0, 3, 6 and 9 on, and one wants 0 to 11. With every second of these 8
    edges there are lines at 0, 3, 6 and 9: nothing is left of the four, and 0 to 9 of the fifth.
    """
    case = alone((12,), *[((low,), (low + 2,)) for low in (0, 3, 6, 9)], ((0,), (11,)), boxes=3)
    assert bounds_of(case)["union"] == 11
    monkeypatch.setattr(grids.strides_for, "__defaults__", (4,))
    assert bounds_of(case)["union"] == 9


def test_witnesses_are_far_apart() -> None:
    """The largest square first, then the farthest one; what is inside another is never chosen."""
    lows = np.array([[0, 0], [1, 1], [90, 90], [40, 40]])
    highs = lows + np.array([[9, 9], [2, 2], [5, 5], [5, 5]])
    assert farthest_rectangles(lows, highs, 4).tolist() == [0, 2, 3]
    assert farthest_rectangles(lows, highs, 2).tolist() == [0, 2]


@pytest.mark.kernel
@given(rectangles(5), st.integers(1, 3))
def test_filters_of_witnesses_are_as_small_as_said(corners: tuple[list, list], num_boxes: int) -> None:
    """No less than any filter, by trying all of them; and the verifier proves just as much."""
    lows, highs = (np.array(side) for side in corners)
    least = least_measure(lows, highs, volume_only(2), num_boxes, 1 << 17)
    case = alone((5, 4), *zip(map(tuple, lows.tolist()), map(tuple, highs.tolist()), strict=True), boxes=num_boxes)
    best = best_bandwidth(case)
    assert best is not None
    assert least <= best
    for most in (least - 1, least, 10**6):
        asked = (lows, highs, np.ones((1, 1), int), (5, 4), num_boxes, most)
        assert covers.least_measure(*asked) == min(least, most)


def test_searches_that_take_too_long_use_fewer_witnesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen squares of 100 x 100 take more than 50 search nodes; fewer give a smaller bound, and one is enough."""
    spots = [(i * 37 % 100, i * 61 % 100) for i in range(16)]
    case = alone((100, 100), *[((x, y), (x + 1, y + 1)) for x, y in spots], boxes=3)
    full = bounds_of(case)["forced"]
    monkeypatch.setattr(forced_module, "MAX_SEARCH_TERMS", 50 << 3)
    assert 16 <= bounds_of(case)["forced"] < full
    monkeypatch.setattr(forced_module, "MAX_SEARCH_TERMS", 8)
    assert bounds_of(case)["forced"] == 16


@given(rectangles(5), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_unions_are_measured_attribute_by_attribute(corners: tuple[list, list], messages: list[int]) -> None:
    """With a density of one column of cells per attribute's half; and a rectangle is inside if no step is missing."""
    boxes = list(zip(map(tuple, corners[0]), map(tuple, corners[1]), strict=True))
    case = alone((4, 4), cells=(2, 2), messages=tuple(messages))
    boxes = [(low, (min(high[0], 4), high[1])) for low, high in boxes if low[0] < 4]
    assert measure_of_union(boxes, np.array(messages).reshape(2, 2), (2, 2)) == measure(case, boxes)
    for low, high in boxes:
        others = [box for box in boxes if box != (low, high)][:5]
        box_lows, box_highs = (np.array([[box[side] for box in others]]).reshape(1, -1, 2) for side in (0, 1))
        expected = mask(case, [(low, high)]) & ~mask(case, others) == 0
        assert is_inside(np.array([low]), np.array([high]), box_lows, box_highs).tolist() == [expected]


def test_drafts_by_hand_have_the_worth_of_their_filters() -> None:
    """Two boxes of 1 and 2 steps."""
    case = alone((4,), ((0,), (1,)), boxes=2)
    assert draft_for(case, [0], [[((0,), (1,)), ((2,), (4,))]]).claimed == Exact(3)
