"""What every shape of synthetic workload is, and how one is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import block_range, map_blocks, num_blocks, stage, whole_directory
from pubplan.workload import (
    MANIFEST,
    Block,
    Int32Array,
    Int64Array,
    Window,
    Workload,
    finish_workload,
    numbered_ids,
    read_workload,
    write_interests_block,
)

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MESSAGE_BYTES = 200
"""The message size of Setty et al., *Cost-Effective Resource Allocation* (2014), for all their traces."""


@dataclass(frozen=True)
class Shape:
    """A synthetic workload before it is written.

    ``draw(block)`` gives the topics of one block of subscribers as CSR, ascending and without duplicates, and the
    same ones wherever it runs.
    """

    name: str
    parameters: Mapping[str, Any]
    rates: Int64Array
    num_subscribers: int
    draw: Callable[[int], tuple[Int64Array, Int32Array]]
    window: Window = field(default_factory=Window)


def generate(shape: Shape, out: str | Path, *, replace: bool = False, spark: SparkSession | None = None) -> Workload:
    """Write ``shape`` as a workload directory, block by block, and open it.

    Raises:
        InputError: ``out`` exists and ``replace`` was not asked for.
    """
    num_topics, num_rows, draw = len(shape.rates), shape.num_subscribers, shape.draw
    with whole_directory(Path(out), marker=MANIFEST, replace=replace) as staging:

        def write(block: int) -> tuple[Block, Int32Array, Int32Array]:
            offsets, topics = draw(block)
            ids = numbered_ids("s", *block_range(block, num_rows))
            entry = write_interests_block(staging, block, ids, offsets, topics)
            found, counts = np.unique(topics, return_counts=True)
            return entry, found, counts.astype(np.int32)  # they travel: as small as they can be

        subscribers = np.zeros(num_topics, dtype=np.int64)
        entries = []
        with stage(f"generating {shape.name}", num_blocks(num_rows)) as advance:
            for entry, topics, counts in map_blocks(write, num_blocks(num_rows), spark):
                entries.append(entry)
                subscribers[topics] += counts
                advance(1)
        finish_workload(
            staging,
            topic_ids=numbered_ids("t", 0, num_topics),
            rates=shape.rates,
            subscribers=subscribers,
            message_bytes=np.full(num_topics, MESSAGE_BYTES, dtype=np.int64),
            interests=entries,
            window=shape.window,
            sources=[{"generator": shape.name, **shape.parameters}],
        )
    return read_workload(out)
