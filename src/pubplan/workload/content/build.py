"""Small content workloads from plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, block_range, num_blocks
from pubplan.errors import InputError
from pubplan.files import atomic_directory
from pubplan.workload.content.kind import CONTENT
from pubplan.workload.content.links import MAX_LINK_PRICE, check_number, close_links
from pubplan.workload.content.publications import check_published, sum_by_cell
from pubplan.workload.content.space import Space
from pubplan.workload.content.tables import ragged
from pubplan.workload.content.tree import PUBLISHER, Brokers
from pubplan.workload.content.workload import ContentWorkload
from pubplan.workload.content.writer import Sites, finish_content_workload, write_clients_block
from pubplan.workload.manifest import MANIFEST, Window
from pubplan.workload.tables import INT32_LIST, INT64_LIST, Int32Array, Int64Array, sorted_ids
from pubplan.workload.workload import read_workload


@dataclass(frozen=True)
class Client:
    """A client: where it is and what it subscribes to.

    Attributes:
        box: the subscription, a range ``(low, high)`` of grid lines per attribute, without ``high``.
        limit: the latency that it accepts, in us.
        allowed: the brokers that it may use.
        weight: how many clients it stands for.
        publishes: messages per window by cell of the density.
    """

    site: str
    box: Sequence[tuple[int, int]]
    limit: int | None = None
    allowed: Sequence[str] | None = None
    weight: int | None = None
    publishes: Mapping[int, int] | None = None


@dataclass(frozen=True)
class Broker:
    """A broker: who feeds it (None: the publisher) after how many us, and what it can take."""

    parent: str | None = None
    latency: int = 0
    share: int = 0
    capacity: int = 0


@dataclass(frozen=True)
class _Numbers:
    """The numbers of ids, and a sentence for those that do not exist."""

    noun: str
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        if name not in self.numbers:
            raise InputError(f"There is no {self.noun} {name!r}.")
        return self.numbers[name]


def build_content_workload(
    out: str | Path,
    space: Space,
    clients: Mapping[str, Client],
    brokers: Mapping[str, Broker],
    latencies: Mapping[str, Mapping[str, int]],
    *,
    density: Sequence[int] | None = None,
    prices: Mapping[str, Mapping[str, int]] | None = None,
    links: Mapping[str, Mapping[str, int]] | None = None,
    window: Window | None = None,
    replace: bool = False,
) -> ContentWorkload:
    """Write a workload given as values by id, and open it. Meant for what fits on a page: examples, tests, notebooks.

    Args:
        out: the workload directory.
        space: the attributes of events.
        clients: by id; see ``pubplan.workload.Client``.
        brokers: by id; see ``pubplan.workload.Broker``.
        latencies: by site and broker, in us.
        density: messages per cell of the space; unless given, what clients publish.
        prices: of traffic between sites and brokers, by both, in micro-dollars per GB.
        links: the price of traffic between every two brokers, in one direction or both. Where traffic would be cheaper
            over other brokers, the price is that of the cheapest route, and ``manifest.sources`` says so.
        window: the time that messages are counted over.
        replace: overwrite the workload at ``out``.

    Raises:
        InputError: an id does not exist, a number is not whole or out of range, a rectangle is empty or leaves the
            space, a latency or a price is missing, only some clients have an optional value, clients publish more
            than the density has, or the brokers are not a tree.

    >>> from pubplan.workload import Attribute, Broker, Client, Space
    >>> space, ann = Space((Attribute("price", 12),)), Client("oslo", [(0, 2)])
    >>> built = pubplan.build_content_workload(
    ...     "built", space, {"ann": ann}, {"north": Broker(share=1)}, {"oslo": {"north": 10}}, replace=True
    ... )
    >>> built.summary()
    '1 client at 1 site, 1 broker (leaves: 1); events in price (12 steps)'
    """
    client_ids, broker_ids, site_ids = sorted_ids(clients), sorted_ids(brokers), sorted_ids(latencies)
    broker_numbers = _Numbers("broker", {name: number for number, name in enumerate(broker_ids)})
    site_numbers = _Numbers("site", {name: number for number, name in enumerate(site_ids)})
    for name, client in clients.items():
        _check_box(name, client, space)
    rows = [clients[name] for name in client_ids]
    optional = _optional(rows, broker_numbers, space)
    published = _published(rows, space)
    messages = published if density is None else np.array(density, dtype=np.int64)
    if published is not None and messages is not None and len(messages) == space.num_cells:
        check_published(published, messages)
    sites = Sites(
        pa.array(site_ids, pa.string()),
        _site_matrix("latency", site_ids, latencies, broker_ids),
        None if prices is None else _site_matrix("price", site_ids, prices, broker_ids),
    )
    broker_rows = _brokers(broker_ids, brokers, broker_numbers)
    source: dict[str, Any] = {"made": "by hand"}
    link_prices = None
    if links is not None:
        check_number(len(broker_ids))
        link_prices, closure = close_links(_link_matrix(broker_ids, links, broker_numbers), broker_rows.ids)
        if closure is not None:
            source["links_closed"] = closure.to_dict()

    with atomic_directory(Path(out), marker=MANIFEST, replace=replace) as staging:
        written = []
        for block in range(num_blocks(len(rows))):
            first, last = block_range(block, len(rows))
            boxes = np.array([client.box for client in rows[first:last]], dtype=np.int32)
            written.append(
                write_clients_block(
                    staging,
                    block,
                    pa.array(client_ids[first:last], pa.string()),
                    np.array([site_numbers[client.site] for client in rows[first:last]], dtype=np.int32),
                    boxes[:, :, 0],
                    boxes[:, :, 1],
                    {name: column(first, last) for name, column in optional.items()},
                )
            )
        finish_content_workload(
            staging,
            space=space,
            brokers=broker_rows,
            sites=sites,
            clients=written,
            window=window or Window(),
            sources=[source],
            density=messages,
            links=link_prices,
        )
    return read_workload(out, CONTENT)


def _whole(noun: str, value: object, least: int = 0, most: int = MAX_INT64) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(f"The {noun} is a whole number from {least} to {most}, not {value!r}.")
    return value


def _check_box(name: str, client: Client, space: Space) -> None:
    if len(client.box) != space.num_dimensions:
        raise InputError(f"The box of {name!r} has {len(client.box)} ranges; the space has {space.num_dimensions}.")
    for (low, high), steps in zip(client.box, space.extents, strict=True):
        if not 0 <= _whole(f"low corner of {name!r}", low) < _whole(f"high corner of {name!r}", high) <= steps:
            raise InputError(f"The box of {name!r} goes from {low} to {high}; it must be a range within 0 to {steps}.")


def _brokers(ids: list[str], brokers: Mapping[str, Broker], numbers: _Numbers) -> Brokers:
    rows = [brokers[name] for name in ids]
    columns = {
        noun: np.array([_whole(f"{noun} of a broker", getattr(row, noun)) for row in rows], dtype=np.int64)
        for noun in ("latency", "share", "capacity")
    }
    parents = [PUBLISHER if row.parent is None else numbers[row.parent] for row in rows]
    return Brokers(pa.array(ids, pa.string()), np.array(parents, dtype=np.int32), *columns.values())


def _site_matrix(
    noun: str, site_ids: list[str], given: Mapping[str, Mapping[str, int]], broker_ids: list[str]
) -> Int32Array:
    """Latencies or prices from every site (row) to every broker (column)."""
    others = sorted(set(given) ^ set(site_ids))
    if others:
        raise InputError(f"Every site needs a {noun} to every broker; {others[0]!r} is missing or unknown.")
    matrix = np.empty((len(site_ids), len(broker_ids)), dtype=np.int32)
    for row, site in enumerate(site_ids):
        unknown = sorted(set(given[site]) ^ set(broker_ids))
        if unknown:
            raise InputError(f"The site {site!r} needs a {noun} to every broker; {unknown[0]!r} is missing or unknown.")
        for column, broker in enumerate(broker_ids):
            matrix[row, column] = _whole(f"{noun} from {site!r} to {broker!r}", given[site][broker], 0, 2**31 - 1)
    return matrix


def _link_matrix(broker_ids: list[str], links: Mapping[str, Mapping[str, int]], numbers: _Numbers) -> Int64Array:
    """Prices between brokers as they are given, those of one direction also for the other."""
    matrix = np.full((len(broker_ids), len(broker_ids)), -1, dtype=np.int64)
    np.fill_diagonal(matrix, 0)
    given = [(one, other, price) for one, row in links.items() for other, price in row.items()]
    for one, other, price in given:
        checked = _whole(f"price between {one!r} and {other!r}", price, 0, MAX_LINK_PRICE)
        matrix[numbers[one], numbers[other]] = checked
    matrix = np.where(matrix < 0, matrix.T, matrix)
    missing = np.argwhere(matrix < 0)
    if len(missing):
        one, other = (broker_ids[number] for number in missing[0])
        raise InputError(f"Every two brokers need a price; the one between {one!r} and {other!r} is missing.")
    return matrix


def _published(rows: list[Client], space: Space) -> Int64Array | None:
    """What checked clients publish, by cell; None where that is not given."""
    if space.cells is None or not any(client.publishes is not None for client in rows):
        return None
    entries = [entry for client in rows for entry in (client.publishes or {}).items()]
    cells, counts = (np.array([entry[side] for entry in entries], dtype=np.int64) for side in (0, 1))
    return sum_by_cell(cells.astype(np.int32), counts, space.num_cells)


def _optional(rows: list[Client], brokers: _Numbers, space: Space) -> dict[str, Callable[[int, int], Any]]:
    """The optional columns that clients have, each as a function from a range of rows."""
    columns: dict[str, Callable[[int, int], Any]] = {}
    for name in ("limit", "weight"):
        values = [getattr(client, name) for client in rows]
        if _is_given(name, values):
            columns[name] = _numbers([_whole(f"{name} of a client", value) for value in values])
    if _is_given("list of allowed brokers", [client.allowed for client in rows]):
        allowed = [sorted({brokers[name] for name in client.allowed or ()}) for client in rows]
        columns["allowed"] = _lists(allowed, INT32_LIST)
    if _is_given("list of publications", [client.publishes for client in rows]):
        published = [sorted((client.publishes or {}).items()) for client in rows]
        for row in published:
            for cell, count in row:
                _whole("cell of a publication", cell, 0, space.num_cells - 1)
                _whole("number of messages", count)
        columns["cells"] = _lists([[cell for cell, _ in row] for row in published], INT32_LIST)
        columns["counts"] = _lists([[count for _, count in row] for row in published], INT64_LIST)
    return columns


def _is_given(noun: str, values: Sequence[object]) -> bool:
    is_given = [value is not None for value in values]
    if any(is_given) and not all(is_given):
        raise InputError(f"A {noun} must be given for every client or for none.")
    return any(is_given)


def _numbers(values: list[int]) -> Callable[[int, int], Any]:
    return lambda first, last: np.array(values[first:last], dtype=np.int64)


def _lists(rows: list[list[int]], kind: pa.DataType) -> Callable[[int, int], pa.Array]:
    def column(first: int, last: int) -> pa.Array:
        offsets = np.cumsum([0, *map(len, rows[first:last])]).astype(np.int64)
        return ragged(offsets, [value for row in rows[first:last] for value in row], kind)

    return column
