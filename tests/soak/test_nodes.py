"""Overlays of more nodes than a block holds."""

from __future__ import annotations

from pathlib import Path

import pytest

import pubplan
from pubplan.problems.overlay import Problem, solve
from pubplan.reproduce.overlay.figures import by_nodes
from pubplan.reproduce.overlay.runs import DCB_M, DCBR_M, GM_M
from pubplan.reproduce.overlay.sweeps import Bench

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


def test_reproduce_with_8000_nodes() -> None:
    """Fig. 7 has a point with 8000 nodes at the smallest scale, with low degrees and a sentence about times."""
    degrees, _, times = by_nodes(Bench(0.001, 0))
    assert degrees.x_values == times.x_values == (100, 8000)
    at_8000 = {line.name: line.values[-1] for line in degrees.lines}
    assert at_8000[GM_M] <= at_8000[DCB_M] <= at_8000[DCBR_M] <= at_8000[GM_M] + 3
    assert any(note.startswith("With 8,000 nodes: GM-M") for note in times.notes)
