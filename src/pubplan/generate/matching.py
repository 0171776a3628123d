"""Who follows whom, as in the configuration model: a random permutation lets subscribers' slots meet topics' ends.

The permutation is computed, not stored, so every block of subscribers can be drawn by itself, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubplan.engine import block_range, map_blocks, num_blocks, random_stream
from pubplan.generate.kernels import match_rows, permute
from pubplan.workload import Int32Array, Int64Array

FloatArray = npt.NDArray[np.float64]

FEISTEL_ROUNDS = 6
_ENDS_PER_GUIDE_SHIFT = 6


@dataclass(frozen=True)
class Permutation:
    """A permutation of 0 … ``size`` - 1 that a seed and a purpose decide."""

    size: int
    keys: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, seed: int, purpose: str, size: int) -> Permutation:
        return cls(size, random_stream(seed, purpose).integers(0, 2**63, FEISTEL_ROUNDS, dtype=np.uint64))

    @property
    def half_bits(self) -> int:
        return max(1, ((self.size - 1).bit_length() + 1) // 2)

    def images(self, first: int, last: int) -> Int64Array:
        images = np.empty(last - first, dtype=np.int64)
        permute(first, self.keys, images, self.size, self.half_bits)
        return images


@dataclass(frozen=True)
class Followings:
    """How many topics each subscriber draws, and how many slots lie before each block.

    ``cumulated[k - 1]`` is the share of subscribers with at most k topics, ``quantiles(first, last, block)`` where in
    that law the subscribers of a block are.
    """

    num_subscribers: int
    cumulated: FloatArray
    quantiles: Callable[[int, int, int], FloatArray]
    slots_before: Int64Array

    @classmethod
    def of(
        cls, num_subscribers: int, cumulated: FloatArray, quantiles: Callable[[int, int, int], FloatArray]
    ) -> Followings:
        drawing = cls(num_subscribers, cumulated, quantiles, np.zeros(0, dtype=np.int64))
        totals = map_blocks(lambda block: int(drawing.block(block).sum()), num_blocks(num_subscribers))
        return cls(num_subscribers, cumulated, quantiles, np.cumsum([0, *totals]).astype(np.int64))

    @property
    def num_slots(self) -> int:
        return int(self.slots_before[-1])

    def block(self, block: int) -> Int64Array:
        first, last = block_range(block, self.num_subscribers)
        sizes = np.searchsorted(self.cumulated, self.quantiles(first, last, block))
        return np.minimum(sizes, len(self.cumulated) - 1) + 1


@dataclass(frozen=True)
class Matching:
    """Slot i of the subscribers meets the topic that owns end ``permutation(i)``.

    A topic owns as many ends as its ``popularity``, of as many as there are slots. Slots that repeat a topic are
    dropped, or with ``is_refilled`` drawn again: then every subscriber follows as many topics as drawn.
    """

    followings: Followings
    permutation: Permutation
    ends: Int64Array
    guide: Int32Array
    is_refilled: bool

    @classmethod
    def of(
        cls, seed: int, purpose: str, followings: Followings, popularity: Int64Array, *, is_refilled: bool = False
    ) -> Matching:
        permutation = Permutation.of(seed, purpose, followings.num_slots)
        ends = np.cumsum(popularity)
        buckets = np.arange(0, permutation.size, 1 << _ENDS_PER_GUIDE_SHIFT)
        guide = np.searchsorted(ends, buckets, side="right").astype(np.int32)
        return cls(followings, permutation, ends, guide, is_refilled)

    def draw(self, block: int) -> tuple[Int64Array, Int32Array]:
        counts = self.followings.block(block)
        offsets = np.empty(len(counts) + 1, dtype=np.int64)
        topics = np.empty(int(counts.sum()), dtype=np.int32)
        match_rows(
            self.ends,
            self.guide,
            self.permutation.keys,
            counts,
            offsets,
            topics,
            int(self.followings.slots_before[block]),
            self.permutation.half_bits,
            _ENDS_PER_GUIDE_SHIFT,
            self.is_refilled,
        )
        return offsets, topics[: offsets[-1]]
