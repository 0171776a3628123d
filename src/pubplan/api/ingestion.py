"""``ingest``: from raw traces to a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pubplan.api.session import lazy_spark
from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.files import check_disjoint, check_free
from pubplan.pipeline import (
    AttributeColumns,
    ContentIngest,
    DistancePrices,
    Grid,
    Ingest,
    Source,
    TimeWindow,
    content_source,
    parse_cells,
)
from pubplan.pipeline import ingest as run
from pubplan.pipeline import ingest_content as run_content
from pubplan.pipeline.source import Kind
from pubplan.pipeline.values import TimestampUnit
from pubplan.pipeline.wildcards import Syntax
from pubplan.workload import DEFAULT_MESSAGE_BYTES, MANIFEST, ContentWorkload, TopicWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

T = TypeVar("T")

CONTENT_SOURCES: tuple[Kind, ...] = ("clients", "brokers", "sites", "latencies", "prices", "links", "messages")
SOURCES: tuple[Kind, ...] = ("events", "rates", "subscriptions", "follows")
_ALTERNATIVES: tuple[tuple[Kind, Kind], ...] = (("events", "rates"), ("subscriptions", "follows"))


def ingest(
    out: str | Path,
    *,
    events: str | Path | None = None,
    rates: str | Path | None = None,
    subscriptions: str | Path | None = None,
    follows: str | Path | None = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    format: str | Mapping[str, str] | None = None,
    delimiter: str | Mapping[str, str] | None = None,
    quote: str | Mapping[str, str] | None = None,
    escape: str | Mapping[str, str] | None = None,
    encoding: str | Mapping[str, str] | None = None,
    header: bool | Mapping[str, bool] = True,
    multiline: bool | Mapping[str, bool] = False,
    options: Mapping[str, Mapping[str, str]] | None = None,
    event_id: str | None = None,
    timestamp_unit: TimestampUnit = "s",
    window_start: str | datetime | None = None,
    window_end: str | datetime | None = None,
    timeless: bool = False,
    message_bytes: int = DEFAULT_MESSAGE_BYTES,
    keep_unknown: bool = False,
    wildcards: Syntax | None = None,
    max_rejected: float = 0.05,
    replace: bool = False,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> TopicWorkload:
    """Read events or rates, and subscriptions or follows, clean them on Spark, and write a workload.

    What concerns the sources is one value for all of them or a mapping by source, such as
    ``format={"events": "csv", "subscriptions": "parquet"}``. Small local files, of up to 16 MB and a
    million interests, need no Spark unless ``master`` or ``conf`` ask for it; the workload is the same.

    Args:
        out: the workload directory; must not exist yet.
        events: a file, directory, glob or address of events: topic, timestamp, optional size.
        rates: ready rates instead: topic, rate, optional size and cost.
        subscriptions: subscriber and topic, optional weight and threshold.
        follows: a follow graph instead: follower, followee.
        columns: by source, from our column names to those of the table; an empty name leaves an optional one out.
        format: parquet, orc, csv, tsv, copy, json, or a format Spark has a connector for; None goes by file names.
        delimiter: between the fields of CSV.
        quote: around the fields of CSV; ``"none"`` if quotes mean nothing.
        escape: before a quote inside quotes; None if quotes are doubled.
        encoding: of text; None goes by the byte order mark, else UTF-8.
        header: whether CSV and TSV files begin with column names; without, their columns are ``_c0``, ``_c1``, …
        multiline: whether quoted fields of CSV may hold line breaks.
        options: by source, options for Spark's reader.
        event_id: the column by which events with the same id are counted once.
        timestamp_unit: of numeric timestamps: s, ms, us or ns.
        window_start: ISO 8601 or a datetime, in UTC unless it says otherwise; None is the first event.
        window_end: the same, exclusive; None is the last event.
        timeless: leave the window empty: the moments of the events mean nothing.
        message_bytes: the size of messages where none is given.
        keep_unknown: give topics that only subscriptions name the rate 0.
        wildcards: expand the wildcards of nats or mqtt subscriptions over the known topics.
        max_rejected: the largest share of rejected rows, per source, that is not an error.
        replace: overwrite the workload at ``out``.
        spark: a session to run on; None starts one when it is needed, and stops it in the end.
        master: of the session that is started; None is Spark embedded in this process.
        conf: Spark settings of that session.

    Returns:
        The workload, opened; ``workload.manifest.sources`` counts the rows that were kept and rejected.

    Raises:
        InputError: a source is missing or cannot be read, too many of its rows are rejected, or ``out`` exists.
        EngineError: Spark does not start.

    >>> ingested = pubplan.ingest("ingested", rates="rates.csv", subscriptions="subscriptions.csv")
    >>> ingested.summary()
    '2 topics, 2 subscribers, 3 interests; serving everything costs 11 deliveries per window'
    """
    paths = {"events": events, "rates": rates, "subscriptions": subscriptions, "follows": follows}
    texts = {"format": format, "delimiter": delimiter, "quote": quote, "escape": escape, "encoding": encoding}
    reading = _Reading(SOURCES, columns or {}, options or {}, header, multiline, texts)
    traffic, audience = (
        reading.source(Source, *_chosen(paths, alternatives), event_id=event_id) for alternatives in _ALTERNATIVES
    )
    job = Ingest(
        traffic,
        audience,
        TimeWindow.parse(_moment(window_start), _moment(window_end)),
        timestamp_unit=timestamp_unit,
        message_bytes=message_bytes,
        timeless=timeless,
        keep_unknown=keep_unknown,
        max_rejected=max_rejected,
        wildcards=wildcards,
    )
    check_disjoint(Path(out), Path(traffic.path), Path(audience.path))
    check_free(Path(out), marker=MANIFEST, replace=replace)
    with lazy_spark(master, conf, spark) as session:
        return run(session, job, out, replace=replace)


def ingest_content(
    out: str | Path,
    *,
    clients: str | Path | None = None,
    brokers: str | Path | None = None,
    sites: str | Path | None = None,
    latencies: str | Path | None = None,
    prices: str | Path | None = None,
    links: str | Path | None = None,
    messages: str | Path | None = None,
    attribute: Sequence[str] = (),
    grid: Sequence[str] = (),
    cells: Sequence[str] = (),
    latency_unit: str = "us",
    price_unit: str = "microusd",
    price_per_distance: str | None = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    format: str | Mapping[str, str] | None = None,
    delimiter: str | Mapping[str, str] | None = None,
    quote: str | Mapping[str, str] | None = None,
    escape: str | Mapping[str, str] | None = None,
    encoding: str | Mapping[str, str] | None = None,
    header: bool | Mapping[str, bool] = True,
    multiline: bool | Mapping[str, bool] = False,
    options: Mapping[str, Mapping[str, str]] | None = None,
    window_start: str | datetime | None = None,
    window_end: str | datetime | None = None,
    max_rejected: float = 0.05,
    replace: bool = False,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> ContentWorkload:
    """Read clients and brokers, and where they are, clean them on Spark, and write a content workload.

    What concerns the sources is one value for all of them or a mapping by source, as for :func:`ingest`.

    Args:
        out: the workload directory; must not exist yet.
        clients: client, site, and the ranges of attributes; optional limit, allowed brokers and weight.
        brokers: broker; optional parent, latency, share, capacity and coordinates.
        sites: site and coordinates, whose distances to those of brokers are the latencies.
        latencies: site, broker and latency instead, one for every pair.
        prices: site, broker and the price of traffic between them, one for every pair.
        links: broker, other and the price of traffic between the two brokers, in one direction or both. Where it would
            be cheaper over other brokers, the price becomes that of the cheapest route.
        messages: a column per attribute; optional client and count. They become a density of events, and what clients
            publish.
        attribute: names of attributes, with the columns of their ranges: ``"price=low:high"``, or ``"price"`` for
            columns ``price_low`` and ``price_high``.
        grid: grids of attributes, ``"price=0:0.5:200"`` for 0 to 100 in steps of 0.5; others are derived from the data.
        cells: into how many parts of an attribute messages are counted, ``"price=20"``.
        latency_unit: of latencies, limits and coordinates: us, ms or s.
        price_unit: of prices: microusd or usd, per GB.
        price_per_distance: prices by distance instead of tables, per unit of coordinates: ``"0.5:2"`` between brokers
            and between sites and brokers, or one number for both.
        columns: by source, from our column names to those of the table; an empty name leaves an optional one out.
        format: as for :func:`ingest`, and so ``delimiter``, ``quote``, ``escape``, ``encoding``, ``header``,
            ``multiline`` and ``options``.
        window_start: when the window of the messages begins, ISO 8601 or a datetime.
        window_end: when it ends.
        max_rejected: the largest share of rejected rows, per source, that is not an error.
        replace: overwrite the workload at ``out``.
        spark: a session to run on; None starts one when it is needed, and stops it in the end.
        master: of the session that is started; None is Spark embedded in this process.
        conf: Spark settings of that session.

    Returns:
        The workload, opened; ``workload.manifest.sources`` counts the rows that were kept and rejected.

    Raises:
        InputError: a source is missing or cannot be read, too many of its rows are rejected, brokers are not a tree, a
            latency or a price is missing, a grid is too fine, or ``out`` exists.
        EngineError: Spark does not start.

    >>> content = pubplan.ingest_content(
    ...     "content", clients="clients.csv", brokers="brokers.csv", attribute=["price"], grid=["price=0:1:12"]
    ... )
    >>> content.summary()
    '2 clients at 2 sites, 1 broker (leaves: 1); events in price (12 steps)'
    """
    texts = {"format": format, "delimiter": delimiter, "quote": quote, "escape": escape, "encoding": encoding}
    reading = _Reading(CONTENT_SOURCES, columns or {}, options or {}, header, multiline, texts)
    for name, given in (("clients", clients), ("brokers", brokers)):
        if given is None:
            needed = f"{argument('clients')} and {argument('brokers')}"
            raise InputError(f"A content workload needs {needed}; {argument(name)} was not given.")
    if sites is not None and latencies is not None:
        raise InputError(
            f"Give either {argument('sites')}, whose coordinates say how far brokers are, or {argument('latencies')}."
        )
    for name, texts_given in (("grid", grid), ("cells", cells)):
        named = [text.partition("=")[0] for text in texts_given]
        if len(set(named)) < len(named):
            raise InputError(f"{argument(name)} is given at most once for each attribute, not for {', '.join(named)}.")
    attributes = tuple(AttributeColumns.parse(text) for text in attribute)
    make = partial(content_source, attributes=attributes)
    given_paths = (clients, brokers, sites, latencies, prices, links, messages)
    paths = dict(zip(CONTENT_SOURCES, given_paths, strict=True))
    sources = {kind: reading.source(make, kind, path) for kind, path in paths.items() if path is not None}
    job = ContentIngest(
        sources["clients"],
        sources["brokers"],
        attributes,
        network=sources.get("sites", sources.get("latencies")),
        messages=sources.get("messages"),
        prices=sources.get("prices"),
        links=sources.get("links"),
        price_per_distance=None if price_per_distance is None else DistancePrices.parse(price_per_distance),
        grids=dict(Grid.parse(text) for text in grid),
        cells=parse_cells(list(cells)),
        window=TimeWindow.parse(_moment(window_start), _moment(window_end)),
        latency_unit=latency_unit,
        price_unit=price_unit,
        max_rejected=max_rejected,
    )
    check_disjoint(Path(out), *(Path(source.path) for source in job.sources))
    check_free(Path(out), marker=MANIFEST, replace=replace)
    with lazy_spark(master, conf, spark) as session:
        return run_content(session, job, out, replace=replace)


def _chosen(paths: Mapping[str, str | Path | None], alternatives: tuple[Kind, Kind]) -> tuple[Kind, str | Path]:
    """The one source of two that was given."""
    there = [(kind, path) for kind in alternatives if (path := paths[kind]) is not None]
    if len(there) != 1:
        first, second = map(argument, alternatives)
        raise InputError(f"Ingest needs either {first} or {second}; {'both were' if there else 'neither was'} given.")
    return there[0]


@dataclass(frozen=True)
class _Reading:
    """How sources are read: one value for all, or one by source.

    Raises:
        InputError: a value is for a source that does not exist.
    """

    sources: tuple[str, ...]
    columns: Mapping[str, Mapping[str, str]]
    options: Mapping[str, Mapping[str, str]]
    header: bool | Mapping[str, bool]
    multiline: bool | Mapping[str, bool]
    texts: Mapping[str, str | Mapping[str, str] | None]

    def __post_init__(self) -> None:
        by_source = {name: getattr(self, name) for name in ("columns", "options", "header", "multiline")}
        for name, given in {**self.texts, **by_source}.items():
            for kind in given if isinstance(given, Mapping) else ():
                if kind not in self.sources:
                    raise InputError(f"{argument(name)}: " + unknown_name("source", str(kind), self.sources))

    def source(
        self, make: Callable[..., Source], kind: str, path: str | Path, *, event_id: str | None = None
    ) -> Source:
        """The source of a kind, made by its constructor."""
        mapped = dict(self.columns.get(kind, {}))
        if kind == "events" and event_id:
            mapped["event"] = event_id
        return make(
            kind,
            str(path),
            columns=mapped,
            options=dict(self.options.get(kind, {})),
            has_header=_of_source(self.header, kind, True),
            multiline=_of_source(self.multiline, kind, False),
            **{name: _of_source(given, kind, None) for name, given in self.texts.items()},
        )


def _of_source(given: T | Mapping[str, T], kind: str, default: T) -> T:
    return given.get(kind, default) if isinstance(given, Mapping) else given


def _moment(given: str | datetime | None) -> str | None:
    return given.isoformat() if isinstance(given, datetime) else given
