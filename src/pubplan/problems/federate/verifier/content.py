"""Reads a workload by the definitions: channels, who wants and publishes what, prices and capacities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.engine import block_range
from pubplan.errors import InputError
from pubplan.problems.federate.problem import Problem
from pubplan.workload import Int64Array, list_column
from pubplan.workload.tables import int64_list_column

ROWS_AT_ONCE = 1 << 12

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Prices:
    """Prices and capacities of brokers; a capacity of 0 is no limit."""

    sites: Int64Array
    links: Int64Array
    capacities: Int64Array

    @property
    def num_brokers(self) -> int:
        return len(self.links)


@dataclass(frozen=True)
class Cut:
    """The channels: ranges of grid lines per attribute, as lists of where they begin, with the end of the space."""

    lines: tuple[tuple[int, ...], ...]

    @property
    def number(self) -> int:
        return math.prod(len(lines) - 1 for lines in self.lines)

    def boxes(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """The ranges of every channel, by number."""
        yield from itertools.product(*(tuple(itertools.pairwise(lines)) for lines in self.lines))


@dataclass(frozen=True)
class Rows:
    """Some clients in a row: whether they want each channel, what they publish in it, and where they are."""

    first: int
    wants: BoolArray
    published: Int64Array
    sites: Int64Array
    allowed: list[frozenset[int]] | None


def read_prices(problem: Problem) -> Prices:
    """Raises InputError where tables are missing or damaged."""
    workload = problem.workload
    number = workload.counts.brokers
    rows = []
    for table in workload.blocks("sites", "price"):
        offsets, values = list_column(table, "price")
        if (np.diff(offsets) != number).any():
            raise InputError(f"{workload.path}/sites does not have a price to each broker.")
        rows.append(values.astype(np.int64).reshape(-1, number))
    links: list[Int64Array] = []
    for table in workload.blocks("links", "prices"):
        offsets, wide = int64_list_column(table, "prices")
        if (np.diff(offsets) != number).any():
            raise InputError(f"{workload.path}/links does not have a price to each broker.")
        links.append(wide.reshape(-1, number))
    return Prices(np.concatenate(rows), np.concatenate(links), workload.column("brokers", "capacity").astype(np.int64))


def read_cut(problem: Problem) -> Cut:
    """Cut the space as the problem asks."""
    workload = problem.workload
    cells, steps = workload.space.cells, [attribute.steps for attribute in workload.space.attributes]
    if cells is None:
        raise InputError(f"{workload.path} does not count messages by cell.")
    numbers = _numbers(problem.channels, cells)
    density = workload.column("density", "messages").reshape(cells)
    lines = []
    for axis, (number, count, extent) in enumerate(zip(numbers, cells, steps, strict=True)):
        messages = density.sum(axis=tuple(other for other in range(len(cells)) if other != axis)).tolist()
        starts = [position * count // number for position in range(number)]
        if problem.cut == "traffic" and sum(messages):
            starts = [0]
            for position in range(1, number):
                # The first cell after which at least position / number of all messages are passed.
                passed, cell = 0, 0
                while passed * number < position * sum(messages):
                    passed += messages[cell]
                    cell += 1
                starts.append(min(max(cell, starts[-1] + 1), count - (number - position)))
        width = extent // count
        lines.append(tuple(start * width for start in [*starts, count]))
    return Cut(tuple(lines))


def _numbers(asked: int | str, cells: tuple[int, ...]) -> list[int]:
    """How many ranges each attribute has."""
    if isinstance(asked, str):
        return [min(int(text), most) for text, most in zip(asked.split("x"), cells, strict=True)]
    numbers = [1] * len(cells)
    while True:
        options = []
        for axis, most in enumerate(cells):
            more = [number + (position == axis) for position, number in enumerate(numbers)]
            if numbers[axis] < most and math.prod(more) <= asked:
                options.append((numbers[axis], axis, more))
        if not options:
            return numbers
        numbers = min(options)[2]


def read_rows(problem: Problem, cut: Cut, block: int) -> Iterator[Rows]:
    """The clients of a block, some at a time."""
    workload = problem.workload
    dims = len(cut.lines)
    corners = [f"{side}_{axis}" for side in ("low", "high") for axis in range(dims)]
    lists = [name for name in ("allowed",) if name in workload.column_names("clients")]
    table = workload.block("clients", block, "site", "cells", "counts", *corners, *lists)
    first, last = block_range(block, workload.counts.clients)
    if table.num_rows != last - first:
        raise InputError(f"Block {block} of {workload.path}/clients lacks clients.")
    lows = [table[name].to_numpy().astype(np.int64) for name in corners[:dims]]
    highs = [table[name].to_numpy().astype(np.int64) for name in corners[dims:]]
    offsets, cells = list_column(table, "cells")
    _, counts = int64_list_column(table, "counts")
    channel_of = _channel_of_cell(problem, cut)
    for start in range(0, last - first, ROWS_AT_ONCE):
        end = min(last - first, start + ROWS_AT_ONCE)
        wants = np.ones((end - start, 1), dtype=np.bool_)
        for axis, lines in enumerate(cut.lines):
            edges = np.array(lines, dtype=np.int64)
            touched = (edges[:-1] < highs[axis][start:end, None]) & (lows[axis][start:end, None] < edges[1:])
            wants = (wants[:, :, None] & touched[:, None, :]).reshape(end - start, -1)
        published = np.zeros((end - start, cut.number), dtype=np.int64)
        entries = slice(int(offsets[start]), int(offsets[end]))
        row = np.repeat(np.arange(end - start), np.diff(offsets[start : end + 1]))
        np.add.at(published, (row, channel_of[cells[entries]]), counts[entries])
        allowed = None
        if lists:
            allowed = [frozenset(some) for some in table["allowed"].slice(start, end - start).to_pylist()]
        yield Rows(first + start, wants, published, table["site"].to_numpy()[start:end].astype(np.int64), allowed)


def _channel_of_cell(problem: Problem, cut: Cut) -> Int64Array:
    """The channel of every cell: where its first grid line lies."""
    space: Any = problem.workload.space
    positions = np.unravel_index(np.arange(math.prod(space.cells)), space.cells)
    channel = np.zeros(math.prod(space.cells), dtype=np.int64)
    for position, lines, cells, attribute in zip(positions, cut.lines, space.cells, space.attributes, strict=True):
        line = position * (attribute.steps // cells)
        within = (line[:, None] >= np.array(lines[1:])).sum(axis=1)
        channel = channel * (len(lines) - 1) + within
    return channel
