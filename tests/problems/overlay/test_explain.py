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
    assert links_of(plan) == [(0, 1), (1, 2), (2, 3)]
    assert is_connected(CASE.sets, links_of(plan))
    assert [row["degree"] for row in plan.decisions("nodes").to_pylist()] == [1, 2, 2, 1, 0]


def test_a_link_is_explained(problem: Problem, plan: Plan) -> None:
    found = FAMILY.explain["link"](problem, plan, "b,a", None)
    assert dict(found.facts) == {
        "nodes": ["b", "a"],
        "common": ["x", "y"],
        "carries": ["x", "y"],
        "needed_by": ["x", "y"],
        "step": 1,
        "phase": "greedy",
        "joined": 2,
    }
    assert "chosen as number 1 (greedily among all nodes), when it joined 2 topics" in found.sentences[0]
    assert found.sentences[-1] == "Without it, 2 topics would fall apart: x, y."


def test_a_spare_link_is_called_so(problem: Problem) -> None:
    """Rings close circles: without any one link everything still holds together."""
    plan = solve(problem, "ring-per-topic").plan
    ends = links_of(plan)
    assert (0, 2) in ends
    found = FAMILY.explain["link"](problem, plan, "a,c", None)
    assert found.facts["needed_by"] == []
    assert found.sentences[-1] == "Without it every topic would still be connected, by longer ways."


def test_ids_may_have_commas(problem: Problem, plan: Plan) -> None:
    assert FAMILY.explain["link"](problem, plan, "c,d,e", None).facts["nodes"] == ["c", "d,e"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a", "Name a link by its two nodes with a comma between them"),
        ("a,nobody", "has no node 'nobody'"),
        ("a,b,c", "has no two nodes that 'a,b,c' could name"),
        ("a,c", "has no link between 'a' and 'c'; they share 1 topics"),
    ],
)
def test_links_that_do_not_exist(problem: Problem, plan: Plan, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        FAMILY.explain["link"](problem, plan, name, None)


def test_a_node_is_explained(problem: Problem, plan: Plan) -> None:
    facts = FAMILY.explain["node"](problem, plan, "b", None).facts
    assert (facts["degree"], facts["maximum"], facts["topics"], facts["at_least"]) == (2, 2, 3, 2)
    told = [(row["neighbour"], row["common"], row["carries"], row["needed_by"]) for row in facts["links"]]
    assert told == [("a", 2, 2, 2), ("c", 2, 2, 2)]
    lonely = FAMILY.explain["node"](problem, plan, "lonely", None)
    assert lonely.sentences[-1] == "Nobody shares a topic with it, so it needs no link."
    with pytest.raises(InputError, match="has no node 'nobody'"):
        FAMILY.explain["node"](problem, plan, "nobody", None)


def test_a_node_knows_its_part(problem: Problem) -> None:
    plan = solve(problem, "dcbr-m", parameters={"eta": 2, "parts": 1}).plan
    facts = {name: FAMILY.explain["node"](problem, plan, name, None).facts for name in ("a", "b")}
    assert (facts["a"]["part"], facts["a"]["representative"]) == (0, True)
    assert facts["b"]["part"] is None


def test_a_topic_is_explained(problem: Problem, plan: Plan) -> None:
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
    case = Case({f"n{number:02}": ("x",) for number in range(30)})
    problem = case.problem(tmp_path)
    old, new = (solve(problem, "ring-per-topic", seed=seed).plan for seed in (0, 1))
    further = diff_plans(FAMILY, old, new).further
    assert further is not None
    assert len(further.sentences) <= 2 * 12 + 12
    assert any("more added" in line for line in further.sentences)
