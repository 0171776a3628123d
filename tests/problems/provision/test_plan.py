"""Plans: what their tables say, which VM type they choose, and that blocks and executors change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from oracles.provision import Case, Machine, placements_of

from pubplan.errors import InputError
from pubplan.planning import read_plan
from pubplan.problems.provision import FAMILY, Problem, solve, verify
from pubplan.workload import Workload

CASE = Case(
    {"a": 4, "b": 3},
    {f"s{number}": ("a", "b") for number in range(5)},
    9,
    (Machine("large", 20, 200),),
    {"a": 1, "b": 2},
    None,
)
"""Streams of 4 and 6; five pairs of each: 24 and 36 bytes with the streams, on VMs of 20."""


def test_tables_say_where_everything_is(tmp_path: Path) -> None:
    """b goes first: two pairs fill 18 of 20 twice, the last takes 12 and leaves 8 for one pair of a; four fill a VM."""
    plan = solve(CASE.problem(tmp_path), "gsp+cbp", parameters={"steps": "bcd"}, out=tmp_path / "plan").plan
    assert placements_of(plan) == [[(0, vm), (1, other)] for vm, other in ((2, 0), (3, 0), (3, 1), (3, 1), (3, 2))]
    columns = ["vm", "type", "used", "incoming", "outgoing", "topics", "pairs", "price"]
    assert plan.decisions("vms").column_names == columns
    assert [tuple(row.values()) for row in plan.decisions("vms").to_pylist()] == [
        (0, "large", 18, 6, 12, 1, 2, 20),
        (1, "large", 18, 6, 12, 1, 2, 20),
        (2, "large", 20, 10, 10, 2, 2, 20),
        (3, "large", 20, 4, 16, 1, 4, 20),
    ]
    assert [tuple(row.values()) for row in plan.decisions("splits").to_pylist()] == [
        (0, "a", 2, 1),
        (0, "a", 3, 4),
        (1, "b", 0, 2),
        (1, "b", 1, 2),
        (1, "b", 2, 1),
    ]
    (row,) = plan.decisions("types").to_pylist()
    assert tuple(row.values()) == ("large", True, 20, 4, 26, 50, 80, 26, 50, 156, "")
    assert plan.exact.value == 156
    assert read_plan(tmp_path / "plan").digest == plan.digest


def test_the_cheaper_type_is_chosen(tmp_path: Path) -> None:
    """Whichever comes first; both are in the table, and a type that cannot be used says why."""
    machines = {
        "expensive": Machine("expensive", 40, 5000),
        "cheap": Machine("cheap", 40, 50),
        "tiny": Machine("tiny", 7, 1),
    }
    for number, names in enumerate((("expensive", "cheap", "tiny"), ("tiny", "cheap", "expensive"))):
        case = Case(**{**vars(CASE), "machines": tuple(machines[name] for name in names)})
        plan = solve(case.problem(tmp_path / str(number))).plan
        types = {row["type"]: row for row in plan.decisions("types").to_pylist()}
        assert list(types) == list(names)
        assert [name for name in names if types[name]["chosen"]] == ["cheap"]
        assert set(plan.decisions("vms")["type"].to_pylist()) == {"cheap"}
        assert types["cheap"]["cost"] == plan.exact.value < types["expensive"]["cost"]
        assert "fit no VM" in types["tiny"]["refused"]


def test_fleets_beyond_64_bits_are_refused(tmp_path: Path) -> None:
    """A bill that no table of a plan can state is refused with its amount, not wrapped around."""
    problem = CASE.problem(tmp_path)
    golden = replace(problem.types[0], name="golden", micros_per_hour=10**15)
    problem = replace(problem, vm_types=(golden,), window_seconds=3600 * 10**5)
    with pytest.raises(InputError, match="A fleet of golden costs 100000000000000000"):
        solve(problem, out=tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def test_one_type_among_many_is_what_it_is_alone(tmp_path: Path) -> None:
    """What a table says of the type that was not chosen is what a plan with it costs."""
    machines = (Machine("one", 20, 200), Machine("other", 26, 290, ((1, 9), (None, 2))))
    both = Case(**{**vars(CASE), "machines": machines})
    for method in FAMILY.methods:
        types = solve(both.problem(tmp_path / method), method, bound="none").plan.decisions("types").to_pylist()
        for machine, row in zip(machines, types, strict=True):
            alone = Case(**{**vars(CASE), "machines": (machine,)})
            result = solve(alone.problem(tmp_path / f"{method}-{machine.name}"), method, bound="none")
            assert result.exact.value == row["cost"], method


def test_nothing_to_send_needs_no_vm(tmp_path: Path) -> None:
    """A threshold of 0, no subscribers, or topics without events: no VM, no cost, and bounds of 0."""
    odd = (
        {"threshold": 0},
        {"interests": {}},
        {"asked_rates": {"a": 0, "b": 0}},
        {"asked_rates": {}, "interests": {}, "sizes": {}},
    )
    for number, change in enumerate(odd):
        problem = Case(**{**vars(CASE), **change}).problem(tmp_path / str(number))
        for method in FAMILY.methods:
            result = solve(problem, method)
            assert (result.objective, result.bound, result.gap) == (0.0, 0.0, 0.0)
            assert result.plan.decisions("vms").num_rows == 0


def test_the_plan_says_what_binds(tmp_path: Path) -> None:
    """61 bytes and more on four VMs: three would carry 60."""
    result = solve(CASE.problem(tmp_path), "gsp+cbp", parameters={"steps": "bcd"})
    (reason,) = result.reasons
    assert (reason.limit, reason.need, reason.have, reason.where) == ("bytes per VM", 76, 60, "3 VMs")
    assert str(reason) == "3 VMs carry 60 bytes; 76 bytes are needed"


@pytest.mark.parametrize("method", ["gsp+ffbp", "least-traffic+cbp", "joint+level"])
def test_blocks_and_executors_change_nothing(spotify: Workload, method: str, spark, monkeypatch) -> None:
    """Two blocks in this process, in one thread, and as Spark tasks: one digest, one verdict; topics are split over
    VMs, so pairs of the second block go on where those of the first ended.
    """
    assert len(spotify.interests_blocks) == 2
    problem = Problem(spotify, [Machine("m", 2 * 10**6, 10**9).vm_type], 30, window_seconds=8, message_bytes=1)
    here = solve(problem, method)
    assert here.plan.decisions("splits").num_rows > 0
    assert here.plan.decisions("vms").num_rows > 3
    there = solve(problem, method, spark=spark)
    assert there.plan.digest == here.plan.digest
    assert verify(problem, here.plan, spark) == verify(problem, here.plan)
    asked = []
    monkeypatch.setattr("pubplan.engine.blocks._num_cores", lambda: asked.append(1) or 1)
    assert solve(problem, method).plan.digest == here.plan.digest
    assert asked
    assert here.bound <= here.objective


def test_random_orders_are_the_same_on_executors(spotify: Workload, spark) -> None:
    """Two blocks in this process and as Spark tasks: one digest."""
    assert len(spotify.interests_blocks) == 2
    problem = Problem(spotify, [Machine("m", 2 * 10**6, 10**9).vm_type], 30, window_seconds=8, message_bytes=1)
    orders = {"interest_order": "random", "pair_order": "random"}
    here, there = (
        solve(problem, "rsp+ffbp", seed=3, parameters=orders, bound="none", spark=session).plan
        for session in (None, spark)
    )
    assert here.decisions("vms").num_rows > 3
    assert there.digest == here.digest
