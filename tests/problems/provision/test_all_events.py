"""Fleets for subscribers who must receive everything that they asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.oracles.provision import Case, cases

from pubplan.problems.provision import PLACEMENTS, Problem, VmType, solve, verify
from pubplan.problems.provision.catalogue import Tariff, Tier
from pubplan.problems.provision.family import FAMILY

BIG = VmType("mine/big", 100, 8 * 10**12, Tariff(3600, (Tier(None, 1),), (Tier(None, 1),)))


@given(case=cases())
def test_every_method_places_every_interest(case: Case, tmp_path_factory: pytest.TempPathFactory) -> None:
    """There is one cover of a subscriber, all its topics with events, so every method places exactly those pairs."""
    problem = replace(case, threshold="all", thresholds=None).problem(tmp_path_factory.mktemp("all"))
    wanted = [sorted(topic for topic in topics if case.rates[topic]) for topics in case.interests.values()]
    large = replace(problem, vm_types=(BIG,))
    for method in FAMILY.methods:
        result = solve(large, method)
        assert verify(large, result.plan).ok
        placed = result.plan.decisions_block(PLACEMENTS, 0)["topics"].to_pylist() if wanted else []
        assert [sorted(case.topics[topic] for topic in row) for row in placed] == wanted


def test_more_than_a_threshold_can_be(make_workload) -> None:
    """All events may be more than 2^31 - 1: covers are not searched for, so there is nothing to count up to."""
    rates = {"a": 2**33, "b": 2**33 + 1}
    workload = make_workload(rates, {"x": ["a", "b"], "y": ["a"]}, message_bytes=2)
    for method in ("joint+level", "gsp+cbp", "rsp+ffbp", "least-traffic+cbp"):
        result = solve(Problem(workload, [BIG], "all", window_seconds=3600), method)
        assert result.plan.decisions("vms")["pairs"].to_pylist() == [3]
