"""Where a plan's distance to its bound comes from: more VMs, more bytes in, more bytes out.

A bound is one number. What it allows for follows from turning the cost around, with the prices of the plan's VM type:
the bytes sent, from the bound on outgoing traffic; then the bytes received and the VMs, from the tightest bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from pubplan.errors import InputError, one_line
from pubplan.planning import Plan
from pubplan.problems.provision.catalogue import VmType, exact_transfer_cost, vm_cost
from pubplan.problems.provision.plan import chosen_type

_OUTGOING = ("outgoing", "paper")  # bounds on outgoing traffic alone, the better one first


@dataclass(frozen=True)
class GapBreakdown:
    """Micro-dollars: the bound, and what the plan pays above it. Together they are the plan's cost."""

    bound: int
    vms: int
    incoming: int
    outgoing: int


def gap_breakdown(plan: Plan) -> GapBreakdown | None:
    """What the plan pays above its tightest bound, and for what; None without a bound.

    Where the bound is of another VM type than the plan, what that type saves counts as VMs.

    Raises:
        InputError: the plan is damaged.
    """
    bounds = {name: plan.certificate(name).bound.value for name in plan.record["bounds"]}
    if not bounds:
        return None
    chosen = chosen_type(plan)
    tightest = max(bounds.values())
    allowed = _Allowed.by(plan, chosen["type"], chosen["limit"])
    sent = allowed.bytes_for(next((bounds[name] for name in _OUTGOING if name in bounds), 0), received=False)
    received = allowed.bytes_for(tightest, received=True, sent=sent)
    gap = chosen["cost"] - tightest
    outgoing = min(gap, max(0, chosen["outgoing_cost"] - math.ceil(allowed.sent_cost(sent))))
    incoming = min(gap - outgoing, max(0, chosen["incoming_cost"] - math.ceil(allowed.received_cost(received))))
    return GapBreakdown(tightest, gap - outgoing - incoming, incoming, outgoing)


@dataclass(frozen=True)
class _Allowed:
    """Costs of one VM type, turned around."""

    vm_type: VmType
    limit: int
    seconds: Fraction

    @classmethod
    def by(cls, plan: Plan, type_name: str, limit: int) -> _Allowed:
        """The costs of a plan's VM type.

        Raises:
            InputError: the plan has no such type, or its VMs carry nothing.
        """
        parameters = plan.record["parameters"]
        matching = [VmType.from_dict(each) for each in parameters["vm_types"] if each["name"] == type_name]
        if len(matching) != 1 or limit <= 0:
            raise InputError(
                f"{plan.path} is damaged: its VM type '{one_line(type_name)}' is unknown or carries nothing."
            )
        return cls(matching[0], limit, Fraction(str(parameters["window_seconds"])))

    def sent_cost(self, num_bytes: int) -> Fraction:
        tariff = self.vm_type.tariff
        return exact_transfer_cost(tariff.outgoing, tariff.period_seconds, Fraction(num_bytes), self.seconds)

    def received_cost(self, num_bytes: int) -> Fraction:
        tariff = self.vm_type.tariff
        return exact_transfer_cost(tariff.incoming, tariff.period_seconds, Fraction(num_bytes), self.seconds)

    def bytes_for(self, cost: int, *, received: bool, sent: int = 0) -> int:
        """The least bytes, received with ``sent`` or sent alone, that cost at least ``cost`` with their VMs."""

        def costs(num_bytes: int) -> Fraction:
            total = sent + num_bytes if received else num_bytes
            rent = vm_cost(self.vm_type, -(-total // self.limit), self.seconds)
            if received:
                return rent + self.sent_cost(sent) + self.received_cost(num_bytes)
            return rent + self.sent_cost(num_bytes)

        return _least(lambda num_bytes: costs(num_bytes) >= cost)


def _least(is_enough: Callable[[int], bool]) -> int:
    """The least number from 0 that is enough, for what stays enough; up to 2^60, which is more than any traffic."""
    low, high = 0, 1
    while high < 1 << 60 and not is_enough(high):
        low, high = high, 2 * high
    if is_enough(0):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
