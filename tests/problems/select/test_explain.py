"""Why: every number of an explanation against a count by hand."""

from __future__ import annotations

import pytest

from pubplan.errors import InputError
from pubplan.problems.select import FAMILY, Problem, solve
from pubplan.workload import Workload


@pytest.fixture
def workload(make_workload) -> Workload:
    """Costs: a 4, b 3, c 5, d 7. With capacity 7, threshold 6: a and b are served; z misses 6 of 6."""
    return make_workload({"a": 2, "b": 3, "c": 5, "d": 7}, {"w": ["a"], "x": ["a"], "y": ["b"], "z": ["c", "d"]})


@pytest.mark.parametrize(("objective", "value", "satisfies"), [("fb3m", 5 / 6, 0.0), ("b3m", 5 / 6, 0.0)])
def test_a_topic_that_is_not_served(workload: Workload, objective: str, value: float, satisfies: float) -> None:
    """c would fill 5 of the 6 events that z misses, for 5 more than is left; d, for 7, is worth less per cost."""
    problem = Problem(workload, 7, 6, objective)
    plan = solve(problem).plan
    facts = FAMILY.explain["topic"](problem, plan, "c", None).facts
    assert (facts["served"], facts["cost"], facts["capacity_left"]) == (False, 5, 0)
    assert facts["value"] == pytest.approx(value)
    assert facts["satisfies"] == satisfies
    assert (facts["rank"], facts["unserved_with_value"], facts["missing_capacity"]) == (1, 2, 5)
    dearer = FAMILY.explain["topic"](problem, plan, "d", None)
    assert (dearer.facts["rank"], dearer.facts["value"], dearer.facts["satisfies"]) == (2, pytest.approx(1.0), 1.0)
    assert "7 more capacity would let it in" in " ".join(dearer.sentences)


def test_a_topic_that_is_served(workload: Workload) -> None:
    """a was chosen first and satisfies w and x; without it both are lost."""
    for objective in ("fb3m", "b3m"):
        problem = Problem(workload, 7, 6, objective)
        facts = FAMILY.explain["topic"](problem, solve(problem).plan, "a", None).facts
        assert (facts["served"], facts["place"], facts["choices"], facts["loss"]) == (True, 1, 2, 2.0)


def test_a_topic_nobody_needs(make_workload) -> None:
    """Everybody has enough without b."""
    problem = Problem(make_workload({"a": 5, "b": 5}, {"x": ["a", "b"]}), "100%", 5)
    found = FAMILY.explain["topic"](problem, solve(problem).plan, "b", None)
    assert (found.facts["value"], found.facts["rank"]) == (0.0, None)
    assert "would bring nothing" in found.sentences[1]


def test_listed_topics_say_so(workload: Workload) -> None:
    """A list is the reason."""
    problem = Problem(workload, 12, 6, must_serve=["c"], must_not_serve=["d"])
    plan = solve(problem).plan
    assert "must be served" in FAMILY.explain["topic"](problem, plan, "c", None).sentences[1]
    assert "must not be served" in FAMILY.explain["topic"](problem, plan, "d", None).sentences[1]


def test_a_subscriber_who_misses_something(workload: Workload) -> None:
    """z receives nothing and needs 6: d alone costs 7, c and d together 12, c alone is not enough."""
    problem = Problem(workload, 7, 6)
    found = FAMILY.explain["subscriber"](problem, solve(problem).plan, "z", None)
    assert (found.facts["needed"], found.facts["received"], found.facts["missing"]) == (6, 0, 6)
    assert found.facts["cheapest_way"] == {"topics": ["d"], "cost": 7, "is_cheapest": True}
    content = FAMILY.explain["subscriber"](problem, solve(problem).plan, "y", None)
    assert (content.facts["satisfied"], content.facts["cheapest_way"]) == (1.0, None)
    assert content.sentences[-1] == "It is satisfied."


def test_the_cheapest_way_with_many_topics(make_workload) -> None:
    """Twenty topics of rate 1 and one of rate 20, all for one subscriber: single ones cost 1 each."""
    rates = {f"t{number:02}": 1 for number in range(20)} | {"big": 20}
    problem = Problem(make_workload(rates, {"x": list(rates)}), 0, 5)
    way = FAMILY.explain["subscriber"](problem, solve(problem, bound="none").plan, "x", None).facts["cheapest_way"]
    assert (way["cost"], len(way["topics"]), way["is_cheapest"]) == (5, 5, False)


def test_no_way_at_all(workload: Workload) -> None:
    """What must not be served cannot help."""
    problem = Problem(workload, 7, 6, must_not_serve=["c", "d"])
    found = FAMILY.explain["subscriber"](problem, solve(problem).plan, "z", None)
    assert "No topic that may be served" in found.sentences[-1]


def test_unknown_names_are_refused(workload: Workload) -> None:
    """With the name."""
    problem = Problem(workload, 7, 6)
    plan = solve(problem, bound="none").plan
    for kind in ("topic", "subscriber"):
        with pytest.raises(InputError, match=f"no {kind} 'q'"):
            FAMILY.explain[kind](problem, plan, "q", None)
