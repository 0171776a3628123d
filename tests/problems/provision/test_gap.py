"""Where a plan's distance to its bound comes from, on a workload that can be reckoned by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.problems.provision import Problem, solve
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.problems.provision.gap import GapBreakdown, gap_breakdown
from pubplan.problems.provision.plan import chosen_type

RATES = {"a": 20, "b": 10}
INTERESTS = {"x": ["a", "b"], "y": ["a", "b"], "z": ["b"]}
"""With messages of a byte, everything takes 70 bytes out and at least 30 in."""

TARIFF = Tariff(3600, (Tier(None, 10**9),), (Tier(None, 2 * 10**9),))
"""A micro-dollar for each byte in, two for each byte out."""
FREE = Tariff(3600, (Tier(None, 0),), (Tier(None, 0),))

SMALL, LARGE = VmType("mine/small", 100, 8 * 60, TARIFF), VmType("mine/large", 150, 8 * 100, TARIFF)
"""In a window of an hour with a peak factor of 3600 they carry 60 and 100 bytes, for 100 and 150 micro-dollars."""


@pytest.fixture
def ask(make_workload):
    workload = make_workload(RATES, INTERESTS, message_bytes=1)

    def problem(*vm_types: VmType, threshold: int = 30, **options: Any) -> Problem:
        return Problem(
            workload, vm_types or (SMALL, LARGE), threshold, window_seconds=3600, peak_factor=3600, **options
        )

    return problem


def test_the_gap_is_what_is_paid_above_the_bound(ask) -> None:
    """a takes 60 bytes, b 40: two small VMs at 100 each, 30 bytes in and 70 out cost 370, and nothing costs less.

    Pair by pair, a and b of x fill the first VM, those of y the second, and b of z needs a third: 70 bytes in.
    """
    assert gap_breakdown(solve(ask(SMALL)).plan) == GapBreakdown(370, 0, 0, 0)
    worse = solve(ask(SMALL), "rsp+ffbp").plan
    assert gap_breakdown(worse) == GapBreakdown(370, 100, 40, 0)
    assert worse.exact.value == 370 + 100 + 40


def test_what_another_type_saves_counts_as_vms(ask) -> None:
    """Parts are never negative and always add up to the plan's cost, also where the bound is of another type."""
    for method in ("rsp+ffbp", "gsp+cbp", "joint+level"):
        for threshold in (5, 10, 20, 30):
            plan = solve(ask(threshold=threshold), method).plan
            parts = gap_breakdown(plan)
            assert min(parts.vms, parts.incoming, parts.outgoing) >= 0
            assert parts.bound + parts.vms + parts.incoming + parts.outgoing == plan.exact.value


def test_sending_too_much_is_kept_apart(ask) -> None:
    """At threshold 10 b is enough for all: 30 bytes out, 10 in. rsp sends a to x and y instead: 50 out, 30 in."""
    assert gap_breakdown(solve(ask(LARGE, threshold=10), "rsp+level").plan) == GapBreakdown(150 + 10 + 60, 0, 20, 40)


def test_free_traffic_leaves_only_vms(ask) -> None:
    """Where bytes cost nothing, the third VM of first fit is all there is to tell."""
    free = VmType("mine/free", 100, 8 * 60, FREE)
    assert gap_breakdown(solve(ask(free), "rsp+ffbp").plan) == GapBreakdown(200, 100, 0, 0)


def test_without_a_bound_there_is_no_gap(ask) -> None:
    """Nothing is claimed where nothing is known."""
    assert gap_breakdown(solve(ask(), bound="none").plan) is None


def test_nothing_to_carry_has_no_gap(make_workload) -> None:
    """Nothing is published, nothing is paid."""
    problem = Problem(make_workload({"a": 0}, {"x": ["a"]}), [SMALL], 10, window_seconds=1)
    assert gap_breakdown(solve(problem).plan) == GapBreakdown(0, 0, 0, 0)


def test_a_plan_without_a_chosen_type_is_refused(ask, tmp_path: Path) -> None:
    """The table must say which VM type is taken."""
    forged = forge(
        solve(ask()).plan, tmp_path / "forged", tables={"decisions/types.parquet": lambda table: table.slice(0, 0)}
    )
    with pytest.raises(InputError, match="0 VM types are chosen"):
        chosen_type(forged)


@pytest.mark.parametrize(("column", "value"), [("type", "mine/none"), ("limit", 0)])
def test_types_that_are_not_asked_for_are_damage(ask, tmp_path: Path, column: str, value: object) -> None:
    """A chosen type without prices, or whose VMs carry nothing, is refused in a sentence."""
    plan = solve(ask(SMALL)).plan

    def change(table):
        return table.from_pylist([row | {column: value} for row in table.to_pylist()], schema=table.schema)

    forged = forge(plan, tmp_path / "forged", tables={"decisions/types.parquet": change})
    with pytest.raises(InputError, match="unknown or carries nothing"):
        gap_breakdown(forged)
