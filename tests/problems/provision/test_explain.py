"""Why: every number of an explanation against a count by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pubplan.errors import InputError
from pubplan.planning import Explanation, Plan
from pubplan.problems.provision import FAMILY, Problem, solve
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.workload import Workload

FREE_IN = Tariff(3600, (Tier(None, 0),), (Tier(None, 120_000),))
SMALL = VmType("mine/small", 3_600_000, 8_000, FREE_IN)  # $0.001 and 1000 bytes a second


@pytest.fixture
def workload(make_workload) -> Workload:
    """Messages of 10 bytes: streams a 100, b 300, c 50, d 600, which with one subscriber is more than 1000.

    With threshold 30: u and w take b (30), v needs a and c (15 is all it asked for), 12 others need a (10).
    """
    return make_workload(
        {"a": 10, "b": 30, "c": 5, "d": 60},
        {"u": ["a", "b"], "v": ["a", "c"], "w": ["a", "b", "c", "d"], **{f"x{number}": ["a"] for number in range(12)}},
        message_bytes=10,
    )


@pytest.fixture
def planned(workload: Workload) -> tuple[Problem, Plan]:
    problem = Problem(workload, [SMALL], 30, window_seconds=1)
    return problem, solve(problem).plan


def explain(planned: tuple[Problem, Plan], kind: str, name: str) -> Explanation:
    return FAMILY.explain[kind](*planned, name, None)


def placed(planned: tuple[Problem, Plan]) -> list[tuple[str, int]]:
    """Topic and VM of every pair, in the order of subscribers."""
    ids = planned[0].workload.topics("topic_id")["topic_id"].to_pylist()
    rows = planned[1].decisions_block("placements", 0).to_pylist()
    return [(ids[topic], vm) for row in rows for topic, vm in zip(row["topics"], row["vms"], strict=True)]


def test_a_topic_that_does_not_fit_one_vm(planned: tuple[Problem, Plan]) -> None:
    """a has 13 pairs: whole it takes 14 x 100 bytes. A VM takes 9 of them, so it needs two; 13 cannot do without it.

    Incoming bytes are free; outgoing are 0.00012 micro-dollars each, one micro-dollar for all 1950: a's share of that,
    1300 of 1950, is rounded up.
    """
    explanation = explain(planned, "topic", "a")
    homes = Counter(vm for topic, vm in placed(planned) if topic == "a")
    facts = explanation.facts
    assert (facts["rate"], facts["stream"], facts["interests"], facts["pairs"]) == (10, 100, 15, 13)
    assert facts["vms"] == [{"vm": vm, "pairs": pairs} for vm, pairs in sorted(homes.items())]
    assert (facts["whole"], facts["limit"], facts["least_vms"]) == (1400, 1000, 2)
    assert (facts["incoming"], facts["outgoing"]) == (100 * len(homes), 1300)
    assert (facts["incoming_cost"], facts["outgoing_cost"]) == (0.0, 0.000001)
    assert facts["subscribers_that_need_it"] == 13
    said = " ".join(explanation.sentences)
    assert "It does not fit one VM: whole it takes 1.40 kB, and a VM may carry 1.00 kB." in said
    assert "13 subscribers cannot do without it" in said


def test_a_topic_that_fits_no_vm(planned: tuple[Problem, Plan]) -> None:
    """d takes 1200 bytes with its one subscriber; w is satisfied without it."""
    explanation = explain(planned, "topic", "d")
    assert (explanation.facts["fits"], explanation.facts["pairs"], explanation.facts["vms"]) == (False, 0, [])
    assert explanation.facts["subscribers_that_need_it"] == 0
    assert "It fits no VM: with one subscriber it takes 1.20 kB" in explanation.sentences[1]
    assert "sent to no subscriber" in explanation.sentences[2]


def test_a_topic_that_no_subscriber_needs(make_workload) -> None:
    """Either of two equal topics would do."""
    workload = make_workload({"a": 5, "b": 5}, {"x": ["a", "b"]}, message_bytes=10)
    problem = Problem(workload, [SMALL], 5, window_seconds=1)
    plan = solve(problem).plan
    (sent,) = {topic for topic, _ in placed((problem, plan))}
    explanation = FAMILY.explain["topic"](problem, plan, sent, None)
    assert (explanation.facts["pairs"], explanation.facts["subscribers_that_need_it"]) == (1, 0)
    assert explanation.sentences[-1].startswith("No subscriber needs it")


def test_a_topic_split_to_fill_gaps(make_workload) -> None:
    """Pair by pair on the first VM with room: a leaves 200 of 1000 bytes, where b begins.

    a has 3 pairs of 200 and a stream of 200; b has 4 pairs of 50, which with a stream are 250 and go on elsewhere.
    """
    interests = {**{f"u{number}": ["a"] for number in range(3)}, **{f"v{number}": ["b"] for number in range(4)}}
    workload = make_workload({"a": 20, "b": 5}, interests, message_bytes=10)
    problem = Problem(workload, [SMALL], 20, window_seconds=1)
    explanation = FAMILY.explain["topic"](problem, solve(problem, "rsp+ffbp").plan, "b", None)
    assert explanation.facts["vms"] == [{"vm": 0, "pairs": 3}, {"vm": 1, "pairs": 1}]
    assert (
        "It would fit one VM (250 bytes of 1.00 kB); on 2 it fills gaps, for 50 bytes more in." in explanation.sentences
    )


def test_every_vm(planned: tuple[Problem, Plan]) -> None:
    """What a VM carries, counted from the placements; the topics it shares are those that are split."""
    streams = {"a": 100, "b": 300, "c": 50}
    pairs = Counter(placed(planned))
    num_vms = planned[1].decisions("vms").num_rows
    used = Counter()
    for (topic, vm), count in pairs.items():
        used[vm] += (count + 1) * streams[topic]
    for vm in range(num_vms):
        facts: dict[str, Any] = dict(explain(planned, "vm", str(vm)).facts)
        mine = {topic: count for (topic, home), count in pairs.items() if home == vm}
        assert (facts["topics"], facts["pairs"]) == (len(mine), sum(mine.values()))
        assert facts["incoming"] == sum(streams[topic] for topic in mine)
        assert facts["outgoing"] == sum(streams[topic] * count for topic, count in mine.items())
        assert (facts["used"], facts["limit"], facts["fill"]) == (used[vm], 1000, used[vm] / 1000)
        assert facts["rent"] == 0.001
        assert facts["rent_per_gb"] == pytest.approx(0.001 / used[vm] * 10**9)
        biggest = {topic["topic"]: (topic["pairs"], topic["bytes"]) for topic in facts["biggest"]}
        assert biggest == {topic: (count, (count + 1) * streams[topic]) for topic, count in mine.items()}
        assert [topic["bytes"] for topic in facts["biggest"]] == sorted((b for _, b in biggest.values()), reverse=True)
        shared = {topic for topic in mine if sum(home != vm for name, home in pairs if name == topic)}
        assert {topic["topic"] for topic in facts["splits"]} == shared
        # The stream of a topic that others carry too need not be moved.
        need = used[vm] - sum(streams[topic] for topic in shared)
        have = 1000 * (num_vms - 1) - (sum(used.values()) - used[vm])
        assert facts["removal"] == {"vms": num_vms - 1, "need": need, "have": have}


def test_the_only_vm(make_workload) -> None:
    """There is nothing to compare it with."""
    problem = Problem(make_workload({"a": 5}, {"x": ["a"]}), [SMALL], 5, message_bytes=1, window_seconds=1)
    explanation = FAMILY.explain["vm"](problem, solve(problem).plan, "0", None)
    assert explanation.sentences[-1] == "It is the only VM."


def test_a_subscriber_with_a_choice(planned: tuple[Problem, Plan]) -> None:
    """w needs 30: of a, b and c, which bring 45, it cannot miss b, and b alone is enough; d fits no VM."""
    explanation = explain(planned, "subscriber", "w")
    facts = explanation.facts
    assert (facts["needed"], facts["received"], facts["overshoot"], facts["bytes"]) == (30, 30, 0, 300)
    assert [topic["topic"] for topic in facts["topics"] if topic["vm"] is not None] == ["b"]
    assert [topic["topic"] for topic in facts["topics"] if topic["needed"]] == ["b"]
    assert [topic["topic"] for topic in facts["topics"] if not topic["fits"]] == ["d"]
    assert facts["least"] == {"is_sent": True, "bytes": 300, "topics": ["b"], "is_proven": True}
    assert explanation.sentences[-1] == "It is not sent a (10), c (5), d (60, fits no VM)."


def test_a_subscriber_who_needs_everything(planned: tuple[Problem, Plan]) -> None:
    """v asked for 15 events in all and is sent all."""
    facts = explain(planned, "subscriber", "v").facts
    assert (facts["needed"], facts["received"]) == (15, 15)
    assert all(topic["needed"] and topic["vm"] is not None for topic in facts["topics"])


def test_a_subscriber_for_whom_less_would_do(make_workload) -> None:
    """The first topics in order are a and b, 12 events; c alone has the 10 that x needs."""
    workload = make_workload({"a": 9, "b": 3, "c": 10}, {"x": ["a", "b", "c"]}, message_bytes=10)
    problem = Problem(workload, [SMALL], 10, window_seconds=1)
    explanation = FAMILY.explain["subscriber"](problem, solve(problem, "rsp+cbp").plan, "x", None)
    assert (explanation.facts["received"], explanation.facts["overshoot"]) == (12, 2)
    assert explanation.facts["least"] == {"is_sent": False, "bytes": 100, "topics": ["c"], "is_proven": True}
    assert "The least that would do is 100 bytes, from c" in " ".join(explanation.sentences)


@pytest.mark.parametrize(("rate", "threshold", "known"), [(2, 10, True), (3, 10, None)])
def test_a_subscriber_with_many_topics(make_workload, rate: int, threshold: int, known: bool | None) -> None:
    """20 topics are too many to try all: a sum that hits the need is the least, of another it is not said."""
    rates = {f"t{number:02}": rate for number in range(20)}
    workload = make_workload(rates, {"x": list(rates)}, message_bytes=10)
    problem = Problem(workload, [SMALL], threshold, window_seconds=1)
    explanation = FAMILY.explain["subscriber"](problem, solve(problem).plan, "x", None)
    assert explanation.facts["least"]["is_sent"] is known


def test_a_subscriber_who_wants_nothing(make_workload) -> None:
    """Nothing is needed and nothing sent."""
    workload = make_workload({"a": 5}, {"x": ["a"], "y": []}, message_bytes=1)
    problem = Problem(workload, [SMALL], 5, window_seconds=1)
    facts = FAMILY.explain["subscriber"](problem, solve(problem).plan, "y", None).facts
    assert (facts["needed"], facts["topics"], facts["least"]["is_sent"]) == (0, [], True)


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("vm", "99", "no VM '99'"),
        ("vm", "-1", "no VM '-1'"),
        ("vm", "²", "no VM"),
        ("topic", "q", "no topic 'q'"),
        ("subscriber", "q", "no subscriber 'q'"),
    ],
)
def test_unknown_things_are_named(planned: tuple[Problem, Plan], kind: str, name: str, said: str) -> None:
    """There is no such thing."""
    with pytest.raises(InputError, match=said):
        explain(planned, kind, name)


def test_blocks_are_read_one_by_one(planned: tuple[Problem, Plan], spark) -> None:
    """On Spark the same facts."""
    for kind, name in (("vm", "0"), ("topic", "a"), ("subscriber", "w")):
        assert FAMILY.explain[kind](*planned, name, spark) == explain(planned, kind, name)
