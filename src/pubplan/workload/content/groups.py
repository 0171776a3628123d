"""Groups of clients: those at the same site with the same latency limit and the same allowed brokers.

Which leaves may serve a client depends on its group alone, and groups are few where clients are many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from pubplan.engine import MAX_INT64, READING, exact_sum, map_blocks, stage
from pubplan.errors import InputError
from pubplan.workload.content.workload import ContentWorkload
from pubplan.workload.tables import Int32Array, Int64Array, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

BoolMatrix = npt.NDArray[np.bool_]

Hop = Literal["path", "last"]

UNLIMITED_US = MAX_INT64
"""The limit of a client that accepts any latency."""

MAX_WEIGHT = 2**31 - 1
"""What all clients weigh, at most: flows are computed with 32 bits."""

_MASK_CELLS = 1 << 26
"""How many (client, broker) pairs are held at once while lists of allowed brokers are compared."""


@dataclass(frozen=True)
class Groups:
    """Groups of clients, ascending by site, limit and allowed brokers.

    Attributes:
        of_client: the group of every client.
        weights: what the clients of each group weigh together; 1 each where the workload has no weights.
        sites: of each group.
        limits: the latency that each group accepts, in us; ``UNLIMITED_US`` for any.
        masks: the row of ``allowed`` of each group, or -1 where every broker is allowed.
        allowed: sets of allowed brokers as rows, with a column per broker.
    """

    of_client: Int32Array
    weights: Int64Array
    sites: Int32Array
    limits: Int64Array
    masks: Int32Array
    allowed: BoolMatrix

    @property
    def num_groups(self) -> int:
        return len(self.sites)

    @property
    def total_weight(self) -> int:
        return exact_sum(self.weights)


@dataclass(frozen=True)
class Candidates:
    """The leaves that may serve each group, ascending, as CSR, and the latency of each in us."""

    offsets: Int64Array
    brokers: Int32Array
    latencies: Int64Array

    def row(self, group: int) -> Int32Array:
        return self.brokers[self.offsets[group] : self.offsets[group + 1]]


def site_latencies(workload: ContentWorkload, hop: Hop) -> Int64Array:
    """Latencies in us of every site (row) to every leaf (column, as ``brokers.leaves`` has them)."""
    brokers = workload.brokers
    last_hop = workload.site_latencies[:, brokers.leaves].astype(np.int64)
    return last_hop + brokers.path_latencies[brokers.leaves] if hop == "path" else last_hop


def delay_limits(latencies: Int64Array, max_delay: str) -> Int64Array:
    """The latency that a delay allows at each site: the share ``max_delay`` more than its nearest leaf takes."""
    factor = 1 + Fraction(max_delay)
    nearest = latencies.min(axis=1).tolist()
    limits = [min(MAX_INT64, each * factor.numerator // factor.denominator) for each in nearest]
    return np.array(limits, dtype=np.int64)


def read_groups(
    workload: ContentWorkload, max_delay: str | None, hop: Hop = "path", spark: SparkSession | None = None
) -> Groups:
    """Read the clients of a workload as groups, block by block, in this process or on Spark.

    Args:
        max_delay: the longest delay as a decimal share, ``"none"`` for no limit, or None for the column ``limit``.

    Raises:
        InputError: limits, weights or allowed brokers are out of range, or clients weigh too much together.
    """
    site_limits = _site_limits(workload, max_delay, hop)
    read = _reader(workload, site_limits)
    blocks = []
    with stage("reading clients", workload.num_blocks, key=READING) as advance:
        for block in map_blocks(read, workload.num_blocks, spark):
            blocks.append(block)
            advance(1)
    keys = np.concatenate([np.empty((0, 2), np.int64), *(block.keys for block in blocks)])
    masks = np.concatenate(
        [np.empty((0, blocks[0].masks.shape[1] if blocks else 0), np.uint8), *(b.masks for b in blocks)]
    )
    distinct_masks, mask_of = _distinct_masks(masks)
    keys = np.column_stack([keys, mask_of])
    distinct, group_of = np.unique(keys, axis=0, return_inverse=True)
    group_of = group_of.reshape(-1).astype(np.int32)
    weights: Int64Array = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(weights, group_of, np.concatenate([np.empty(0, np.int64), *(block.weights for block in blocks)]))
    starts = np.cumsum([0, *(len(block.keys) for block in blocks)])
    of_client = [group_of[start + block.of_client] for start, block in zip(starts, blocks, strict=False)]
    groups = Groups(
        np.concatenate([np.empty(0, np.int32), *of_client]),
        weights,
        distinct[:, 0].astype(np.int32),
        distinct[:, 1],
        distinct[:, 2].astype(np.int32),
        np.unpackbits(distinct_masks, axis=1, count=workload.counts.brokers).astype(np.bool_),
    )
    if groups.total_weight > MAX_WEIGHT:
        raise InputError(f"{workload.path}: clients weigh {groups.total_weight:,} together, more than {MAX_WEIGHT:,}.")
    return groups


def candidates_of(workload: ContentWorkload, groups: Groups, hop: Hop = "path") -> Candidates:
    """The leaves that keep the limit of each group and that it may use; leaves without a share serve nobody."""
    brokers = workload.brokers
    latencies = site_latencies(workload, hop)
    is_serving = brokers.shares[brokers.leaves] > 0
    leaves = brokers.leaves[is_serving]
    columns, rows_latencies, counts = [], [], [np.zeros(0, dtype=np.int64)]
    step = max(1, _MASK_CELLS // max(1, len(leaves)))
    for first in range(0, groups.num_groups, step):
        some = slice(first, first + step)
        chunk = latencies[groups.sites[some]][:, is_serving]
        is_candidate = chunk <= groups.limits[some, None]
        masks = groups.masks[some]
        is_restricted = masks >= 0
        is_candidate[is_restricted] &= groups.allowed[masks[is_restricted]][:, leaves]
        rows, positions = np.nonzero(is_candidate)
        columns.append(leaves[positions])
        rows_latencies.append(chunk[rows, positions])
        counts.append(np.bincount(rows, minlength=len(chunk)).astype(np.int64))
    offsets: Int64Array = np.zeros(groups.num_groups + 1, dtype=np.int64)
    np.cumsum(np.concatenate(counts), out=offsets[1:])
    return Candidates(
        offsets,
        np.concatenate([np.empty(0, np.int32), *columns]),
        np.concatenate([np.empty(0, np.int64), *rows_latencies]),
    )


@dataclass(frozen=True)
class _BlockGroups:
    """The groups of one block: (site, limit) and packed masks of allowed brokers (no column where all are allowed)."""

    of_client: Int32Array
    weights: Int64Array
    keys: Int64Array
    masks: npt.NDArray[np.uint8]


def _site_limits(workload: ContentWorkload, max_delay: str | None, hop: Hop) -> Int64Array | None:
    """The limit of every site; None where every client has one."""
    if max_delay is None:
        return None
    if max_delay == "none":
        return np.full(workload.counts.sites, UNLIMITED_US, dtype=np.int64)
    return delay_limits(site_latencies(workload, hop), max_delay)


def _reader(workload: ContentWorkload, site_limits: Int64Array | None) -> Callable[[int], _BlockGroups]:
    columns = workload.optional_columns
    names = [
        name for name in ("limit", "allowed", "weight") if name in columns and (name != "limit" or site_limits is None)
    ]
    num_sites, num_brokers, path = workload.counts.sites, workload.counts.brokers, workload.path

    def read(block: int) -> _BlockGroups:
        table = workload.client_block(block, "site", *names)
        sites = table["site"].to_numpy()
        if len(sites) and (sites.min() < 0 or sites.max() >= num_sites):
            raise InputError(f"Block {block} of {path}/clients names sites that do not exist.")
        limits = table["limit"].to_numpy() if site_limits is None else site_limits[sites]
        weights = table["weight"].to_numpy() if "weight" in names else np.ones(len(sites), dtype=np.int64)
        if (limits < 0).any() or (weights < 0).any():
            raise InputError(f"Block {block} of {path}/clients has limits or weights below 0.")
        packed = np.empty((len(sites), 0), dtype=np.uint8)
        if "allowed" in names:
            offsets, brokers = list_column(table, "allowed")
            if len(brokers) and (brokers.min() < 0 or brokers.max() >= num_brokers):
                raise InputError(f"Block {block} of {path}/clients allows brokers that do not exist.")
            packed = _packed(offsets, brokers, num_brokers)
        keys = np.column_stack([sites.astype(np.int64), limits])
        whole = np.column_stack([keys.view(np.uint8).reshape(len(keys), 16), packed])
        _, first, inverse = np.unique(_as_bytes(whole), return_index=True, return_inverse=True)
        of_client = inverse.reshape(-1).astype(np.int32)
        by_group: Int64Array = np.zeros(len(first), dtype=np.int64)
        np.add.at(by_group, of_client, weights)
        return _BlockGroups(of_client, by_group, keys[first], packed[first])

    return read


def _packed(offsets: Int64Array, brokers: Int32Array, num_brokers: int) -> npt.NDArray[np.uint8]:
    """Lists of brokers as rows of bits."""
    rows = []
    step = max(1, _MASK_CELLS // num_brokers)
    for first in range(0, len(offsets) - 1, step):
        last = min(len(offsets) - 1, first + step)
        mask = np.zeros((last - first, num_brokers), dtype=np.bool_)
        members = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        mask[members, brokers[offsets[first] : offsets[last]]] = True
        rows.append(np.packbits(mask, axis=1))
    return np.concatenate([np.empty((0, -(-num_brokers // 8)), np.uint8), *rows])


def _as_bytes(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """Rows of bytes as single values, which sort and compare as the rows do."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).reshape(-1)


def _distinct_masks(masks: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], Int64Array]:
    """The distinct rows, and which of them each row is; -1 where there are no masks at all."""
    if masks.shape[1] == 0:
        return masks[:0], np.full(len(masks), -1, dtype=np.int64)
    _, first, mask_of = np.unique(_as_bytes(masks), return_index=True, return_inverse=True)
    return masks[first], mask_of.reshape(-1).astype(np.int64)
