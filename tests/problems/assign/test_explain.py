"""Explanations of assign: who could serve a client, and what the boxes of a broker are for."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.assign_example import ASKED, dense, example, tree

from pubplan.errors import InputError
from pubplan.planning import Explanation
from pubplan.problems.assign import FAMILY, Problem, solve


def explained(problem: Problem, kind: str, name: str, method: str = "gr-star") -> Explanation:
    return FAMILY.explain[kind](problem, solve(problem, method).plan, name, None)


def test_candidates_of_a_client(tmp_path: Path) -> None:
    """bob, 1 to 3, is inside 0 to 3 of north; the box of south, 8 to 12, would be 1 to 12, 11 - 4 = 7 steps more."""
    facts = explained(Problem(example(tmp_path / "workload"), **ASKED), "client", "bob").facts
    assert (facts["site"], facts["broker"], facts["limit_us"]) == ("kiel", "north", 22)
    assert facts["box"] == {"price": ["1", "3"]}
    shown = [(row["broker"], row["serves"], row["latency_us"], row["adds"]) for row in facts["candidates"]]
    assert shown == [("north", True, 15, 0), ("south", False, 15, 7)]


def test_a_client_without_a_choice(tmp_path: Path) -> None:
    """ann reaches north alone in time."""
    explanation = explained(Problem(example(tmp_path / "workload"), **ASKED), "client", "ann")
    assert explanation.sentences[-1] == "No other leaf broker can serve it."


def test_filters_of_the_whole_path_grow(tmp_path: Path) -> None:
    """Below hub, which lets 0 to 12 through, only the filter of south would grow, by 7; ways take 6 us more."""
    facts = explained(Problem(tree(tmp_path / "workload"), **ASKED), "client", "bob").facts
    shown = [(row["broker"], row["latency_us"], row["adds"]) for row in facts["candidates"]]
    assert shown == [("north", 21, 0), ("south", 21, 7)]


def test_messages_are_counted(tmp_path: Path) -> None:
    """1 to 8 holds 3 of 4 steps of the first cell, 6 messages of 12: half of all."""
    explanation = explained(Problem(dense(tmp_path / "workload"), **ASKED), "client", "bob")
    assert explanation.sentences[3].endswith("filters would grow by 50 % of all messages")


def test_late_clients(tmp_path: Path) -> None:
    """carl is served by a broker that is not among those near enough."""
    workload = example(tmp_path / "workload", {"carl": {"box": [(0, 2)]}})
    problem = Problem(workload, boxes=1, max_delay="0.5", load=2, max_load=2)
    explanation = explained(problem, "client", "carl", "gr-no-latency")
    assert [row["serves"] for row in explanation.facts["candidates"]] == [False]
    assert explanation.sentences[-1].startswith("north is not one of them")


def test_boxes_of_a_leaf(tmp_path: Path) -> None:
    """ann has its left side, bob its right one; a quarter of all events pass."""
    explanation = explained(Problem(example(tmp_path / "workload"), **ASKED), "broker", "north")
    facts = explanation.facts
    assert (facts["is_leaf"], facts["clients"], facts["limit"], facts["lets_through"]) == (True, 2, 2, 0.25)
    assert facts["boxes"] == [{"price": ["0", "3"], "lets_through": 0.25, "forced_by": ["ann", "bob"]}]
    assert explanation.sentences[0] == "north serves 2 of at most 2 clients; 25 % of all events go into it."


def test_boxes_of_an_inner_broker(tmp_path: Path) -> None:
    """hub feeds two leaves; ann is at the left side of its box and dora at the right one."""
    explanation = explained(Problem(tree(tmp_path / "workload"), **ASKED), "broker", "hub")
    assert explanation.sentences == (
        "hub feeds 2 leaf brokers; 100 % of all events go into it.",
        "  box 0: price 0 to 12 (100 %), because of ann, dora",
    )


def test_brokers_without_clients(tmp_path: Path) -> None:
    """Everybody wants the same and may wait: one broker serves all, the other needs no box."""
    workload = example(tmp_path / "workload", {name: {"box": [(0, 2)]} for name in ("ann", "bob", "carl", "dora")})
    problem = Problem(workload, boxes=1, max_delay="none", load=2, max_load=2)
    explanations = [explained(problem, "broker", name, "closest-unbalanced") for name in ("north", "south")]
    boxes = [len(each.facts["boxes"]) for each in explanations]
    clients = [each.facts["clients"] for each in explanations]
    assert [bool(number) for number in clients] == [bool(number) for number in boxes]


@pytest.mark.parametrize(("kind", "said"), [("client", "has no client 'eve'"), ("broker", "has no broker 'eve'")])
def test_unknown_names(tmp_path: Path, kind: str, said: str) -> None:
    """A sentence says which kind of thing is missing."""
    with pytest.raises(InputError, match=said):
        explained(Problem(example(tmp_path / "workload"), **ASKED), kind, "eve")
