"""What VMs may carry and what they cost, from the definitions in docs/provision.md: the verifier's arithmetic.

It reads prices and options as data, and shares no computation with the methods, the bounds or the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from pubplan.problems.provision.catalogue import Tier, VmType
from pubplan.problems.provision.problem import Problem
from pubplan.workload import Int64Array

MICROS_PER_DOLLAR = 10**6

_BITS_PER_BYTE = 8
_BYTES_PER_GB = 10**9
_SECONDS_PER_HOUR = 3600
_LARGEST_LIMIT = 2**60  # plans state no larger limit: traffic is below 2^55 bytes


@dataclass(frozen=True)
class Terms:
    """What a plan is checked against.

    Attributes:
        rates: events per window, by topic.
        streams: bytes per window, by topic.
        size: the one size of all messages that are sent, or None where they differ or are empty.
        types: the VM types that may be rented.
        limits: for each of them, bytes per window that a VM may receive and send.
        seconds: the length of the window.
        budget: micro-dollars that the plan may cost, or None.
    """

    rates: Int64Array
    streams: Int64Array
    size: int | None
    types: tuple[VmType, ...]
    limits: tuple[int, ...]
    seconds: Fraction
    budget: int | None

    @classmethod
    def of(cls, problem: Problem) -> Terms:
        factor = Fraction(str(problem.rate_factor))
        # Rounded up; the problem refuses factors with which the product would not fit 64 bits.
        rates = -(-problem.workload.topic_array("rate") * factor.numerator // factor.denominator)
        sizes = problem.workload.topic_array("message_bytes")
        if problem.message_bytes is not None:
            sizes = np.full(len(rates), problem.message_bytes, dtype=np.int64)
        used = np.unique(sizes[rates > 0])
        size = 1 if not len(used) else int(used[0]) if len(used) == 1 and used[0] > 0 else None
        seconds = Fraction(str(problem.window_seconds))
        left = 1 - Fraction(problem.headroom.removesuffix("%")) / 100
        carried = [
            floor(vm_type.bits_per_second * seconds * left / Fraction(str(problem.peak_factor)) / _BITS_PER_BYTE)
            for vm_type in problem.types
        ]
        limits = tuple(min(_LARGEST_LIMIT, limit) for limit in carried)
        budget = None if problem.budget is None else floor(Fraction(str(problem.budget)) * MICROS_PER_DOLLAR)
        return cls(rates, rates * sizes, size, problem.types, limits, seconds, budget)

    def rent(self, vm_type: VmType, num_vms: int) -> int:
        """Micro-dollars for the VMs over the window."""
        return ceil(num_vms * vm_type.micros_per_hour * self.seconds / _SECONDS_PER_HOUR)

    def costs(self, vm_type: VmType, num_vms: int, incoming: int, outgoing: int) -> tuple[int, int, int]:
        """Micro-dollars for VMs, bytes in and bytes out, each rounded up once."""
        received, sent = self._charge(vm_type, Fraction(incoming), Fraction(outgoing))
        return self.rent(vm_type, num_vms), ceil(received), ceil(sent)

    def least_cost(
        self,
        vm_type: VmType,
        limit: int,
        incoming: int,
        outgoing: int,
        num_vms: int,
        weighted: int = 0,
        weights: tuple[int, int] = (1, 1),
    ) -> int:
        """What a fleet costs at least that receives and sends at least this much, on at least this many VMs, and whose
        bytes in and out, times their weights, are at least ``weighted``.

        The more is received, the less has to be sent: ``sent_with``. Both charges are linear in what is received except
        where that, or what is sent, ends a tier; so the least is at one of these points or at an end of the range.
        """
        per_received, per_sent = weights

        def sent_with(received: Fraction) -> Fraction:
            return max(Fraction(outgoing), (weighted - per_received * received) / per_sent)

        first = Fraction(incoming)
        last = max(first, Fraction(weighted - per_sent * outgoing, per_received))
        points = {first, last, *self._tier_ends(vm_type, vm_type.tariff.incoming)}
        points |= {
            (weighted - per_sent * end) / per_received for end in self._tier_ends(vm_type, vm_type.tariff.outgoing)
        }
        shares = [(received, sent_with(received)) for received in points if first <= received <= last]
        fewest_vms = max(num_vms, ceil(min(received + sent for received, sent in shares) / limit))
        _, received_cost, sent_cost = self.costs(vm_type, 0, incoming, outgoing)
        transfer = min(sum(self._charge(vm_type, received, sent)) for received, sent in shares)
        return self.rent(vm_type, fewest_vms) + max(received_cost + sent_cost, ceil(transfer))

    def _charge(self, vm_type: VmType, received: Fraction, sent: Fraction) -> tuple[Fraction, Fraction]:
        """Micro-dollars for bytes in and out, not rounded: every tier's price for the bytes that fall into it."""
        tariff = vm_type.tariff
        return self._tiered(vm_type, tariff.incoming, received), self._tiered(vm_type, tariff.outgoing, sent)

    def _tiered(self, vm_type: VmType, tiers: tuple[Tier, ...], num_bytes: Fraction) -> Fraction:
        starts = [Fraction(0), *self._tier_ends(vm_type, tiers)]
        ends = [*starts[1:], num_bytes]
        in_tiers = [max(Fraction(0), min(num_bytes, end) - start) for start, end in zip(starts, ends, strict=True)]
        return (
            sum((part * tier.micros_per_gb for part, tier in zip(in_tiers, tiers, strict=True)), Fraction(0))
            / _BYTES_PER_GB
        )

    def _tier_ends(self, vm_type: VmType, tiers: tuple[Tier, ...]) -> list[Fraction]:
        """Bytes of the window at which each tier but the last ends: its volume per period, in proportion."""
        share = self.seconds / vm_type.tariff.period_seconds
        return [tier.up_to_gb * _BYTES_PER_GB * share for tier in tiers if tier.up_to_gb is not None]
