"""What fleets cost, and the least that traffic can cost: for methods and bounds, and again for the verifier."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import MANY
from oracles.provision import Case, Machine, Tiers, tiers

from pubplan.problems.provision import Problem
from pubplan.problems.provision.cost import TrafficBound, fleet_costs, least_fleet_cost
from pubplan.problems.provision.verifier.costs import Terms
from pubplan.workload import Workload


def test_costs_are_rounded_up_once_per_term(least_workload: Workload) -> None:
    """Three VMs at 0.7, 13 bytes in at 0.3 and 25 out, ten at 0.5 and the rest at 0.1: 2.1, 3.9 and 6.5."""
    machine = Machine("m", 99, 7, ((None, 3),), ((1, 5), (None, 1)))
    problem = Problem(least_workload, [machine.vm_type], 3, window_seconds=8)
    for (num_vms, incoming, outgoing), costs in (((3, 13, 25), (3, 4, 7)), ((0, 0, 0), (0, 0, 0))):
        assert fleet_costs(problem, problem.types[0], num_vms, incoming, outgoing) == costs
        assert Terms.of(problem).costs(problem.types[0], num_vms, incoming, outgoing) == costs


@MANY
@given(
    line=st.integers(5, 40),
    rent=st.integers(0, 60),
    incoming=tiers(),
    outgoing=tiers(),
    floor=st.tuples(*[st.integers(0, 25)] * 2, st.integers(0, 150)),
    weights=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    num_vms=st.integers(0, 3),
)
def test_the_least_cost_of_traffic(
    least_workload: Workload,
    line: int,
    rent: int,
    incoming: Tiers,
    outgoing: Tiers,
    floor: tuple[int, int, int],
    weights: tuple[int, int],
    num_vms: int,
) -> None:
    """No whole numbers of bytes in and out that reach the floor, on as many VMs as they fill, cost less; and some cost
    hardly more: a micro-dollar for each term that is rounded, a byte, a VM. The verifier comes to the same.
    """
    machine = Machine("m", line, rent, incoming, outgoing)
    case = Case({"a": 1}, {"x": ()}, 0, (machine,), {"a": 1})
    problem = Problem(least_workload, [machine.vm_type], 0, window_seconds=8)
    least_in, least_out, weighted = floor
    least = TrafficBound(least_in, least_out, weighted, weights, num_vms)
    least_cost = least_fleet_cost(problem, problem.types[0], least)
    assert least_cost == Terms.of(problem).least_cost(
        problem.types[0], line, least_in, least_out, num_vms, weighted, weights
    )
    best = None
    for received in range(least_in, least_in + 180):
        rest = Fraction(weighted - weights[0] * received, weights[1])
        for sent in {max(least_out, -int(-rest // 1)), max(least_out, -int(-rest // 1)) + 5}:
            vms = max(num_vms, -(-(received + sent) // line))
            cost = case.cost(machine, vms, received, sent)
            best = cost if best is None else min(best, cost)
    assert best is not None
    assert least_cost <= best
    if weights == (1, 1) and weighted <= least_in + least_out:
        assert best <= least_cost + 2


@pytest.fixture(scope="module")
def least_workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    case = Case({"a": 1}, {"x": ()}, 0, (Machine("m", 9, 1),), {"a": 1})
    return case.problem(tmp_path_factory.mktemp("least")).workload
