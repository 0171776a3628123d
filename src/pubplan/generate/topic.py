"""Shapes of topic workloads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, map_blocks, num_blocks, random_stream, stage
from pubplan.generate.shape import RawTable, RawTrace, Shape
from pubplan.workload import (
    DEFAULT_MESSAGE_BYTES,
    TOPIC,
    Block,
    Int32Array,
    Int64Array,
    Kind,
    TopicWorkload,
    Window,
    finish_workload,
    numbered_ids,
    write_interests_block,
)

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

EVENTS_PER_FILE = 1 << 22
TIMELESS_WINDOW = Window("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", 86_400.0)
"""When the events of a workload without time are said to have happened."""


@dataclass(frozen=True)
class TopicShape(Shape[TopicWorkload]):
    """Subscribers that draw topics.

    ``draw(block)`` gives the topics of one block of subscribers as CSR, ascending and without duplicates, and the
    same ones wherever it runs.

    >>> pubplan.generate.uniform(4, 3, sizes=(1, 2)).num_subscribers
    4
    """

    rates: Int64Array
    num_subscribers: int
    draw: Callable[[int], tuple[Int64Array, Int32Array]]
    window: Window = field(default_factory=Window)

    @property
    def kind(self) -> Kind[TopicWorkload]:
        return TOPIC

    @property
    def num_rows(self) -> int:
        return self.num_subscribers

    def write(self, directory: Path, spark: SparkSession | None) -> None:
        num_topics, num_rows, draw = len(self.rates), self.num_rows, self.draw

        def write(block: int) -> tuple[Block, Int32Array, Int32Array]:
            offsets, topics = draw(block)
            ids = numbered_ids("s", *block_range(block, num_rows))
            entry = write_interests_block(directory, block, ids, offsets, topics)
            drawn, counts = np.unique(topics, return_counts=True)
            return entry, drawn, counts.astype(np.int32)  # sent back by tasks, so as small as they can be

        subscribers = np.zeros(num_topics, dtype=np.int64)
        entries = []
        with stage(f"generating {self.name}", num_blocks(num_rows)) as advance:
            for entry, topics, counts in map_blocks(write, num_blocks(num_rows), spark):
                entries.append(entry)
                subscribers[topics] += counts
                advance(1)
        finish_workload(
            directory,
            topic_ids=numbered_ids("t", 0, num_topics),
            rates=self.rates,
            subscribers=subscribers,
            message_bytes=np.full(num_topics, DEFAULT_MESSAGE_BYTES, dtype=np.int64),
            interests=entries,
            window=self.window,
            sources=[self.source],
        )

    def raw_trace(self, *, with_events: bool) -> RawTrace:
        traffic = self._events() if with_events else self._rates()
        window = self.window
        options = [f'window-start = "{window.start}"', f'window-end = "{window.end}"']
        return RawTrace((traffic, self._subscriptions()), options if window.start else ["timeless = true"])

    def _events(self) -> RawTable:
        """Rows of topic, timestamp, size; every file has events from all over the window."""
        ends = np.cumsum(self.rates)
        num_events = int(ends[-1]) if len(ends) else 0
        window = self.window if self.window.start else TIMELESS_WINDOW
        start, end = (_micros(moment) for moment in (window.start, window.end))
        name, seed, topic_ids = self.name, int(self.parameters["seed"]), numbered_ids("t", 0, len(self.rates))

        def make(file: int) -> pa.Table:
            first, last = file * EVENTS_PER_FILE, min(num_events, (file + 1) * EVENTS_PER_FILE)
            generator = random_stream(seed, f"{name}/events", file)
            events = generator.permutation(np.arange(first, last))
            topics = np.searchsorted(ends, events, side="right")
            return pa.table(
                {
                    "topic": topic_ids.take(pa.array(topics)),
                    "timestamp": pa.array(generator.integers(start, end, len(events)), pa.timestamp("us", "UTC")),
                    "size": pa.array(np.full(len(events), DEFAULT_MESSAGE_BYTES, dtype=np.int64)),
                }
            )

        return RawTable("events", -(-num_events // EVENTS_PER_FILE), make)

    def _rates(self) -> RawTable:
        """Rows of topic, rate, size."""
        rates, topic_ids = self.rates, numbered_ids("t", 0, len(self.rates))

        def make(block: int) -> pa.Table:
            first, last = block_range(block, len(rates))
            sizes = np.full(last - first, DEFAULT_MESSAGE_BYTES, dtype=np.int64)
            return pa.table({"topic": topic_ids[first:last], "rate": rates[first:last], "size": sizes})

        return RawTable("rates", num_blocks(len(rates)), make)

    def _subscriptions(self) -> RawTable:
        """Rows of subscriber, topic."""
        name, seed, draw = self.name, int(self.parameters["seed"]), self.draw
        num_subscribers, topic_ids = self.num_subscribers, numbered_ids("t", 0, len(self.rates))

        def make(block: int) -> pa.Table:
            offsets, topics = draw(block)
            order = random_stream(seed, f"{name}/subscriptions", block).permutation(len(topics))
            first, last = block_range(block, num_subscribers)
            rows = np.repeat(np.arange(last - first), np.diff(offsets))[order]
            subscribers = numbered_ids("s", first, last).take(pa.array(rows))
            return pa.table({"subscriber": subscribers, "topic": topic_ids.take(pa.array(topics[order]))})

        return RawTable("subscriptions", num_blocks(num_subscribers), make)


def _micros(moment: str | None) -> int:
    return int(datetime.fromisoformat(str(moment)).timestamp() * 1_000_000)
