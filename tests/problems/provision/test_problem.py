"""The question: units and checks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracles.provision import Case, Machine

from pubplan.errors import Infeasible, InputError
from pubplan.problems.provision import Problem, Request, find_vm_types, solve
from pubplan.problems.provision.instance import MAX_TRAFFIC
from pubplan.workload import Window, Workload


@pytest.fixture
def workload(make_workload) -> Workload:
    """Rates 2, 3 and 5 over an hour; messages of 200 bytes."""
    window = Window(seconds=3600)
    return make_workload({"a": 2, "b": 3, "c": 5}, {"x": ["a", "b"], "y": ["b"], "z": ["c"]}, window=window)


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, 28_800_000_000),  # 64 Mbit/s = 8 MB/s, for 3600 s
        ({"window_seconds": 10}, 80_000_000),
        ({"window_seconds": "0.5"}, 4_000_000),
        ({"window_seconds": 10, "peak_factor": 4}, 20_000_000),
        ({"window_seconds": 10, "peak_factor": 1.5}, 53_333_333),
        ({"window_seconds": 10, "headroom": "20%"}, 64_000_000),
        ({"window_seconds": 10, "headroom": "12.5 %"}, 70_000_000),
        ({"window_seconds": 10, "headroom": "20%", "peak_factor": "2"}, 32_000_000),
    ],
    ids=str,
)
def test_a_vm_carries_its_line(workload: Workload, options: dict[str, object], limit: int) -> None:
    """Bits become bytes, times the window, less the head-room, over the peak factor, rounded down once."""
    problem = Problem(workload, ["c3.large"], 3, **options)
    assert problem.limit(problem.types[0]) == limit


def test_types_by_name_and_by_value(workload: Workload) -> None:
    """The default one, names of the catalogues, and types by value."""
    assert [kind.name for kind in Problem(workload, threshold=3).types] == ["aws-us-east-1/c7g.large"]
    mixed = Problem(workload, ["paper-2013/c3.xlarge", Machine("mine", 99, 1).vm_type], 3)
    assert [kind.name for kind in mixed.types] == ["paper-2013/c3.xlarge", "mine"]
    assert mixed.types[0] == find_vm_types(["paper-2013/c3.xlarge"])[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threshold": None}, "No threshold"),
        ({"threshold": -1}, "threshold must be between"),
        ({"peak_factor": 0.5}, "peak_factor must be at least 1, not 0.5"),
        ({"peak_factor": "much"}, "peak_factor is a number such as 2 or 1.5, not 'much'"),
        ({"peak_factor": True}, "peak_factor is a number"),
        ({"peak_factor": float("nan")}, "peak_factor is a number"),
        ({"peak_factor": float("inf")}, "peak_factor is a number"),
        ({"peak_factor": "1e3"}, "peak_factor is a number"),
        ({"rate_factor": -1}, "rate_factor is a number"),
        ({"rate_factor": None}, "rate_factor is a number"),
        ({"headroom": "100%"}, "headroom is a share below 100%"),
        ({"headroom": "-1%"}, "headroom is a share below 100%"),
        ({"headroom": 0.2}, "Did you mean '20%'"),
        ({"headroom": 20}, "headroom is a share"),
        ({"window_seconds": 0}, "longer than 0 seconds"),
        ({"window_seconds": -5}, "window_seconds is a number"),
        ({"message_bytes": -1}, r"whole number of bytes below 2\^31, not -1"),
        ({"message_bytes": 1.5}, "whole number of bytes"),
        ({"message_bytes": True}, "whole number of bytes"),
        ({"message_bytes": 2**31}, "whole number of bytes"),
        ({"budget": "lots"}, "budget is a number"),
        ({"budget": -1}, "budget is a number"),
        ({"vm_types": "c3.large"}, "list of VM types, not 'c3.large'"),
        ({"vm_types": ["c3.large", "paper-2013/c3.large"]}, "'paper-2013/c3.large' is given twice"),
        ({"vm_types": ["c3.larg"]}, "Did you mean 'c3.large'"),
    ],
    ids=str,
)
def test_bad_values_are_refused(workload: Workload, options: dict[str, object], sentence: str) -> None:
    """Each in a sentence that says what is wrong."""
    with pytest.raises(InputError, match=sentence):
        Problem(workload, **{"threshold": 3, **options})


def test_other_workloads_are_refused(workload: Workload, make_workload) -> None:
    """Another kind, one without a window, and, once it is checked, one with more traffic than can be counted."""
    content = Workload(workload.path, replace(workload.manifest, kind="content"))
    with pytest.raises(InputError, match="topic workloads"):
        Problem(content, threshold=3)
    timeless = make_workload({"a": 2}, {"x": ["a"]})
    with pytest.raises(InputError, match="how long its window is"):
        Problem(timeless, threshold=3)
    assert Problem(timeless, threshold=3, window_seconds=60).seconds == 60
    # in and out: twice the stream
    huge = make_workload({"a": MAX_TRAFFIC // 8}, {"x": ["a"]}, message_bytes=4)
    Problem(huge, threshold=3, window_seconds=60, message_bytes=3).check()
    with pytest.raises(InputError, match=f"takes {MAX_TRAFFIC} bytes or events .* provision counts to"):
        Problem(huge, threshold=3, window_seconds=60).check()
    with pytest.raises(InputError, match="provision counts to"):
        Problem(huge, threshold=3, window_seconds=60, message_bytes=1, rate_factor=8).check()
    with pytest.raises(InputError, match="do not fit 64 bits"):
        Problem(huge, threshold=3, window_seconds=60, message_bytes=1, rate_factor=10**9).check()


def test_problems_are_made_without_reading(workload: Workload) -> None:
    """Where all tables are gone a problem can still be asked and varied; only checking it reads."""
    for folder in (path for path in workload.path.iterdir() if path.is_dir()):
        shutil.rmtree(folder)
    problem = Problem(workload, threshold=3, peak_factor=2, rate_factor=2, message_bytes=9, budget=1)
    assert replace(problem, threshold=4).threshold == 4
    assert problem.of_types(find_vm_types(["c3.xlarge"])).limit(problem.types[0]) > 0
    with pytest.raises(InputError):
        problem.check()


def test_other_types_share_the_instance(workload: Workload) -> None:
    """What was read for one list of VM types is there for another; another threshold has an instance to itself."""
    problem = Problem(workload, threshold=3)
    other = problem.of_types(find_vm_types(["c3.xlarge"]))
    assert [vm_type.name for vm_type in other.types] == ["paper-2013/c3.xlarge"]
    assert other.instance is problem.instance
    assert other.instance.rates is problem.instance.rates
    assert replace(problem, threshold=4).instance is not problem.instance


def test_no_types_and_no_limit_are_infeasible(workload: Workload) -> None:
    """With the reason for each type."""
    with pytest.raises(Infeasible, match="no VM type to rent"):
        Problem(workload, [], 3)
    with pytest.raises(Infeasible, match="No VM type can carry anything") as caught:
        Problem(workload, [Machine("off", 0, 1).vm_type, Machine("slow", 1, 1).vm_type], 3, window_seconds="0.1")
    assert [(reason.have, reason.where) for reason in caught.value.reasons] == [(0, "off"), (0, "slow")]
    assert "a VM of type slow can carry nothing" in str(caught.value)
    assert Problem(workload, [Machine("off", 0, 1).vm_type, "c3.large"], 3)


def test_topics_that_fit_no_vm_name_who_needs_them(tmp_path: Path) -> None:
    """Streams of 9 and 6 do not fit VMs of 10: x can do without them, y lacks 6 events, z 9 - 2 = 7 and has only a."""
    case = Case(
        {"a": 9, "b": 6, "c": 2},
        {"x": ("a", "c"), "y": ("b",), "z": ("a", "c")},
        9,
        (Machine("small", 10, 1),),
        dict.fromkeys("abc", 1),
        thresholds={"x": 2, "y": 6, "z": 9},
    )
    with pytest.raises(Infeasible, match="No VM type can satisfy every subscriber") as caught:
        solve(case.problem(tmp_path / "one"))
    topics, subscribers = caught.value.reasons
    assert (topics.need, topics.have, topics.where) == (18, 10, "small")
    assert str(topics) == (
        "2 topics fit no VM of type small: with one subscriber the largest, 'a', takes 18 bytes, and a VM carries "
        "10 bytes"
    )
    assert (subscribers.need, subscribers.have, subscribers.where) == (3, 1, "small")
    assert str(subscribers) == (
        "2 of 3 subscribers cannot be satisfied without what fits no VM of type small; the most that one lacks is "
        "7 events"
    )

    # Who can do without them makes nothing infeasible.
    content = replace(case, thresholds={"x": 2, "y": 0, "z": 2})
    result = solve(content.problem(tmp_path / "two"))
    assert result.plan.decisions("vms")["topics"].to_pylist() == [1]

    # A larger type carries everything; the small one is refused in the table.
    both = replace(case, machines=(*case.machines, Machine("large", 60, 9)))
    types = solve(both.problem(tmp_path / "three")).plan.decisions("types").to_pylist()
    assert [row["chosen"] for row in types] == [False, True]
    assert "the largest, 'a', takes 18 bytes" in types[0]["refused"]
    assert (types[0]["cost"], types[0]["vms"], types[1]["refused"]) == (0, 0, "")


def test_rates_grow(workload: Workload) -> None:
    """By a factor, rounded up; thresholds stay. 2, 3, 5 times 1.3 are 2.6, 3.9, 6.5."""
    assert Problem(workload, threshold=3, rate_factor=1.3).instance.rates.tolist() == [3, 4, 7]
    assert Problem(workload, threshold=3, rate_factor="0.5").instance.rates.tolist() == [1, 2, 3]
    assert Problem(workload, threshold=3, rate_factor=2).instance.streams.tolist() == [800, 1200, 2000]
    assert Problem(workload, threshold=3).instance.rates.tolist() == [2, 3, 5]


def test_sizes_are_by_topic_or_the_same(make_workload) -> None:
    """One size is known as such, also where all topics happen to have it; those without events do not matter."""
    same = make_workload({"a": 2, "b": 3, "c": 0}, {"x": ["a", "b"]}, message_bytes={"a": 7, "b": 7, "c": 1})
    problem = Problem(same, threshold=3, window_seconds=9)
    assert problem.instance.sizes.tolist() == [7, 7, 1]
    assert problem.instance.common_size == 7
    assert problem.instance.streams.tolist() == [14, 21, 0]
    assert Problem(same, threshold=3, window_seconds=9, message_bytes=5).instance.sizes.tolist() == [5, 5, 5]
    assert Problem(same, threshold=3, window_seconds=9, message_bytes=0).instance.common_size is None
    mixed = make_workload({"a": 2, "b": 3}, {"x": ["a", "b"]}, message_bytes={"a": 7, "b": 8})
    assert Problem(mixed, threshold=3, window_seconds=9).instance.common_size is None


def test_usable_topics_fit_with_their_stream(make_workload) -> None:
    """A pair takes its stream twice, in and out: 2 x 5 of 10."""
    two = make_workload({"a": 5, "b": 6}, {"x": ["a", "b"]}, message_bytes=1)
    assert Problem(two, threshold=3, window_seconds=9).instance.usable(10).tolist() == [5, 0]


def test_parameters_restore_the_problem(workload: Workload) -> None:
    """What a plan stores is enough to ask again, prices and all."""
    options = {"peak_factor": 1.5, "headroom": "7%", "message_bytes": np.int64(9), "rate_factor": "2", "budget": 3.25}
    problem = Problem(workload, [Machine("m", 10**6, 7, ((2, 5), (None, 3))).vm_type, "c3.large"], 3, **options)
    again = Request.from_plan(problem.to_parameters()).problem(workload)
    assert again == problem
    assert again.to_parameters() == problem.to_parameters()
    assert (again.budget_micros, problem.sense, problem.scale) == (3_250_000, "min", 10**6)
    assert replace(problem, threshold=7).threshold == 7
    with pytest.raises(InputError):
        replace(problem, peak_factor=0)
