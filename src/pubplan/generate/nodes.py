"""Nodes with a few dozen topics each: the settings of Chen, Vitenberg, Jacobsen, *Scaling Construction of Low Fan-out
Overlays for Topic-based Publish/Subscribe Systems* (ICDCS 2011), section VI.

A node wants between 10 and 90 topics unless another range is given, every number equally likely; it draws them one
after the other without replacement, topic i with probability proportional to q_i. The paper gives the range and the
kind of q_i; that sizes are uniform in the range is our reading, and so is the rate of the exponential q_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.arguments import argument
from pubplan.engine import block_range, random_stream
from pubplan.errors import InputError
from pubplan.generate.topic import TopicShape
from pubplan.workload import Int32Array, Int64Array

Sizes = tuple[int, int]

SIZES: Sizes = (10, 90)
"""The fewest and the most topics of a node."""

MAX_NODES, MAX_TOPICS = 999_999_999, 1_000_000
MAX_EXPONENT = 100
"""The largest exponent or rate of a distribution; beyond it every node would want the same first topics."""
_KEYS_PER_DRAW = 1 << 22


def nodes_shape(
    name: str,
    log_shares: npt.NDArray[np.float64],
    num_nodes: int,
    seed: int,
    sizes: Sizes,
    others: Mapping[str, Any] | None = None,
) -> TopicShape:
    """``num_nodes`` nodes that draw from topics with probabilities proportional to exp(``log_shares``).

    Args:
        others: parameters of the distribution that the manifest records.

    Raises:
        InputError: ``sizes`` is not a range of numbers from 1 on.
    """
    if not 1 <= sizes[0] <= sizes[1]:
        raise InputError(
            f"Topics per node are a range from at least 1, the smaller number first, not {sizes[0]} to {sizes[1]}."
        )
    num_topics = len(log_shares)
    drawing = _Drawing(name, seed, num_nodes, log_shares, sizes)
    parameters: dict[str, Any] = {"nodes": num_nodes, "topics": num_topics, "seed": seed}
    if sizes != SIZES:
        parameters["sizes"] = list(sizes)
    parameters |= others or {}
    return TopicShape(name, parameters, np.ones(num_topics, dtype=np.int64), num_nodes, drawing.draw)


def check_size(num_nodes: int, num_topics: int) -> None:
    if num_nodes < 1 or num_topics < 1:
        raise InputError(
            f"{argument('num_nodes')} and {argument('num_topics')} must be at least 1, "
            f"not {num_nodes} and {num_topics}."
        )
    if num_nodes > MAX_NODES or num_topics > MAX_TOPICS:
        raise InputError(f"At most {MAX_NODES:,} nodes and {MAX_TOPICS:,} topics can be drawn.")


def check_number(name: str, value: float) -> None:
    """Refuse an exponent or a rate that is negative, not a number, or absurdly large."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_EXPONENT:
        raise InputError(f"{argument(name)} is a number from 0 to {MAX_EXPONENT}, not {value}.")


@dataclass(frozen=True)
class _Drawing:
    name: str
    seed: int
    num_nodes: int
    log_shares: npt.NDArray[np.float64]
    sizes: Sizes

    def draw(self, block: int) -> tuple[Int64Array, Int32Array]:
        first, last = block_range(block, self.num_nodes)
        generator = random_stream(self.seed, f"{self.name}/interests", block)
        sizes = np.minimum(generator.integers(self.sizes[0], self.sizes[1] + 1, last - first), len(self.log_shares))
        num_rows = max(1, _KEYS_PER_DRAW // len(self.log_shares))
        topics = [self._topics(generator, sizes[start : start + num_rows]) for start in range(0, len(sizes), num_rows)]
        offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return offsets, np.concatenate(topics)

    def _topics(self, generator: np.random.Generator, sizes: Int64Array) -> Int32Array:
        """Topics of consecutive nodes, ascending in each.

        The k smallest of independent exponential times with rates q_i are k draws without replacement.
        """
        num_topics = len(self.log_shares)
        keys = np.log(generator.standard_exponential((len(sizes), num_topics))) - self.log_shares
        width = min(self.sizes[1], num_topics)
        # The smallest keys of every node first, as many as the largest node needs; then these in ascending order.
        if width < num_topics:
            smallest = np.argpartition(keys, width - 1, axis=1)[:, :width]
        else:
            smallest = np.broadcast_to(np.arange(num_topics), keys.shape)
        ranked = np.take_along_axis(smallest, np.argsort(np.take_along_axis(keys, smallest, axis=1), axis=1), axis=1)
        wanted = np.arange(width) < sizes[:, None]
        topics = np.sort(np.where(wanted, ranked, num_topics), axis=1)
        return topics[wanted].astype(np.int32)
