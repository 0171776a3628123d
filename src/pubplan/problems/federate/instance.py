"""What methods and bounds read of a workload, as arrays, when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pubplan.arguments import argument, function
from pubplan.engine import MAX_INT64, READING, block_range, exact_dot, exact_sum, map_blocks, stage
from pubplan.errors import InputError
from pubplan.planning.packing import MAX_PROVEN_CLIENTS, Packing, search_packing
from pubplan.problems.federate.channels import Channels, cut_space
from pubplan.workload import ContentWorkload, Int32Array, Int64Array, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

FORBIDDEN = -1
"""The price to a broker that a client may not use."""


@dataclass(frozen=True)
class Shortage:
    """Clients that do not fit the brokers that they may use: one of them, or several together.

    Attributes:
        client_id: of a client that is too large for each of its brokers; None where several are meant.
        brokers: the ids of the brokers that they may use; None for all.
        is_packing: whether there is room for all of them together, but not for each as a whole.
    """

    clients: int
    demand: int
    capacity: int
    client_id: str | None = None
    brokers: tuple[str, ...] | None = None
    is_packing: bool = False


class Matrices(NamedTuple):
    """What an attachment means for brokers, by channel (row) and broker: clients that want it, messages published."""

    subscribers: Int32Array
    traffic: Int64Array

    @classmethod
    def empty(cls, num_channels: int, num_brokers: int) -> Matrices:
        shape = (num_channels, num_brokers)
        return cls(np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int64))


@dataclass(frozen=True)
class _ClientRows:
    """Clients of a block: sites, channels that they want, messages by channel, and brokers that they may use."""

    sites: Int32Array
    wanted_offsets: Int64Array
    wanted: Int32Array
    published_offsets: Int64Array
    published: Int32Array
    counts: Int64Array
    allowed: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True)
class _Clients:
    """All clients, and by channel how many want it."""

    wanted_offsets: Int64Array
    wanted: Int32Array
    published_offsets: Int64Array
    published: Int32Array
    counts: Int64Array
    group: Int32Array
    group_sites: Int32Array
    allowed_sets: tuple[tuple[int, ...] | None, ...]
    group_sets: Int32Array
    subscribers: Int64Array


class Instance:
    """Clients, what they send and want by channel, prices and capacities; every part is read once."""

    def __init__(self, workload: ContentWorkload, channels: int | str, cut: str) -> None:
        self._workload = workload
        self._asked = channels
        self._cut = cut

    def load(self, spark: SparkSession | None) -> None:
        """Read the clients as Spark tasks, if that was not done before."""
        if "_clients" not in self.__dict__:
            self.__dict__["_clients"] = _read_clients(self._workload, self.channels, spark)

    def require_publications(self) -> None:
        """Refuse a workload that does not say what its clients publish.

        Raises:
            InputError: it does not.
        """
        if self._workload.density is None or "counts" not in self._workload.optional_columns:
            raise InputError(
                f"{self._workload.path} does not say what its clients publish. Give messages that name their client."
            )

    @cached_property
    def channels(self) -> Channels:
        """How the content space is cut.

        Raises:
            InputError: the workload does not say what is published.
        """
        self.require_publications()
        density = self._workload.density
        assert density is not None
        return cut_space(self._workload.space, density, self._asked, self._cut)

    @cached_property
    def _clients(self) -> _Clients:
        return _read_clients(self._workload, self.channels, None)

    @property
    def num_clients(self) -> int:
        return self._workload.counts.clients

    @property
    def num_brokers(self) -> int:
        return self._workload.counts.brokers

    @property
    def num_channels(self) -> int:
        return self.channels.number

    @property
    def wanted_offsets(self) -> Int64Array:
        """Where the channels that each client wants begin in ``wanted``."""
        return self._clients.wanted_offsets

    @property
    def wanted(self) -> Int32Array:
        return self._clients.wanted

    @property
    def published_offsets(self) -> Int64Array:
        """Where the channels that each client publishes in, for others, begin in ``published`` and ``counts``."""
        return self._clients.published_offsets

    @property
    def published(self) -> Int32Array:
        return self._clients.published

    @property
    def counts(self) -> Int64Array:
        """Beside ``published``, messages per window that somebody else wants."""
        return self._clients.counts

    @property
    def subscribers(self) -> Int64Array:
        """How many clients want each channel."""
        return self._clients.subscribers

    @cached_property
    def messages(self) -> Int64Array:
        """Messages per window in each channel that somebody wants."""
        totals = np.zeros(self.num_channels, dtype=np.int64)
        np.add.at(totals, self.published, self.counts)
        return totals

    @cached_property
    def sent(self) -> Int64Array:
        """Messages that each client sends to its broker."""
        return _sums(self.counts, self.published_offsets)

    @cached_property
    def demand(self) -> Int64Array:
        """Messages that each client sends to and receives from its broker."""
        received = _sums(self.messages[self.wanted], self.wanted_offsets)
        row = np.repeat(np.arange(self.num_clients), np.diff(self.published_offsets))
        # What a client publishes in channels that it wants does not come back to it.
        keys = row * self.num_channels + self.published
        wanting = np.repeat(np.arange(self.num_clients), np.diff(self.wanted_offsets)) * self.num_channels + self.wanted
        is_wanted = wanting[np.minimum(np.searchsorted(wanting, keys), max(0, len(wanting) - 1))] == keys
        returning = np.zeros(self.num_clients, dtype=np.int64)
        if len(wanting):
            np.add.at(returning, row[is_wanted], self.counts[is_wanted])
        demand: Int64Array = self.sent + received - returning
        return demand

    @property
    def group(self) -> Int32Array:
        """For every client its group: clients of a site that may use the same brokers."""
        return self._clients.group

    @cached_property
    def group_prices(self) -> Int64Array:
        """What a message costs between the clients of a group (row) and a broker (column); -1 where it is forbidden.

        Raises:
            InputError: the workload has no prices.
        """
        prices = self._workload.site_prices
        if prices is None:
            raise InputError(
                f"{self._workload.path} has no prices between sites and brokers. Give {argument('prices')}, or "
                f"{argument('price_per_distance')}, to {function('ingest')}."
            )
        matrix = prices[self._clients.group_sites].astype(np.int64)
        for number, some in enumerate(self._clients.allowed_sets):
            if some is not None:
                is_forbidden = np.ones(self.num_brokers, dtype=np.bool_)
                is_forbidden[list(some)] = False
                matrix[np.ix_(self._clients.group_sets == number, is_forbidden)] = FORBIDDEN
        return matrix

    @cached_property
    def link_prices(self) -> Int64Array:
        """What a message costs between two brokers.

        Raises:
            InputError: the workload has no such prices.
        """
        prices = self._workload.link_prices
        if prices is None:
            raise InputError(
                f"{self._workload.path} has no prices between brokers. Give {argument('links')}, or "
                f"{argument('price_per_distance')}, to {function('ingest')}."
            )
        return prices

    @cached_property
    def capacities(self) -> Int64Array:
        """Messages that the clients of every broker may send and receive; brokers without a limit take anything."""
        given = self._workload.brokers.capacities
        return np.where(given > 0, given, MAX_INT64 // 2)

    def largest_cost(self, cost: str) -> int:
        """What no plan can cost more than, with room for partial sums."""
        links = int(self.link_prices.max(initial=0)) * max(1, self.num_brokers - 1)
        access = exact_dot(self.demand, np.maximum(self.group_prices.max(axis=1, initial=0), 0)[self.group])
        copies = self.subscribers if cost == "replicating" else np.ones_like(self.subscribers)
        return access + 2 * links * exact_dot(self.messages, copies)

    def shortages(self, most: int) -> list[Shortage]:
        """Proofs that no plan keeps the capacities; at most this many of them, none where there is no such proof."""
        capacities, demand = self.capacities, self.demand
        ids = self._workload.brokers.ids
        shortages: list[Shortage] = []
        sets = self._clients.group_sets[self.group]
        for number, some in enumerate(self._clients.allowed_sets):
            members = np.flatnonzero(sets == number)
            usable = np.arange(self.num_brokers) if some is None else np.array(some, dtype=np.int64)
            largest = int(capacities[usable].max(initial=-1))
            for client in members[demand[members] > largest][: most - len(shortages)].tolist():
                name = self._workload.client_id(client)
                shortages.append(Shortage(1, int(demand[client]), max(0, largest), name))
            # Everybody whose brokers are among these must fit into them together.
            inside = [
                other
                for other, brokers in enumerate(self._clients.allowed_sets)
                if some is None or (brokers is not None and set(brokers) <= set(some))
            ]
            together = np.isin(sets, inside)
            total, room = exact_sum(demand[together]), exact_sum(capacities[usable])
            if total > room and len(shortages) < most:
                names = None if some is None else tuple(ids[int(broker)].as_py() for broker in usable)
                shortages.append(Shortage(int(together.sum()), total, room, None, names))
        has_limits = bool(self._workload.brokers.capacities.any())
        is_provable = not shortages and has_limits and self.num_clients <= MAX_PROVEN_CLIENTS
        if is_provable and self.search_packing().is_impossible:
            shortages.append(Shortage(self.num_clients, exact_sum(demand), exact_sum(capacities), is_packing=True))
        return shortages

    def matrices(self, brokers: Int32Array, spark: SparkSession | None) -> Matrices:
        """Subscribers and traffic by channel and broker, counted block by block, in this process or on Spark."""
        workload, channels, subscribers = self._workload, self.channels, self.subscribers
        shape = (self.num_channels, self.num_brokers)

        def count(block: int) -> Matrices:
            rows = _read_rows(workload, channels, block)
            first, last = block_range(block, workload.counts.clients)
            homes, counted = brokers[first:last], Matrices.empty(*shape)
            np.add.at(counted.subscribers, (rows.wanted, np.repeat(homes, np.diff(rows.wanted_offsets))), 1)
            is_kept = _is_wanted_by_others(
                rows.wanted_offsets, rows.wanted, rows.published_offsets, rows.published, subscribers
            )
            senders = np.repeat(homes, np.diff(rows.published_offsets))[is_kept]
            np.add.at(counted.traffic, (rows.published[is_kept], senders), rows.counts[is_kept])
            return counted

        total = Matrices.empty(*shape)
        for block in map_blocks(count, workload.num_blocks, spark):
            np.add(total.subscribers, block.subscribers, out=total.subscribers)
            np.add(total.traffic, block.traffic, out=total.traffic)
        return total

    def search_packing(self) -> Packing:
        """Attach clients within capacities, whatever it costs."""
        is_allowed = self.group_prices != FORBIDDEN
        offsets = np.concatenate([[0], np.cumsum(is_allowed.sum(axis=1))]).astype(np.int64)
        candidates = np.nonzero(is_allowed)[1].astype(np.int32)
        return search_packing(self.demand, self.group, offsets, candidates, self.capacities)


def _sums(values: Int64Array, offsets: Int64Array) -> Int64Array:
    running = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    sums: Int64Array = running[offsets[1:]] - running[offsets[:-1]]
    return sums


def _read_clients(workload: ContentWorkload, channels: Channels, spark: SparkSession | None) -> _Clients:
    """Read all clients block by block, and leave out what nobody else wants."""

    def read(block: int) -> _ClientRows:
        return _read_rows(workload, channels, block)

    with stage("reading clients", key=READING):
        rows = list(map_blocks(read, workload.num_blocks, spark))
    return _together(rows, channels.number)


def _read_rows(workload: ContentWorkload, channels: Channels, block: int) -> _ClientRows:
    """The clients of a block."""
    columns, clients = workload.optional_columns, workload.read_clients(block)
    wanted_offsets, wanted = channels.subscribed(clients.lows, clients.highs, workload.space.cell_widths)
    published_offsets, published, counts = _by_channel(*workload.read_publications(block), channels)
    allowed = None
    if "weight" in columns and (workload.client_block(block, "weight")["weight"].to_numpy() != 1).any():
        raise InputError(f"{workload.path}: clients of federate stand for themselves; their weights must be 1.")
    if "allowed" in columns:
        offsets, values = list_column(workload.client_block(block, "allowed"), "allowed")
        listed = values.tolist()
        allowed = tuple(
            tuple(listed[first:last]) for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        )
    return _ClientRows(clients.sites, wanted_offsets, wanted, published_offsets, published, counts, allowed)


def _by_channel(
    offsets: Int64Array, cells: Int32Array, counts: Int64Array, channels: Channels
) -> tuple[Int64Array, Int32Array, Int64Array]:
    """Messages of clients by channel instead of by cell, without zeros."""
    number, num_clients = channels.number, len(offsets) - 1
    keys = np.repeat(np.arange(num_clients), np.diff(offsets)) * number + channels.of_cell[cells]
    if len(keys) and (np.diff(keys) < 0).any():
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    sums = np.add.reduceat(counts, starts) if len(starts) else np.empty(0, np.int64)
    keys, sums = keys[starts][sums > 0], sums[sums > 0]
    bounds = np.searchsorted(keys, np.arange(num_clients + 1) * number)
    return bounds.astype(np.int64), (keys % number).astype(np.int32), sums.astype(np.int64)


def _together(blocks: list[_ClientRows], num_channels: int) -> _Clients:
    wanted_offsets, wanted = _joined([(rows.wanted_offsets, rows.wanted) for rows in blocks])
    published_offsets, published = _joined([(rows.published_offsets, rows.published) for rows in blocks])
    counts = np.concatenate([np.empty(0, np.int64), *(rows.counts for rows in blocks)])
    sites = np.concatenate([np.empty(0, np.int32), *(rows.sites for rows in blocks)])
    subscribers = np.bincount(wanted, minlength=num_channels).astype(np.int64)
    # A publication is dropped where nobody wants the channel, or only the publisher itself.
    is_kept = _is_wanted_by_others(wanted_offsets, wanted, published_offsets, published, subscribers)
    kept = np.concatenate([[0], np.cumsum(is_kept)])
    lists = [rows.allowed for rows in blocks if rows.allowed is not None]
    allowed = [row for rows in lists for row in rows] if lists else None
    group, group_sites, sets, group_sets = _groups(sites, allowed)
    return _Clients(
        wanted_offsets,
        wanted,
        kept[published_offsets].astype(np.int64),
        published[is_kept],
        counts[is_kept],
        group,
        group_sites,
        sets,
        group_sets,
        subscribers,
    )


def _is_wanted_by_others(
    wanted_offsets: Int64Array,
    wanted: Int32Array,
    published_offsets: Int64Array,
    published: Int32Array,
    subscribers: Int64Array,
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For every channel that some clients publish in, whether anybody but the publisher subscribes to it.

    Args:
        subscribers: of each channel, all clients counted.
    """
    num_clients, num_channels = len(wanted_offsets) - 1, len(subscribers)
    keys = np.repeat(np.arange(num_clients), np.diff(published_offsets)) * num_channels + published
    wanting = np.repeat(np.arange(num_clients), np.diff(wanted_offsets)) * num_channels + wanted
    itself = np.zeros(len(keys), dtype=np.int64)
    if len(wanting):
        itself = (wanting[np.minimum(np.searchsorted(wanting, keys), len(wanting) - 1)] == keys).astype(np.int64)
    is_wanted: np.ndarray[tuple[int], np.dtype[np.bool_]] = subscribers[published] > itself
    return is_wanted


def _joined(parts: list[tuple[Int64Array, Int32Array]]) -> tuple[Int64Array, Int32Array]:
    """Rows of several blocks under each other."""
    sizes = [np.diff(offsets) for offsets, _ in parts]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]))]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int32), *(values for _, values in parts)])


def _groups(
    sites: Int32Array, allowed: list[tuple[int, ...]] | None
) -> tuple[Int32Array, Int32Array, tuple[tuple[int, ...] | None, ...], Int32Array]:
    """Groups of clients with the same site and the same brokers to choose from: of every client; of groups, the site
    and the set of brokers; and the sets, None for all.
    """
    sets: tuple[tuple[int, ...] | None, ...] = (None,)
    set_of_client = np.zeros(len(sites), dtype=np.int64)
    if allowed is not None:
        numbers: dict[tuple[int, ...], int] = {}
        set_of_client = np.array([numbers.setdefault(some, len(numbers)) for some in allowed], dtype=np.int64)
        sets = tuple(numbers)
    keys, group = np.unique(sites.astype(np.int64) * len(sets) + set_of_client, return_inverse=True)
    return (
        group.reshape(-1).astype(np.int32),
        (keys // len(sets)).astype(np.int32),
        sets,
        (keys % len(sets)).astype(np.int32),
    )
