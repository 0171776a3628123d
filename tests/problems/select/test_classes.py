"""Satisfaction by weight, against a count in plain Python."""

from __future__ import annotations

from random import Random

import pytest

from pubplan.errors import InputError
from pubplan.problems.select import Problem, solve
from pubplan.problems.select.classes import MAX_CLASSES, WeightClass, satisfaction_by_weight


def random_problem(make_workload, num_weights: int, seed: int) -> Problem:
    """Sixty subscribers, some of whom want nothing, with up to ``num_weights`` different weights."""
    random = Random(seed)
    topics = [f"t{number}" for number in range(12)]
    rates = {topic: random.randint(0, 9) for topic in topics}
    interests = {f"s{number:02}": random.sample(topics, random.randint(1, 4)) for number in range(60)}
    weights = {subscriber: 3 * random.randrange(num_weights) for subscriber in interests}
    return Problem(make_workload(rates, interests, weights=weights), "40%", 7)


def counted(problem: Problem, served: set[str]) -> dict[int, tuple[int, int, float]]:
    """Subscribers, satisfied ones and mean share by weight, by the definitions."""
    table = problem.workload.topics("topic_id", "rate")
    rates = dict(zip(table["topic_id"].to_pylist(), table["rate"].to_pylist(), strict=True))
    names = list(rates)
    shares_of: dict[int, list[float]] = {}
    for row in problem.workload.interests_block(0).to_pylist():
        wanted = [names[topic] for topic in row["topics"]]
        needed = min(7, sum(rates[topic] for topic in wanted))
        received = sum(rates[topic] for topic in wanted if topic in served)
        shares_of.setdefault(row["weight"], []).append(min(1.0, received / needed) if needed else 1.0)
    return {
        weight: (len(shares), sum(share == 1.0 for share in shares), sum(shares) / len(shares))
        for weight, shares in shares_of.items()
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_weight_is_a_class(make_workload, seed: int) -> None:
    """Up to twelve different weights are shown one by one, lightest first."""
    problem = random_problem(make_workload, 5, seed)
    plan = solve(problem, bound="none").plan
    expected = counted(problem, set(plan.decisions("served")["topic_id"].to_pylist()))
    classes = satisfaction_by_weight(problem, plan)
    assert [each.min_weight for each in classes] == sorted(expected)
    for each in classes:
        number, satisfied, share = expected[each.min_weight]
        assert (each.max_weight, each.subscribers, each.satisfied) == (each.min_weight, number, satisfied)
        assert each.mean_share == pytest.approx(share)


def test_many_weights_share_classes(make_workload) -> None:
    """More than twelve are put together: equally many different weights in each class, give or take one."""
    problem = random_problem(make_workload, 40, 0)
    plan = solve(problem, bound="none").plan
    expected = counted(problem, set(plan.decisions("served")["topic_id"].to_pylist()))
    assert len(expected) > MAX_CLASSES
    classes = satisfaction_by_weight(problem, plan)
    inside = [[weight for weight in expected if each.min_weight <= weight <= each.max_weight] for each in classes]
    assert len(classes) == MAX_CLASSES
    assert {len(weights) for weights in inside} <= {len(expected) // MAX_CLASSES, len(expected) // MAX_CLASSES + 1}
    assert [each.subscribers for each in classes] == [sum(expected[w][0] for w in weights) for weights in inside]
    assert [each.satisfied for each in classes] == [sum(expected[w][1] for w in weights) for weights in inside]


def test_spark_counts_the_same(spotify, spark) -> None:
    """Two blocks as Spark tasks and in this process; without weights all subscribers are in one class."""
    problem = Problem(spotify, "10%", 27, "b3m")
    plan = solve(problem, bound="none").plan
    (only,) = satisfaction_by_weight(problem, plan)
    assert (only.min_weight, only.max_weight, only.subscribers) == (1, 1, spotify.counts.subscribers)
    assert only.satisfied == plan.record["objective"]
    assert satisfaction_by_weight(problem, plan, spark) == (only,)


def test_a_plan_of_another_workload_is_refused(make_workload) -> None:
    """A topic that the workload does not have is named as the trouble, not as a traceback."""
    large = make_workload({"a": 1, "b": 2}, {"x": ["a", "b"]})
    small = make_workload({"a": 1}, {"x": ["a"]})
    plan = solve(Problem(large, "100%", 9), bound="none").plan
    with pytest.raises(InputError, match="serves topics that"):
        satisfaction_by_weight(Problem(small, "100%", 9), plan)
    problem = Problem(large, "100%", 9)
    assert satisfaction_by_weight(problem, plan) == (WeightClass(1, 1, 1, 1, 1.0),)
