"""What methods and bounds read of a workload, as arrays, when they are first asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import BLOCK_ROWS, READING, map_blocks, stage
from pubplan.errors import InputError
from pubplan.planning.packing import MAX_PROVEN_CLIENTS, search_packing
from pubplan.problems.assign.kernels.measures import Measure
from pubplan.workload import (
    MAX_VOLUME,
    Balance,
    Candidates,
    ContentWorkload,
    Groups,
    Hop,
    Int32Array,
    Int64Array,
    balance,
    candidates_of,
    capacities_at,
    read_groups,
    site_latencies,
)

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Unreached:
    """Clients of a group that no leaf can serve: one of them, how many, what they accept, the nearest leaf allowed."""

    client_id: str
    site_id: str
    clients: int
    limit_us: int
    nearest_us: int | None


@dataclass(frozen=True)
class Overweight:
    """A client that no leaf can serve as a whole: its weight, and the most that one of its leaves may serve."""

    client_id: str
    weight: int
    largest: int


@dataclass(frozen=True)
class _Rectangles:
    """The distinct rectangles in ascending order, and which of them each client subscribes to."""

    of_client: Int32Array
    lows: Int64Array
    highs: Int64Array


class Instance:
    """Clients, groups, brokers and the measure of boxes; every part is read once."""

    def __init__(self, workload: ContentWorkload, max_delay: int | float | str | None, hop: Hop) -> None:
        self._workload = workload
        self._max_delay = None if max_delay is None else str(max_delay)
        self._hop: Hop = hop

    def load(self, spark: SparkSession | None) -> None:
        """Read the clients as Spark tasks, if that was not done before."""
        if "groups" not in self.__dict__:
            self.__dict__["groups"] = read_groups(self._workload, self._max_delay, self._hop, spark)
        if "_rectangles" not in self.__dict__:
            self.__dict__["_rectangles"] = _read_rectangles(self._workload, spark)

    @cached_property
    def groups(self) -> Groups:
        return read_groups(self._workload, self._max_delay, self._hop)

    @cached_property
    def _rectangles(self) -> _Rectangles:
        return _read_rectangles(self._workload, None)

    @cached_property
    def _candidates(self) -> Candidates:
        return candidates_of(self._workload, self.groups, self._hop)

    @property
    def num_clients(self) -> int:
        return self._workload.counts.clients

    @property
    def num_brokers(self) -> int:
        return self._workload.counts.brokers

    @property
    def dims(self) -> int:
        """The number of attributes."""
        return self._workload.space.num_dimensions

    @property
    def rectangle(self) -> Int32Array:
        """For every client its rectangle, as a row of ``lows`` and ``highs``."""
        return self._rectangles.of_client

    @property
    def lows(self) -> Int64Array:
        return self._rectangles.lows

    @property
    def highs(self) -> Int64Array:
        return self._rectangles.highs

    @property
    def group(self) -> Int32Array:
        """For every client its group."""
        return self.groups.of_client

    @property
    def candidate_offsets(self) -> Int64Array:
        """Where the leaves that may serve each group begin in ``candidates``."""
        return self._candidates.offsets

    @property
    def candidates(self) -> Int32Array:
        return self._candidates.brokers

    @property
    def latencies(self) -> Int64Array:
        """Beside ``candidates``, the latency in us."""
        return self._candidates.latencies

    @cached_property
    def weights(self) -> Int64Array:
        """How many clients each stands for."""
        if not self.has_weights:
            return np.broadcast_to(np.int64(1), self.num_clients)
        return self._workload.column("clients", "weight")

    @property
    def parents(self) -> Int32Array:
        return self._workload.brokers.parents

    @property
    def leaves(self) -> Int32Array:
        return self._workload.brokers.leaves

    @property
    def shares(self) -> Int64Array:
        return self._workload.brokers.shares

    @property
    def levels(self) -> Int32Array:
        return self._workload.brokers.levels

    def capacity(self, factor: Fraction) -> Int64Array:
        """What every broker may serve at a load factor; 0 for inner brokers."""
        return capacities_at(factor, self.shares, self.groups.total_weight)

    @cached_property
    def balance(self) -> Balance:
        """The most even assignment of groups to leaves."""
        return balance(self._candidates, self.groups.weights, self.shares)

    @property
    def least_load_factor(self) -> Fraction:
        """What no assignment stays below."""
        return self.balance.factor

    @property
    def has_weights(self) -> bool:
        """Whether clients may weigh more than 1."""
        return "weight" in self._workload.optional_columns

    def overweight(self, factor: Fraction, most: int) -> tuple[int, list[Overweight]]:
        """How many clients weigh more than any of their leaves may serve at a load factor, and the first of them."""
        offsets, limits = self.candidate_offsets, self.capacity(factor)
        largest = np.zeros(len(offsets) - 1, dtype=np.int64)
        np.maximum.at(largest, np.repeat(np.arange(len(largest)), np.diff(offsets)), limits[self.candidates])
        clients = np.flatnonzero(self.weights > largest[self.group])
        named = [
            Overweight(self._workload.client_id(client), int(self.weights[client]), int(largest[self.group[client]]))
            for client in clients[:most].tolist()
        ]
        return len(clients), named

    def cannot_be_packed(self, factor: Fraction) -> bool:
        """Whether it is proven that clients, each as a whole, do not fit leaves at a load factor."""
        if self.num_clients > MAX_PROVEN_CLIENTS:
            return False
        candidates = self._candidates
        packing = search_packing(
            self.weights, self.group, candidates.offsets, candidates.brokers, self.capacity(factor)
        )
        return packing.is_impossible

    @cached_property
    def measure(self) -> Measure:
        """How boxes are measured: by volume, or by the messages that are published in them.

        Raises:
            InputError: messages times volume are more than 64 bits can add up.
        """
        space, density = self._workload.space, self._workload.density
        widths = np.array(space.cell_widths, dtype=np.int64)
        if density is None:
            return Measure(np.ones(self.dims, dtype=np.int64), widths, np.empty(0, dtype=np.int64))
        total = sum(density.reshape(-1).tolist()) * math.prod(space.cell_widths)
        if total > MAX_VOLUME:
            raise InputError(
                f"{self._workload.path}: messages times the steps of a cell are {total:,}, more than 2^52. "
                "Use a coarser grid or more cells."
            )
        prefix = np.zeros(tuple(cells + 1 for cells in density.shape), dtype=np.int64)
        prefix[(slice(1, None),) * density.ndim] = density
        for axis in range(density.ndim):
            np.cumsum(prefix, axis=axis, out=prefix)
        return Measure(np.array(density.shape, dtype=np.int64), widths, prefix.reshape(-1))

    @property
    def scale(self) -> int:
        """What measures are divided by: the volume of a cell where there is a density."""
        return 1 if self._workload.space.cells is None else math.prod(self._workload.space.cell_widths)

    def unreached(self, most: int) -> tuple[int, list[Unreached]]:
        """How many clients no leaf can serve, and the largest groups of them, at most ``most``."""
        groups, workload = self.groups, self._workload
        clients = np.bincount(self.group, minlength=groups.num_groups)
        lonely = np.flatnonzero((np.diff(self.candidate_offsets) == 0) & (clients > 0))
        number = int(clients[lonely].sum())
        lonely = lonely[np.argsort(-clients[lonely], kind="stable")][:most]
        latencies, leaves = site_latencies(workload, self._hop), workload.brokers.leaves
        unreached = []
        for group in lonely.tolist():
            is_allowed = workload.brokers.shares[leaves] > 0
            if groups.masks[group] >= 0:
                is_allowed &= groups.allowed[groups.masks[group], leaves]
            nearest = latencies[groups.sites[group], is_allowed]
            client = int(np.argmax(self.group == group))
            block, row = divmod(client, BLOCK_ROWS)
            unreached.append(
                Unreached(
                    workload.client_block(block, "client_id")["client_id"][row].as_py(),
                    workload.site_ids[int(groups.sites[group])].as_py(),
                    int(clients[group]),
                    int(groups.limits[group]),
                    int(nearest.min()) if len(nearest) else None,
                )
            )
        return number, unreached


def _read_rectangles(workload: ContentWorkload, spark: SparkSession | None) -> _Rectangles:
    """The distinct rectangles of a workload, block by block, in this process or on Spark."""

    def read(block: int) -> tuple[Int32Array, Int32Array]:
        clients = workload.read_clients(block)
        distinct, inverse = np.unique(np.column_stack([clients.lows, clients.highs]), axis=0, return_inverse=True)
        return distinct, inverse.reshape(-1).astype(np.int32)

    blocks = []
    with stage("reading subscriptions", workload.num_blocks, key=READING) as advance:
        for block in map_blocks(read, workload.num_blocks, spark):
            blocks.append(block)
            advance(1)
    dims = workload.space.num_dimensions
    corners = np.concatenate([np.empty((0, 2 * dims), np.int32), *(distinct for distinct, _ in blocks)])
    distinct, inverse = np.unique(corners, axis=0, return_inverse=True)
    positions = inverse.reshape(-1).astype(np.int32)
    starts = np.cumsum([0, *(len(rows) for rows, _ in blocks)])
    of_client = [positions[start + rows] for start, (_, rows) in zip(starts, blocks, strict=False)]
    wide = distinct.astype(np.int64)
    return _Rectangles(
        np.concatenate([np.empty(0, np.int32), *of_client]),
        np.ascontiguousarray(wide[:, :dims]),
        np.ascontiguousarray(wide[:, dims:]),
    )
