"""What a topic workload counts and adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pubplan.engine import MAX_INT64, exact_dot, exact_sum
from pubplan.errors import InputError
from pubplan.workload.manifest import Block, Counts, Totals
from pubplan.workload.tables import Int64Array


@dataclass(frozen=True, kw_only=True)
class TopicCounts(Counts):
    """How many topics, subscribers and interests (``pairs``) there are."""

    topics: int
    subscribers: int
    pairs: int


@dataclass(frozen=True)
class TopicTotals(Totals):
    """Per window: ``cost`` in deliveries (rate x subscribers), ``rate`` in events published, ``bytes`` delivered."""

    cost: int
    rate: int
    bytes: int


def count_blocks(blocks: Mapping[str, tuple[Block, ...]]) -> dict[str, int]:
    """How many topics, subscribers and interests the blocks of the tables hold."""
    return {
        "topics": sum(block.rows for block in blocks["topics"]),
        "subscribers": sum(block.rows for block in blocks["interests"]),
        "pairs": sum(block.pairs or 0 for block in blocks["interests"]),
    }


def add_totals(rates: Int64Array, subscribers: Int64Array, message_bytes: Int64Array) -> TopicTotals:
    """Add up cost, rate and bytes over all topics.

    Raises:
        InputError: a total leaves 64 bits.
    """
    cost, rate = exact_dot(rates, subscribers), exact_sum(rates)
    totals = {"cost (rate x subscribers)": cost, "rate": rate}
    for name, value in totals.items():
        if value > MAX_INT64:
            raise InputError(f"The total {name} is {value}, which does not fit 64 bits. Use a shorter window.")
    # The product of each topic is at most the total cost, which fits.
    delivered = exact_dot(rates * subscribers, message_bytes)
    if delivered > MAX_INT64:
        raise InputError(f"The bytes delivered per window are {delivered}, which does not fit 64 bits.")
    return TopicTotals(cost=cost, rate=rate, bytes=delivered)
