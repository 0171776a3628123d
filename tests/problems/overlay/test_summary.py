"""What the command says about a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from oracles.overlay import Case

from pubplan.problems.overlay import measures_of, solve
from pubplan.problems.overlay.summary import sentences

CASE = Case({"a": ("x", "y"), "b": ("x", "y", "z"), "c": ("y", "z"), "d": ("z",)})
"""GM-M: the path a - b - c - d."""


def test_links_degrees_and_distances_are_said(tmp_path: Path) -> None:
    """Three links of four nodes; b has two, y and z are two links wide; without c - d, z would need another path."""
    result = solve(CASE.problem(tmp_path), "gm-m")
    assert sentences(result, measures_of(result.plan)) == [
        "3 links connect every topic of 4 nodes.",
        "No node has more than 2 links; proven at least 2. On average it has 1.50.",
        "Nodes of a topic are at most 2 links apart, on average over topics 1.7.",
        "Binding: node 'b' has the most links, 2; without its least used link, 2 topics would need another path.",
    ]


def test_one_is_one(tmp_path: Path) -> None:
    """One link, one topic; no bound where none was asked for."""
    result = solve(Case({"a": ("x",), "b": ("x",)}).problem(tmp_path), "gm-m", bound="none")
    assert sentences(result, measures_of(result.plan)) == [
        "1 link connects every topic of 2 nodes.",
        "No node has more than 1 link. On average it has 1.00.",
        "Nodes of a topic are at most 1 link apart, on average over topics 1.0.",
        "Binding: node 'a' has the most links, 1; without its least used link, 1 topic would need another path.",
    ]


def test_divisions_are_said(tmp_path: Path) -> None:
    """What joins the parts: bulk nodes and representatives, or all nodes."""
    problem = CASE.problem(tmp_path)
    divided = solve(problem, "dcbr-m", parameters={"eta": 2, "parts": 1, "coverage": 1})
    measures = measures_of(divided.plan)
    assert (
        "Divided: 1 bulk node (more than 2 topics), 3 others in 1 part; parts joined through 1 bulk node and "
        in (sentences(divided, measures)[-2])
    )
    assert sentences(divided, measures)[-2].endswith("(coverage 1).")
    by_all = solve(problem, "dcb-m", parameters={"eta": 2, "parts": 2})
    assert sentences(by_all, measures_of(by_all.plan))[-2] == (
        "Divided: 1 bulk node (more than 2 topics), 3 others in 2 parts; parts joined through all nodes."
    )


def test_distances_that_were_not_computed_are_counted(tmp_path: Path) -> None:
    """Where none was, nothing is said about the others."""
    result = solve(CASE.problem(tmp_path), "gm-m")
    measures = replace(measures_of(result.plan), unmeasured=2, mean_diameter=None, worst_diameter=None)
    assert sentences(result, measures)[2] == "Distances of 2 topics would have taken too long to compute."
