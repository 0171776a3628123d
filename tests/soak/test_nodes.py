"""Overlays of more nodes than a block holds."""

from __future__ import annotations

from pathlib import Path

import pytest

import pubplan
from pubplan.problems.overlay import Problem, solve

pytestmark = pytest.mark.soak


def test_several_blocks_of_nodes(tmp_path: Path) -> None:
    """A few per topic: forwarding is written and verified block by block."""
    num_nodes = 66_000
    interests = {f"n{node:06}": [f"t{node // 3:06}", f"t{(node + 7) % num_nodes // 3:06}"] for node in range(num_nodes)}
    rates = dict.fromkeys({topic for topics in interests.values() for topic in topics}, 1)
    problem = Problem(pubplan.build_workload(tmp_path / "workload", rates, interests))
    plan = solve(problem, "dcbr-m", parameters={"parts": 3}).plan
    assert plan.num_decision_blocks("forwarding") == 2
    assert plan.record["verified"]
