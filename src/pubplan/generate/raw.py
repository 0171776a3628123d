"""Raw traces: what a workload would have looked like before it was ingested."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range, draws, map_blocks, num_blocks, stage, whole_directory, write_block, write_text
from pubplan.generate.shape import MESSAGE_BYTES, Shape
from pubplan.workload import Window, numbered_ids

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

EVENTS_PER_FILE = 1 << 22
INGEST = "ingest.toml"
TIMELESS = Window("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", 86_400.0)
"""When the events of a workload without time are said to have happened."""


def write_raw(
    shape: Shape,
    out: str | Path,
    *,
    with_events: bool = True,
    replace: bool = False,
    spark: SparkSession | None = None,
) -> None:
    """Write ``shape`` as ``events/`` (topic, timestamp, size) and ``subscriptions/`` (subscriber, topic), in no order.

    Without events, which a large shape has billions of, the first is ``rates/`` (topic, rate, size) instead.
    ``ingest.toml`` holds the options with which ``pubplan ingest`` gives the workload back, to the digest.

    Raises:
        InputError: ``out`` exists and ``replace`` was not asked for.
    """
    rates = shape.rates
    ends = np.cumsum(rates)
    num_events = int(ends[-1]) if len(ends) else 0
    num_files = -(-num_events // EVENTS_PER_FILE)
    window = shape.window if shape.window.start else TIMELESS
    start, end = (_micros(moment) for moment in (window.start, window.end))
    name, seed, draw = shape.name, int(shape.parameters["seed"]), shape.draw
    num_subscribers, topic_ids = shape.num_subscribers, numbered_ids("t", 0, len(rates))

    with whole_directory(Path(out), marker=INGEST, replace=replace) as staging:

        def write_events(file: int) -> None:
            first, last = file * EVENTS_PER_FILE, min(num_events, (file + 1) * EVENTS_PER_FILE)
            generator = draws(seed, f"{name}/events", file)
            events = generator.permutation(np.arange(first, last))
            topics = np.searchsorted(ends, events, side="right")
            table = {
                "topic": topic_ids.take(pa.array(topics)),
                "timestamp": pa.array(generator.integers(start, end, len(events)), pa.timestamp("us", "UTC")),
                "size": pa.array(np.full(len(events), MESSAGE_BYTES, dtype=np.int64)),
            }
            write_block(staging / "events", file, pa.table(table), is_repetitive=True)

        def write_subscriptions(block: int) -> None:
            offsets, topics = draw(block)
            order = draws(seed, f"{name}/subscriptions", block).permutation(len(topics))
            first, last = block_range(block, num_subscribers)
            rows = np.repeat(np.arange(last - first), np.diff(offsets))[order]
            table = {
                "subscriber": numbered_ids("s", first, last).take(pa.array(rows)),
                "topic": topic_ids.take(pa.array(topics[order])),
            }
            write_block(staging / "subscriptions", block, pa.table(table), is_repetitive=True)

        def write_rates(block: int) -> None:
            first, last = block_range(block, len(rates))
            sizes = np.full(last - first, MESSAGE_BYTES, dtype=np.int64)
            table = {"topic": topic_ids[first:last], "rate": rates[first:last], "size": sizes}
            write_block(staging / "rates", block, pa.table(table))

        traffic = ("events", write_events, num_files) if with_events else ("rates", write_rates, num_blocks(len(rates)))
        for what, work, number in (traffic, ("subscriptions", write_subscriptions, num_blocks(num_subscribers))):
            with stage(f"writing {what}", number) as advance:
                for _ in map_blocks(work, number, spark):
                    advance(1)
        write_text(staging / INGEST, _options(shape.window))


def _options(window: Window) -> str:
    lines = ["# Options for pubplan ingest, which make this raw trace a workload again.", "[ingest]"]
    if window.start:
        lines += [f'window-start = "{window.start}"', f'window-end = "{window.end}"']
    else:
        lines += ["timeless = true"]
    return "\n".join(lines) + "\n"


def _micros(moment: str | None) -> int:
    return int(datetime.fromisoformat(str(moment)).timestamp() * 1_000_000)
