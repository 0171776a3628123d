"""From one plan of federate to another: who moves, what links carry, and what that costs."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from oracles.federate_example import ASKED, BROKERS, TERABYTE, hub

from pubplan.planning import diff_plans
from pubplan.problems.federate import FAMILY, Problem, solve


def test_traffic_moves_over_the_hub(tmp_path: Path) -> None:
    """Nobody moves; the two links of the spanning tree go, the three of the star come, and $29.40 are saved."""
    workload = hub(tmp_path / "hub")
    old, new = (solve(Problem(workload, routing=r, **ASKED), "greedy-packing").plan for r in ("spanning", "steiner"))
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    assert further.facts["moves"] == {"moved": 0, "stayed": 3, "came": 0, "left": 0, "largest": []}
    assert further.facts["costs"] == {"access": {"old": 9.0, "new": 9.0}, "core": {"old": 119.4, "new": 90.0}}
    changes = {(row["from"], row["to"]): (row["old"], row["new"]) for row in further.facts["links"]}
    assert len(changes) == 10
    assert changes["east", "north"] == (2 * TERABYTE, 0)
    assert changes["hub", "south"] == (0, 2 * TERABYTE)
    assert further.sentences[:6] == (
        "clients: 0 moved, 3 stayed",
        "cost per window:",
        "  between clients and brokers: $9.00 -> $9.00 (+$0.00)",
        "  between brokers: $119.40 -> $90.00 (-$29.40)",
        "  together: $128.40 -> $99.00 (-$29.40)",
        "links whose traffic changes: 10",
    )
    assert further.sentences[6].endswith(" messages per window")
    assert diff_plans(FAMILY, old, old).is_empty


def test_clients_move(tmp_path: Path) -> None:
    """Without room at east, ann goes to hub, the first of those that cost the same."""
    brokers = {**BROKERS, "east": replace(BROKERS["east"], capacity=TERABYTE)}
    workloads = [hub(tmp_path / "old"), hub(tmp_path / "new", brokers=brokers)]
    old, new = (solve(Problem(workload, **ASKED), "greedy-packing").plan for workload in workloads)
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    assert further.facts["moves"]["largest"] == [{"from": "east", "to": "hub", "clients": 1}]
    assert further.sentences[:2] == ("clients: 1 moved, 2 stayed", "  east -> hub: 1 client")
    assert further.facts["costs"]["access"] == {"old": 9.0, "new": 306.0}


def test_workloads_that_are_gone(tmp_path: Path) -> None:
    """Without the names of clients nobody can be matched; costs and links are compared all the same."""
    workloads = [hub(tmp_path / "old"), hub(tmp_path / "new", {"cid": {"publishes": {0: 1}}})]
    plans = [
        solve(Problem(workload, **ASKED), "greedy-packing", out=tmp_path / name / "plan").plan
        for name, workload in zip("ab", workloads, strict=True)
    ]
    shutil.rmtree(tmp_path / "new")
    further = diff_plans(FAMILY, *plans).further
    assert further is not None
    assert further.facts["moves"] is None
    assert further.sentences[0] == "clients: the plans are for different workloads, which are no longer where they were"
    assert further.facts["links"]
