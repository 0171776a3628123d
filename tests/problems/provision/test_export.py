"""Exports of fleets: pairs come block by block, with the ids of that block."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from pubplan.problems.provision import FAMILY, Problem, solve
from pubplan.workload import Workload


def test_placements_are_exported_block_by_block(spotify: Workload, tmp_path: Path) -> None:
    """A piece per block of subscribers, each with pairs of these subscribers alone, together all pairs of the VMs."""
    problem = Problem(spotify, threshold=2)
    plan = solve(problem, "gsp+cbp", bound="none", verify=False, out=tmp_path / "plan").plan
    pieces = list(FAMILY.exports["placements"].pieces(problem, plan))
    assert len(pieces) == spotify.num_blocks == 2
    for block, piece in enumerate(pieces):
        subscriber_ids = spotify.interests_block(block, "subscriber_id")["subscriber_id"]
        assert piece.num_rows
        assert pc.all(pc.is_in(piece["subscriber_id"], value_set=subscriber_ids)).as_py()
    assert sum(piece.num_rows for piece in pieces) == sum(plan.decisions("vms")["pairs"].to_pylist())
