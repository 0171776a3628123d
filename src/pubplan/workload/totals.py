"""What serving everything would take."""

from __future__ import annotations

from pubplan.engine import MAX_INT64, exact_dot, exact_sum
from pubplan.errors import InputError
from pubplan.workload.manifest import Totals
from pubplan.workload.tables import Int64Array


def add_totals(rates: Int64Array, subscribers: Int64Array, message_bytes: Int64Array) -> Totals:
    """Add up cost, rate and bytes over all topics.

    Raises:
        InputError: a total leaves 64 bits.
    """
    cost, rate = exact_dot(rates, subscribers), exact_sum(rates)
    totals = {"cost (rate x subscribers)": cost, "rate": rate}
    for name, value in totals.items():
        if value > MAX_INT64:
            raise InputError(f"The total {name} is {value}, which does not fit 64 bits. Use a shorter window.")
    # Each product is at most the total cost, which fits.
    delivered = exact_dot(rates * subscribers, message_bytes)
    if delivered > MAX_INT64:
        raise InputError(f"The bytes delivered per window are {delivered}, which does not fit 64 bits.")
    return Totals(cost=cost, rate=rate, bytes=delivered)
