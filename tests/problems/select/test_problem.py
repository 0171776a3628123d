"""The question: values are checked when it is asked, what the workload has to say by check()."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

from pubplan.errors import Infeasible, InputError
from pubplan.problems.select import Problem, Request
from pubplan.workload import TopicWorkload, Workload


@pytest.fixture
def workload(make_workload) -> Workload:
    """Total cost 2*1 + 3*2 + 5*1 = 13."""
    return make_workload({"a": 2, "b": 3, "c": 5}, {"x": ["a", "b"], "y": ["b"], "z": ["c"]})


@pytest.mark.parametrize(
    ("capacity", "cost"),
    [(7, 7), ("7", 7), ("0", 0), ("10%", 1), ("50%", 6), ("100%", 13), ("7.7 %", 1), ("7.6%", 0), ("200%", 26)],
)
def test_two_forms_of_capacity(workload: Workload, capacity: str | int, cost: int) -> None:
    """A number of deliveries, or a share of the total cost, rounded down."""
    assert Problem(workload, capacity, 3).capacity_cost == cost


@pytest.mark.parametrize(
    "capacity",
    [
        10**400,
        0.1,
        "0.1",
        "-5",
        -5,
        "10 percent",
        "",
        "%",
        True,
        None,
        "1e3",
        "nan",
        "٣",
        2**63,
        "9" * 5000,
        "9" * 30 + "%",
    ],
)
def test_other_forms_are_refused(workload: Workload, capacity) -> None:
    """Anything else is an error that shows the two forms."""
    with pytest.raises(InputError, match="10%"):
        Problem(workload, capacity, 3)


@pytest.mark.parametrize(("capacity", "hint"), [(0.1, "'10%'"), ("0.25", "'25%'")])
def test_a_fraction_gets_a_hint(workload: Workload, capacity, hint: str) -> None:
    """0.1 is not 10 %, but the error knows what was meant."""
    with pytest.raises(InputError, match=f"Did you mean {hint}"):
        Problem(workload, capacity, 3)


def test_a_threshold_is_needed(workload: Workload, make_workload) -> None:
    """Given with the question, or by the workload; the one given wins; neither is refused."""
    with pytest.raises(InputError, match="pass threshold"):
        Problem(workload, 7).check()
    given = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]}, thresholds={"x": 4, "y": 9})
    assert Problem(given, 7).instance.thresholds.tolist() == [4, 3]
    assert Problem(given, 7, 2).instance.thresholds.tolist() == [2, 2]


@pytest.mark.parametrize("threshold", [-1, 2**31, 2.5, "27", True])
def test_thresholds_out_of_range_are_refused(workload: Workload, threshold) -> None:
    """A whole number from 0 to 2^31 - 1."""
    with pytest.raises(InputError, match="threshold"):
        Problem(workload, 7, threshold)


def test_numpy_numbers_are_numbers(workload: Workload) -> None:
    """Integers of NumPy are stored as plain ones."""
    problem = Problem(workload, np.int64(7), np.int32(3))
    assert problem.to_parameters() == Problem(workload, 7, 3).to_parameters()
    assert type(problem.capacity) is int
    assert type(problem.threshold) is int


def test_workloads_that_select_cannot_plan_are_refused(workload: Workload) -> None:
    """Another kind, or more subscribers than can be counted."""
    content = Workload(workload.path, replace(workload.manifest, kind="content"))
    with pytest.raises(InputError, match="topic workloads"):
        Problem(content, 7, 3)
    crowd = Workload(workload.path, replace(workload.manifest, counts=replace(workload.counts, subscribers=2**31)))
    with pytest.raises(InputError, match=r"2\^31"):
        Problem(crowd, 7, 3)


def test_thresholds_of_the_workload_are_checked(make_workload) -> None:
    """A column with a negative threshold is refused when it is read."""
    given = make_workload({"a": 2}, {"x": ["a"]}, thresholds={"x": -4})
    with pytest.raises(InputError, match="Thresholds"):
        _ = Problem(given, 7).instance.thresholds


def test_unknown_objectives_are_refused(workload: Workload) -> None:
    """b3m or fb3m."""
    with pytest.raises(InputError, match="b3m or fb3m"):
        Problem(workload, 7, 3, objective="b4m")


def test_a_problem_is_frozen_and_varies_by_replace(workload: Workload) -> None:
    """replace() checks again."""
    problem = Problem(workload, "50%", 3)
    assert replace(problem, capacity=1).capacity_cost == 1
    with pytest.raises(InputError):
        replace(problem, capacity="half")


def test_parameters_restore_the_problem(workload: Workload) -> None:
    """What a plan stores is enough to ask again."""
    problem = Problem(workload, "50%", 3, objective="b3m")
    assert Request.from_plan(problem.to_parameters()).problem(workload) == problem


def test_needs_are_cut_to_what_is_wanted(workload: Workload) -> None:
    """tau_v = min(threshold, sum of rates): x wants 5 in all, y 3, z 5."""
    assert Problem(workload, 7, 4).instance.thresholds.tolist() == [4, 3, 4]
    assert Problem(workload, 7, 100).instance.thresholds.tolist() == [5, 3, 5]
    assert Problem(workload, 7, 0).instance.thresholds.tolist() == [0, 0, 0]


def test_costs_come_from_a_column(make_workload) -> None:
    """Any integer column of the topics; shares are of its total; another name is refused with those there are."""
    given = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]}, costs={"a": 7, "b": 1})
    assert Problem(given, "50%", 3, cost="cost").capacity_cost == 4
    assert Problem(given, "50%", 3, cost="rate").capacity_cost == 2
    assert Problem(given, "50%", 3, cost="subscribers").costs.tolist() == [1, 2]
    with pytest.raises(InputError, match="Did you mean 'cost'"):
        Problem(given, "50%", 3, cost="costs").check()
    with pytest.raises(InputError, match="topic_id"):
        Problem(given, "50%", 3, cost="topic_id").check()


def test_weights_count(make_workload) -> None:
    """Objectives count weights where there are some; too many are refused before anything is added up."""
    given = make_workload({"a": 2}, {"x": ["a"], "y": ["a"]}, weights={"x": 5, "y": 0})
    problem = Problem(given, 4, 2)
    assert (problem.total_weight, problem.unit) == (5, "weighted subscribers")
    heavy = make_workload({"a": 2}, {"x": ["a"], "y": ["a"]}, weights={"x": 2**31 - 1, "y": 1})
    with pytest.raises(InputError, match=r"below 2\^31, not 2147483648"):
        Problem(heavy, 4, 2).check()
    huge = make_workload({"a": 2}, {"x": ["a"], "y": ["a"]}, weights={"x": 2**63 - 1, "y": 2**63 - 1})
    with pytest.raises(InputError, match="not 18446744073709551614"):
        Problem(huge, 4, 2).check()


def test_sums_near_the_limit_are_refused(make_workload) -> None:
    """Costs that leave 64 bits are refused when the question is checked, never wrapped."""
    given = make_workload({"a": 2**62, "b": 2**62 - 1}, {"x": ["a"], "y": ["b"]}, message_bytes=1)
    assert Problem(given, "100%", 3).capacity_cost == 2**63 - 1
    given = make_workload({"a": 1, "b": 1}, {"x": ["a"]}, message_bytes=2**62)
    with pytest.raises(InputError, match="message_bytes adds up to 9223372036854775808"):
        Problem(given, "100%", 3, cost="message_bytes").check()


def test_lists_name_topics_that_exist(workload: Workload) -> None:
    """Each once, in order; a topic in both, or that is not there, is refused by name."""
    problem = Problem(workload, 13, 3, must_serve=["c", "a", "c"], must_not_serve=["b"])
    assert (problem.must_serve, problem.must_not_serve) == (("a", "c"), ("b",))
    assert problem.first_choices.tolist() == [0, 2]
    assert problem.is_open.tolist() == [False, False, False]
    with pytest.raises(InputError, match="no topic 'z'"):
        Problem(workload, 13, 3, must_serve=["z"]).check()
    with pytest.raises(InputError, match="no topic 'z'"):
        Problem(workload, 13, 3, must_not_serve=["z"]).check()
    with pytest.raises(InputError, match="'a' must be served and must not"):
        Problem(workload, 13, 3, must_serve=["a"], must_not_serve=["a"])
    with pytest.raises(InputError, match="list of topic ids"):
        Problem(workload, 13, 3, must_serve="a")


def test_lists_above_the_capacity_are_infeasible(workload: Workload) -> None:
    """a and b cost 2 + 6 = 8; 7 is 1 too little, which the error says."""
    with pytest.raises(Infeasible, match="cost 1 more than the capacity") as caught:
        Problem(workload, 7, 3, must_serve=["a", "b"]).check()
    assert [(reason.need, reason.have) for reason in caught.value.reasons] == [(8, 7)]
    Problem(workload, 8, 3, must_serve=["a", "b"]).check()


def test_asking_reads_no_table(workload: Workload) -> None:
    """A problem is made and written down where the workload has only its manifest left; check() misses the tables."""
    for table in ("topics", "interests"):
        shutil.rmtree(workload.path / table)
    problem = Problem(workload, "50%", cost="rate", must_serve=["a"], must_not_serve=["b"])
    assert replace(problem, capacity=7).at_capacity(8).capacity == 8
    assert Problem(workload, "50%", 3).to_parameters()["capacity_cost"] == 6  # of 13, which the manifest says
    with pytest.raises(InputError, match="cannot be read"):
        problem.check()


def test_another_capacity_shares_what_was_read(workload: Workload, monkeypatch) -> None:
    """at_capacity() reads nothing again, and is the problem that replace() makes; that one reads for itself."""
    problem = Problem(workload, "50%", 3)
    demand = problem.instance.demand
    other = problem.at_capacity(7)
    assert other == replace(problem, capacity=7)
    monkeypatch.setattr(TopicWorkload, "topic_array", None)
    assert other.instance.demand is demand
    with pytest.raises(TypeError):
        _ = replace(problem, capacity=7).costs


def test_a_problem_goes_to_tasks_without_its_arrays(make_workload) -> None:
    """What was read stays behind: 5 000 subscribers make no difference to what is sent."""
    sizes = []
    for number in (5, 5000):
        interests = {f"s{n:04}": ["a", "b"] for n in range(number)}
        problem = Problem(make_workload({"a": 1, "b": 2}, interests), 7, 3)
        assert len(problem.instance.demand.subscribers) == 2 * number
        sizes.append(len(pickle.dumps(problem)))
        assert pickle.loads(pickle.dumps(problem)).instance.thresholds.tolist() == [3] * number
    assert abs(sizes[1] - sizes[0]) < 100


@pytest.mark.parametrize(("read", "noun"), [("subscriber_array", "Weights"), ("topic_array", "Costs")])
def test_negative_numbers_are_refused(make_workload, monkeypatch, read: str, noun: str) -> None:
    """A weight or a cost below 0, which a damaged table may hold, is refused by check()."""
    given = make_workload({"a": 2}, {"x": ["a"]}, weights={"x": 1}, costs={"a": 1})
    problem = Problem(given, 7, 3, cost="cost")
    monkeypatch.setattr(TopicWorkload, read, lambda workload, column: np.array([-1]))
    with pytest.raises(InputError, match=f"{noun} in .* must not be negative"):
        problem.check()
