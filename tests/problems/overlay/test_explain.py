"""Why links exist, why nodes have their degrees, and what changes from one overlay to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.overlay import Case, is_connected, links_of

from pubplan.errors import InputError
from pubplan.planning import Plan, diff_plans
from pubplan.problems.overlay import FAMILY, Problem, solve

CASE = Case({"a": ("x", "y"), "b": ("x", "y", "z"), "c": ("y", "z"), "d,e": ("z",), "lonely": ("q",)})
"""GM-M: a - b joins x and y, b - c joins y and z; c - d,e joins z, for b has two links already."""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return CASE.problem(tmp_path)


@pytest.fixture
def plan(problem: Problem) -> Plan:
    return solve(problem, "gm-m").plan


def test_the_example_is_what_it_says(plan: Plan) -> None:
    """Three links in a path; the lonely node has none."""
    assert links_of(plan) == [(0, 1), (1, 2), (2, 3)]
    assert is_connected(CASE.sets, links_of(plan))
    assert [row["degree"] for row in plan.decisions("nodes").to_pylist()] == [1, 2, 2, 1, 0]


def test_a_link_is_explained(problem: Problem, plan: Plan) -> None:
    """Common topics, what it carries, what needs it, and how it was chosen; the ids in the order given."""
    explanation = FAMILY.explain["link"](problem, plan, "b,a", None)
    assert dict(explanation.facts) == {
        "nodes": ["b", "a"],
        "common": ["x", "y"],
        "carries": ["x", "y"],
        "needed_by": ["x", "y"],
        "step": 1,
        "phase": "greedy",
        "joined": 2,
    }
    assert "chosen as number 1 (greedily among all nodes), when it joined 2 topics" in explanation.sentences[0]
    assert explanation.sentences[-1] == "Without it, 2 topics would fall apart: x, y."


def test_a_spare_link_is_called_so(problem: Problem) -> None:
    """Rings close circles: without any one link everything still holds together."""
    plan = solve(problem, "ring-per-topic").plan
    ends = links_of(plan)
    assert (0, 2) in ends
    explanation = FAMILY.explain["link"](problem, plan, "a,c", None)
    assert explanation.facts["needed_by"] == []
    assert explanation.sentences[-1] == "Without it every topic would still be connected, by longer paths."


def test_ids_may_have_commas(problem: Problem, plan: Plan) -> None:
    """The text is cut where both sides are nodes."""
    assert FAMILY.explain["link"](problem, plan, "c,d,e", None).facts["nodes"] == ["c", "d,e"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a", "Name a link by its two nodes with a comma between them"),
        ("a,missing", "has no node 'missing'"),
        ("a,b,c", "has no two nodes that 'a,b,c' could name"),
        ("a,c", "has no link between 'a' and 'c'; they share 1 topic\\."),
    ],
)
def test_links_that_do_not_exist(problem: Problem, plan: Plan, name: str, said: str) -> None:
    """A sentence says what is missing: a comma, a node, or the link."""
    with pytest.raises(InputError, match=said):
        FAMILY.explain["link"](problem, plan, name, None)


def test_a_node_is_explained(problem: Problem, plan: Plan) -> None:
    """Its degree, the least it could have, and what each link is for."""
    explanation = FAMILY.explain["node"](problem, plan, "b", None)
    facts = explanation.facts
    assert "With fewer than 2 links it could not share all its topics." in explanation.sentences
    assert "  a: 2 of 2 common topics go this way; 2 would fall apart without it (greedily among all nodes)" in (
        explanation.sentences
    )
    assert (facts["degree"], facts["maximum"], facts["topics"], facts["at_least"]) == (2, 2, 3, 2)
    links = [(row["neighbour"], row["common"], row["carries"], row["needed_by"]) for row in facts["links"]]
    assert links == [("a", 2, 2, 2), ("c", 2, 2, 2)]
    lonely = FAMILY.explain["node"](problem, plan, "lonely", None)
    assert lonely.sentences[-1] == "No other node shares a topic with it, so it needs no link."
    with pytest.raises(InputError, match="has no node 'missing'"):
        FAMILY.explain["node"](problem, plan, "missing", None)


def test_what_every_node_needs_is_not_said(problem: Problem, plan: Plan) -> None:
    """That a node with one link needs one says nothing."""
    explanation = FAMILY.explain["node"](problem, plan, "a", None)
    assert explanation.facts["at_least"] == 1
    assert not any("With fewer" in sentence for sentence in explanation.sentences)


def test_a_node_knows_its_part(problem: Problem) -> None:
    """And whether it represents it; a bulk node has none."""
    plan = solve(problem, "dcbr-m", parameters={"eta": 2, "parts": 1}).plan
    facts = {name: FAMILY.explain["node"](problem, plan, name, None).facts for name in ("a", "b")}
    assert (facts["a"]["part"], facts["a"]["representative"]) == (0, True)
    assert facts["b"]["part"] is None


def test_a_topic_is_explained(problem: Problem, plan: Plan) -> None:
    """Its nodes, links, root, depth and diameter; one node has nothing to be connected with."""
    facts = FAMILY.explain["topic"](problem, plan, "z", None).facts
    assert dict(facts) == {"nodes": 3, "links": 2, "depth": 1, "diameter": 2, "topic": "z", "root": "c"}
    alone = FAMILY.explain["topic"](problem, plan, "q", None)
    assert alone.sentences == ("q has 1 node: nothing has to be connected.",)


def test_a_diff_names_links_and_degrees(plan: Plan, tmp_path: Path) -> None:
    """By ids, across workloads: a new node, and one link less."""
    interests = {**CASE.interests, "d,e": (), "f": ("z",)}
    other = solve(Case(interests).problem(tmp_path / "other"), "gm-m").plan
    further = diff_plans(FAMILY, plan, other).further
    assert further is not None
    assert further.facts["links"] == {"kept": 2, "added": [["c", "f"]], "dropped": [["c", "d,e"]]}
    assert further.facts["degrees"] == [
        {"node": "d,e", "old": 1, "new": 0},
        {"node": "f", "old": None, "new": 1},
    ]
    assert "nodes whose degree changes: 2" in further.sentences
    assert diff_plans(FAMILY, plan, plan).is_empty


def test_long_diffs_are_cut(tmp_path: Path) -> None:
    """Ten links of each kind and ten nodes are named, others counted."""
    case = Case({f"n{number:02}": ("x",) for number in range(30)})
    problem = case.problem(tmp_path)
    old, new = (solve(problem, "ring-per-topic", seed=seed).plan for seed in (0, 1))
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    assert len(further.sentences) <= 2 * 12 + 12
    assert any("more added" in line for line in further.sentences)
