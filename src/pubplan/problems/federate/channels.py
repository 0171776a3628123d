"""Channels: the cells of the content space, put together to a few, in which traffic is counted and routed.

A channel is a box of whole cells. Along every attribute the cells are cut into ranges, either equally wide or with
about the same number of messages each; the channels are all combinations of such ranges, numbered with the last
attribute first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pubplan.errors import InputError
from pubplan.workload import Int32Array, Int64Array, Space

MAX_CHANNELS = 4096

CUTS = ("width", "traffic")


@dataclass(frozen=True)
class Channels:
    """How the content space is cut.

    Attributes:
        edges: along every attribute, the cells at which ranges begin, and the number of cells at the end.
        cells: how many cells there are along every attribute.
    """

    edges: tuple[tuple[int, ...], ...]
    cells: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many ranges there are along every attribute."""
        return tuple(len(edges) - 1 for edges in self.edges)

    @property
    def number(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def of_cell(self) -> Int32Array:
        """The channel of every cell."""
        ranges = [
            np.repeat(np.arange(len(edges) - 1), np.diff(edges)) * stride
            for edges, stride in zip(self.edges, self._strides, strict=True)
        ]
        total = ranges[0]
        for following in ranges[1:]:
            total = np.add.outer(total, following)
        return total.reshape(-1).astype(np.int32)

    @cached_property
    def _strides(self) -> tuple[int, ...]:
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    def subscribed(self, lows: Int32Array, highs: Int32Array, widths: Sequence[int]) -> tuple[Int64Array, Int32Array]:
        """The channels that rectangles touch, as offsets and channels in ascending order.

        Args:
            lows: the low corners in grid steps, a row per rectangle.
            highs: the high corners.
            widths: grid steps per cell and attribute.
        """
        firsts, extents = [], []
        for axis, edges in enumerate(self.edges):
            starts = np.array(edges[:-1], dtype=np.int64)
            first = np.searchsorted(starts, lows[:, axis].astype(np.int64) // widths[axis], side="right") - 1
            last = np.searchsorted(starts, (highs[:, axis].astype(np.int64) - 1) // widths[axis], side="right") - 1
            firsts.append(first)
            extents.append(last - first + 1)
        sizes = np.multiply.reduce(np.array(extents, dtype=np.int64), axis=0)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        row = np.repeat(np.arange(len(sizes)), sizes)
        rest = np.arange(offsets[-1]) - offsets[:-1][row]
        channels = np.zeros(len(row), dtype=np.int64)
        for axis in range(len(self.edges) - 1, -1, -1):
            rest, position = np.divmod(rest, extents[axis][row])
            channels += (firsts[axis][row] + position) * self._strides[axis]
        return offsets.astype(np.int64), channels.astype(np.int32)

    def boxes(self, widths: Sequence[int]) -> tuple[Int64Array, Int64Array]:
        """The corners of all channels in grid steps, a row per channel."""
        positions = np.unravel_index(np.arange(self.number), self.shape)
        corners = [
            np.column_stack(
                [
                    np.array(edges, dtype=np.int64)[position + shift] * width
                    for edges, position, width in zip(self.edges, positions, widths, strict=True)
                ]
            )
            for shift in (0, 1)
        ]
        return corners[0], corners[1]


def ranges_per_attribute(asked: int | str, cells: Sequence[int]) -> tuple[int, ...]:
    """How many ranges each attribute is cut into: those asked for, or as equal as possible with at most that many
    channels in all; never more than there are cells.

    Args:
        asked: a number of channels, or one per attribute such as ``10x5``.

    Raises:
        InputError: numbers are out of range, or not one per attribute.
    """
    if isinstance(asked, str):
        numbers = [int(text) for text in asked.split("x")]
        if len(numbers) != len(cells):
            raise InputError(f"Channels {asked} are for {len(numbers)} attributes; the space has {len(cells)}.")
        return tuple(min(number, most) for number, most in zip(numbers, cells, strict=True))
    numbers = [1] * len(cells)
    while True:
        growing = [
            axis
            for axis, most in enumerate(cells)
            if numbers[axis] < most and math.prod(numbers) // numbers[axis] * (numbers[axis] + 1) <= asked
        ]
        if not growing:
            return tuple(numbers)
        numbers[min(growing, key=lambda axis: (numbers[axis], axis))] += 1


def check_channels(asked: object) -> int | str:
    """A number of channels, or numbers per attribute as text.

    Raises:
        InputError: it is neither, or there are too many.
    """
    if isinstance(asked, str) and re.fullmatch(r"[0-9]{1,6}", asked):
        asked = int(asked)
    if isinstance(asked, str) and re.fullmatch(r"[1-9][0-9]{0,5}(x[1-9][0-9]{0,5})+", asked):
        number = math.prod(int(text) for text in asked.split("x"))
    elif isinstance(asked, int) and not isinstance(asked, bool):
        number = asked
    else:
        raise InputError(f"Channels are a number such as 50, or one per attribute such as 10x5, not {asked!r}.")
    if not 1 <= number <= MAX_CHANNELS:
        raise InputError(f"There are 1 to {MAX_CHANNELS:,} channels, not {number:,}.")
    assert isinstance(asked, (int, str))
    return asked


def cut_space(space: Space, density: Int64Array, asked: int | str, cut: str) -> Channels:
    """Cut the content space into channels.

    Args:
        density: messages per cell, with an axis per attribute.
        asked: see :func:`ranges_per_attribute`.
        cut: ``width`` for ranges of equally many cells, ``traffic`` for ranges with about as many messages each.
    """
    assert space.cells is not None
    numbers = ranges_per_attribute(asked, space.cells)
    edges = []
    for axis, number in enumerate(numbers):
        others = tuple(other for other in range(density.ndim) if other != axis)
        messages = density.sum(axis=others)
        edges.append(_by_traffic(messages, number) if cut == "traffic" else _by_width(len(messages), number))
    return Channels(tuple(edges), space.cells)


def _by_width(num_cells: int, number: int) -> tuple[int, ...]:
    return tuple(position * num_cells // number for position in range(number + 1))


def _by_traffic(messages: Int64Array, number: int) -> tuple[int, ...]:
    """Range k ends where k / number of all messages are passed; every range has at least one cell."""
    ends = np.cumsum(messages)
    total = int(ends[-1])
    if not total:
        return _by_width(len(messages), number)
    edges = [0]
    for position in range(1, number):
        passed = int(np.searchsorted(ends * number, position * total)) + 1
        edges.append(min(max(passed, edges[-1] + 1), len(messages) - (number - position)))
    return (*edges, len(messages))
