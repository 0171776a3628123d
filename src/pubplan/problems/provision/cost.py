"""What a fleet costs, and what no fleet with at least some traffic can cost less than.

For methods and bounds; ``verify`` has separate arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from pubplan.problems.provision.catalogue import VmType, exact_transfer_cost, tier_limits, transfer_cost, vm_cost
from pubplan.problems.provision.problem import Problem


@dataclass(frozen=True)
class TrafficBound:
    """What no plan can be below: bytes in, bytes out, the sum of both times ``weights``, and VMs."""

    incoming: int = 0
    outgoing: int = 0
    weighted: int = 0
    weights: tuple[int, int] = (1, 1)
    num_vms: int = 0


def fleet_costs(problem: Problem, vm_type: VmType, num_vms: int, incoming: int, outgoing: int) -> tuple[int, int, int]:
    """Micro-dollars for the VMs, the bytes received and the bytes sent."""
    tariff, seconds = vm_type.tariff, problem.seconds
    return (
        vm_cost(vm_type, num_vms, seconds),
        transfer_cost(tariff.incoming, tariff.period_seconds, incoming, seconds),
        transfer_cost(tariff.outgoing, tariff.period_seconds, outgoing, seconds),
    )


def least_fleet_cost(problem: Problem, vm_type: VmType, least: TrafficBound) -> int:
    """What no fleet of one type can be below, in micro-dollars, if its traffic is not below ``least``.

    Where only the weighted sum of incoming and outgoing bytes is known, the cheapest way to share it is at the end of
    a range, or where a tier ends: in between, the cost is linear.
    """
    incoming, outgoing = Fraction(least.incoming), Fraction(least.outgoing)
    weight_in, weight_out = least.weights
    more = Fraction(least.weighted) - weight_in * incoming - weight_out * outgoing
    ends = [(incoming, outgoing)]
    tariff, period, seconds = vm_type.tariff, vm_type.tariff.period_seconds, problem.seconds
    if more > 0:
        ends = [(incoming + more / weight_in, outgoing), (incoming, outgoing + more / weight_out)]
        for limit in tier_limits(tariff.incoming, period, seconds):
            if limit is not None and ends[1][0] < limit < ends[0][0]:
                ends.append((limit, outgoing + (ends[0][0] - limit) * weight_in / weight_out))
        for limit in tier_limits(tariff.outgoing, period, seconds):
            if limit is not None and ends[0][1] < limit < ends[1][1]:
                ends.append((incoming + (ends[1][1] - limit) * weight_out / weight_in, limit))
    carried = problem.limit(vm_type)
    num_vms = max(least.num_vms, min(math.ceil((received + sent) / carried) for received, sent in ends))
    transfer = min(
        exact_transfer_cost(tariff.incoming, period, received, seconds)
        + exact_transfer_cost(tariff.outgoing, period, sent, seconds)
        for received, sent in ends
    )
    vms, received_cost, sent_cost = fleet_costs(problem, vm_type, num_vms, least.incoming, least.outgoing)
    return vms + max(received_cost + sent_cost, math.ceil(transfer))
