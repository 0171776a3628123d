"""From one assignment to another: who moves, and which filters change."""

from __future__ import annotations

import shutil
from pathlib import Path

from oracles.assign_example import ASKED, BROKERS, LATENCIES, SPACE, example, tree

from pubplan.planning import diff_plans
from pubplan.problems.assign import FAMILY, Problem, solve
from pubplan.workload import Client, build_content_workload


def test_moves_and_filters(tmp_path: Path) -> None:
    """dora moves to north: 0 to 3 becomes 0 to 12, and 8 to 12 becomes 8 to 10."""
    problem = Problem(example(tmp_path / "workload"), **ASKED)
    old, new = (solve(problem, method).plan for method in ("gr-star", "closest-unbalanced"))
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    assert further.facts["moves"] == {
        "moved": 1,
        "stayed": 3,
        "came": 0,
        "left": 0,
        "largest": [{"from": "south", "to": "north", "clients": 1}],
    }
    assert further.facts["filters"] == [
        {"broker": "north", "old": 3.0, "new": 12.0},
        {"broker": "south", "old": 4.0, "new": 2.0},
    ]
    assert diff_plans(FAMILY, old, old).is_empty


def test_clients_come_and_leave(tmp_path: Path) -> None:
    """Of other workloads clients are matched by their ids: ann has left, eve has come, three stayed."""
    old_workload = example(tmp_path / "old")
    clients = {
        "bob": Client("kiel", [(1, 3)]),
        "carl": Client("rome", [(8, 10)]),
        "dora": Client("kiel", [(9, 12)]),
        "eve": Client("oslo", [(0, 2)]),
    }
    new_workload = build_content_workload(tmp_path / "new", SPACE, clients, BROKERS, LATENCIES)
    old, new = (solve(Problem(workload, **ASKED), "gr-star").plan for workload in (old_workload, new_workload))
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    moves = further.facts["moves"]
    assert (moves["moved"], moves["stayed"], moves["came"], moves["left"]) == (0, 3, 1, 1)
    assert further.sentences[0] == "clients: 0 moved, 3 stayed, 1 came, 1 left"


def test_brokers_that_one_plan_lacks(tmp_path: Path) -> None:
    """hub is new; the filters of its leaves stay as they are."""
    plans = [
        solve(Problem(workload, **ASKED), "gr-star").plan
        for workload in (example(tmp_path / "flat"), tree(tmp_path / "tree"))
    ]
    further = diff_plans(FAMILY, *plans).further
    assert further is not None
    assert further.facts["filters"] == [{"broker": "hub", "old": None, "new": 12.0}]
    assert further.sentences[-1] == "  hub: absent -> 12"


def test_workloads_that_are_gone(tmp_path: Path) -> None:
    """Without the names of clients nobody can be matched; filters are compared all the same."""
    plans = [
        solve(Problem(workload, **ASKED), "gr-star", out=tmp_path / name / "plan").plan
        for name, workload in (("a", example(tmp_path / "flat")), ("b", tree(tmp_path / "tree")))
    ]
    shutil.rmtree(tmp_path / "tree")
    further = diff_plans(FAMILY, *plans).further
    assert further is not None
    assert further.facts["moves"] is None
    assert further.sentences[0] == "clients: the plans are for different workloads, which are no longer where they were"
