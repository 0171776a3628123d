"""Why: every number of an explanation against a count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubplan.errors import InputError
from pubplan.generate import generate, spotify
from pubplan.problems.select import FAMILY, SERVED, Problem, solve
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
    costlier = FAMILY.explain["topic"](problem, plan, "d", None)
    assert (costlier.facts["rank"], costlier.facts["value"], costlier.facts["satisfies"]) == (
        2,
        pytest.approx(1.0),
        1.0,
    )
    assert not any("would let it in" in sentence for sentence in costlier.sentences)


def test_capacity_goes_to_better_topics_first(workload: Workload) -> None:
    """d lacks 7, but with a capacity of 14 c comes before it, and d no longer fits: it takes 19, a + b + c + d.

    Forced in at 7, d is alone and satisfies z: one subscriber instead of three.
    """
    problem = Problem(workload, 7, 6, "fb3m")
    plan = solve(problem, parameters={"rule": "ratio"}).plan
    facts = FAMILY.explain["topic"](problem, plan, "d", None).facts
    assert facts["missing_capacity"] == 7
    assert facts["entry"]["capacity"] == 19
    assert facts["entry"]["not_at"] == 18
    assert facts["forced"] == {"objective": 1.0, "loss": 2.0}


@pytest.mark.parametrize(
    ("method", "objective", "parameters"),
    [("greedy-fb3m", "fb3m", {}), ("greedy-fb3m", "fb3m", {"rule": "gain"}), ("improved-b3m", "b3m", {})],
)
def test_stated_capacities_and_losses_are_those_of_plans(
    tmp_path: Path, method: str, objective: str, parameters: dict[str, str]
) -> None:
    """Planning with the stated capacity serves the topic, with the one below does not; forced in, it loses this."""
    workload = generate(spotify(0.002), tmp_path / "workload")
    problem = Problem(workload, "10%", 27, objective)
    plan = solve(problem, method, parameters=parameters, bound="none").plan
    ids = workload.topics("topic_id")["topic_id"].to_pylist()
    unserved = sorted(set(ids) - set(plan.decisions(SERVED)["topic_id"].to_pylist()))
    num_entered = num_forced = 0
    for topic_id in unserved[:: max(1, len(unserved) // 12)]:
        answer = FAMILY.explain["topic"](problem, plan, topic_id, None)
        if answer.facts["value"] == 0:
            continue
        entry, forced = answer.facts["entry"], answer.facts["forced"]
        for capacity, is_served in ((entry["capacity"], True), (entry["not_at"], False)):
            if capacity is not None:
                bigger = solve(Problem(workload, capacity, 27, objective), method, parameters=parameters, bound="none")
                assert (topic_id in bigger.plan.decisions(SERVED)["topic_id"].to_pylist()) == is_served
        if entry["capacity"] is not None:
            num_entered += 1
            assert f"Planned with a capacity of {entry['capacity']:,} (" in " ".join(answer.sentences)
        if forced is not None:
            num_forced += 1
            asked = Problem(workload, "10%", 27, objective, must_serve=[topic_id])
            with_it = solve(asked, method, parameters=parameters, bound="none")
            assert forced["objective"] == with_it.objective
            assert forced["loss"] == pytest.approx(plan.record["objective"] - with_it.objective)
    assert num_entered > 3
    assert num_forced > 3


def test_a_topic_that_large_capacities_leave_out(make_workload) -> None:
    """By gain, a plan for everything takes a (10), after which b (2) adds nothing; a plan for 2 takes b."""
    problem = Problem(make_workload({"a": 5, "b": 2}, {"x": ["a", "b"], "y": ["a"]}), 1, 5)
    answer = FAMILY.explain["topic"](problem, solve(problem, parameters={"rule": "gain"}).plan, "b", None)
    assert (answer.facts["entry"]["capacity"], answer.facts["entry"]["not_at"]) == (2, 1)
    assert answer.facts["forced"] is None
    assert "cannot be forced in" in answer.sentences[-1]


def test_a_topic_that_no_capacity_brings_in(make_workload) -> None:
    """Of two topics that are alike the first is taken, and gives x all it needs."""
    problem = Problem(make_workload({"a": 5, "b": 5}, {"x": ["a", "b"]}), 0, 5)
    answer = FAMILY.explain["topic"](problem, solve(problem).plan, "b", None)
    assert (answer.facts["entry"]["capacity"], answer.facts["entry"]["cut_short"]) == (None, False)
    assert "More capacity does not bring it in" in answer.sentences[-2]


def test_a_search_that_is_cut_short_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where runs take too long two are made; what they found is stated, and that less may be enough."""
    workload = generate(spotify(0.002), tmp_path / "workload")
    problem = Problem(workload, "10%", 27)
    plan = solve(problem, bound="none").plan
    monkeypatch.setattr("pubplan.problems.select.entry.MAX_SECONDS", 0.0)
    served = set(plan.decisions(SERVED)["topic_id"].to_pylist())
    answers = [
        FAMILY.explain["topic"](problem, plan, topic_id, None)
        for topic_id in workload.topics("topic_id")["topic_id"].to_pylist()[:40]
        if topic_id not in served
    ]
    cut = [answer for answer in answers if answer.facts.get("entry", {}).get("cut_short")]
    assert cut
    for answer in cut:
        assert answer.facts["entry"]["runs"] == 2
        assert "planning takes long here" in " ".join(answer.sentences)


def test_a_topic_that_is_served(workload: Workload) -> None:
    """a was chosen first and satisfies w and x; without it both are lost."""
    for objective in ("fb3m", "b3m"):
        problem = Problem(workload, 7, 6, objective)
        facts = FAMILY.explain["topic"](problem, solve(problem).plan, "a", None).facts
        assert (facts["served"], facts["step"], facts["choices"], facts["loss"]) == (True, 1, 2, 2.0)


def test_a_topic_that_no_subscriber_needs(make_workload) -> None:
    """All subscribers have enough without b."""
    problem = Problem(make_workload({"a": 5, "b": 5}, {"x": ["a", "b"]}), "100%", 5)
    answer = FAMILY.explain["topic"](problem, solve(problem).plan, "b", None)
    assert (answer.facts["value"], answer.facts["rank"]) == (0.0, None)
    assert "would bring nothing" in answer.sentences[1]


def test_listed_topics_say_so(workload: Workload) -> None:
    """A list is the reason."""
    problem = Problem(workload, 12, 6, must_serve=["c"], must_not_serve=["d"])
    plan = solve(problem).plan
    assert "must be served" in FAMILY.explain["topic"](problem, plan, "c", None).sentences[1]
    assert "must not be served" in FAMILY.explain["topic"](problem, plan, "d", None).sentences[1]


def test_a_subscriber_who_misses_something(workload: Workload) -> None:
    """z receives nothing and needs 6: d alone costs 7, c and d together 12, c alone is not enough."""
    problem = Problem(workload, 7, 6)
    answer = FAMILY.explain["subscriber"](problem, solve(problem).plan, "z", None)
    assert (answer.facts["needed"], answer.facts["received"], answer.facts["missing"]) == (6, 0, 6)
    assert answer.facts["cheapest_way"] == {"topics": ["d"], "cost": 7, "is_cheapest": True}
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
    answer = FAMILY.explain["subscriber"](problem, solve(problem).plan, "z", None)
    assert "No topic that may be served" in answer.sentences[-1]


def test_unknown_names_are_refused(workload: Workload) -> None:
    """With the name."""
    problem = Problem(workload, 7, 6)
    plan = solve(problem, bound="none").plan
    for kind in ("topic", "subscriber"):
        with pytest.raises(InputError, match=f"no {kind} 'q'"):
            FAMILY.explain[kind](problem, plan, "q", None)


def test_a_subscriber_who_receives_more_than_it_needs(make_workload) -> None:
    """9 events where 3 are needed are not 9 of 3, nor 100 % of anything; 3 are 3 of 3."""
    workload = make_workload({"a": 9}, {"ann": ["a"]})
    for threshold, received in (
        (3, "9 events per window, more than the 3 it needs"),
        (9, "9 of the 9 events it needs per window (100.0 %)"),
    ):
        problem = Problem(workload, "100%", threshold)
        answer = FAMILY.explain["subscriber"](problem, solve(problem).plan, "ann", None)
        assert answer.sentences[0] == f"ann receives {received}, from 1 of its 1 topic."
