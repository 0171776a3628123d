"""What a content workload counts and adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pubplan.workload.manifest import Block, Counts, Totals


@dataclass(frozen=True, kw_only=True)
class ContentCounts(Counts):
    """How many clients, brokers and sites there are, and how many of the brokers are leaves."""

    clients: int
    brokers: int
    sites: int
    leaves: int


@dataclass(frozen=True)
class ContentTotals(Totals):
    """``volume`` of all subscriptions in grid steps, and ``rate``, messages published per window."""

    volume: int
    rate: int


def count_blocks(blocks: Mapping[str, tuple[Block, ...]]) -> dict[str, int]:
    """How many clients, brokers and sites the blocks of the tables hold."""
    return {table: sum(block.rows for block in blocks[table]) for table in ("clients", "brokers", "sites")}
