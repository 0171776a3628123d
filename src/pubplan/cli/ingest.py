"""``pubplan ingest``: from raw traces to a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.ingest_content import content_sentences, is_about_content, texts_of
from pubplan.cli.ingest_options import (
    KINDS,
    TEXT_OPTIONS,
    AttributeOption,
    Brokers,
    CellsOption,
    Clients,
    GridOption,
    Latencies,
    LatencyUnit,
    Links,
    Messages,
    PricePerDistance,
    Prices,
    PriceUnit,
    Sites,
    assignments,
    per_source,
)
from pubplan.cli.options import Conf, Json, Master, Out, Quiet, Replace, whole_number

if TYPE_CHECKING:
    from pubplan.workload import Workload

_PLAIN = (
    "event-id",
    "timestamp-unit",
    "window-start",
    "window-end",
    "message-bytes",
    "keep-unknown",
    "max-rejected",
    "timeless",
    "wildcards",
    "latency-unit",
    "price-unit",
    "price-per-distance",
)
"""Options that are arguments of the function."""


def ingest(
    out: Out,
    events: Annotated[
        str | None, typer.Option("--events", metavar="PATH", help="Events: topic, timestamp, optional size.")
    ] = None,
    rates: Annotated[
        str | None, typer.Option("--rates", metavar="PATH", help="Ready rates: topic, rate, optional size and cost.")
    ] = None,
    subscriptions: Annotated[
        str | None,
        typer.Option("--subscriptions", metavar="PATH", help="Subscriptions: subscriber, topic, weight, threshold."),
    ] = None,
    follows: Annotated[
        str | None, typer.Option("--follows", metavar="PATH", help="A follow graph: follower, followee.")
    ] = None,
    clients: Clients = None,
    brokers: Brokers = None,
    sites: Sites = None,
    latencies: Latencies = None,
    prices: Prices = None,
    links: Links = None,
    messages: Messages = None,
    attribute: AttributeOption = None,
    grid: GridOption = None,
    cells: CellsOption = None,
    latency_unit: LatencyUnit = None,
    price_unit: PriceUnit = None,
    price_per_distance: PricePerDistance = None,
    format: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="[SOURCE=]NAME",
            help="parquet, orc, csv, tsv, copy, json, or a format Spark has a connector for; repeatable.",
        ),
    ] = None,
    delimiter: Annotated[
        list[str] | None,
        typer.Option(
            "--delimiter", metavar="[SOURCE=]CHAR", help="Character between the fields of CSV; 'tab' for a tab."
        ),
    ] = None,
    quote: Annotated[
        list[str] | None,
        typer.Option(
            "--quote", metavar="[SOURCE=]CHAR", help="Character around the fields of CSV; none if quotes mean nothing."
        ),
    ] = None,
    escape: Annotated[
        list[str] | None,
        typer.Option(
            "--escape",
            metavar="[SOURCE=]CHAR",
            help="Character before a quote inside quotes; default: quotes are doubled.",
        ),
    ] = None,
    encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--encoding", metavar="[SOURCE=]NAME", help="Text encoding; default: by the byte order mark, else UTF-8."
        ),
    ] = None,
    multiline: Annotated[bool, typer.Option("--multiline", help="Quoted fields of CSV may hold line breaks.")] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="SOURCE.NAME=COLUMN", help="Map an input column, e.g. events.topic=artist; repeatable."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="SOURCE.KEY=VALUE", help="Option for Spark's reader of that source; repeatable."
        ),
    ] = None,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="CSV and TSV files begin with data; their columns are _c0, _c1, …")
    ] = False,
    event_id: Annotated[
        str | None, typer.Option("--event-id", metavar="COLUMN", help="Count events with the same id once.")
    ] = None,
    timestamp_unit: Annotated[
        str | None, typer.Option("--timestamp-unit", help="Unit of numeric timestamps: s (the default), ms, us or ns.")
    ] = None,
    window_start: Annotated[
        str | None, typer.Option("--window-start", metavar="TIME", help="ISO 8601; default: the first event.")
    ] = None,
    window_end: Annotated[
        str | None, typer.Option("--window-end", metavar="TIME", help="ISO 8601, exclusive; default: the last event.")
    ] = None,
    message_bytes: Annotated[
        int | None,
        typer.Option(
            "--message-bytes", parser=whole_number, metavar="N", help="Message size where none is given; default 200."
        ),
    ] = None,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="Give topics that only subscriptions name the rate 0.")
    ] = False,
    wildcards: Annotated[
        str | None,
        typer.Option("--wildcards", help="Expand the wildcards of nats or mqtt subscriptions over the known topics."),
    ] = None,
    max_rejected: Annotated[
        str | None,
        typer.Option(
            "--max-rejected", metavar="SHARE", help="Largest share of rejected rows that is not an error; default 5%."
        ),
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option("--parameters", metavar="FILE", help="TOML file whose table [ingest] fills in options."),
    ] = None,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Read raw tables, clean them on Spark, and write a workload.

    Events or rates, and subscriptions or follows make a topic workload; clients and brokers a content workload.
    """
    from pubplan import api
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import parse_conf
    from pubplan.cli.show import answer

    given = {
        "events": events,
        "rates": rates,
        "subscriptions": subscriptions,
        "follows": follows,
        "clients": clients,
        "brokers": brokers,
        "sites": sites,
        "latencies": latencies,
        "prices": prices,
        "links": links,
        "messages": messages,
        "attribute": attribute,
        "grid": grid,
        "cells": cells,
        "latency-unit": latency_unit,
        "price-unit": price_unit,
        "price-per-distance": price_per_distance,
        "no-header": no_header or None,
        "multiline": multiline or None,
        "wildcards": wildcards,
        "event-id": event_id,
        "timestamp-unit": timestamp_unit,
        "window-start": window_start,
        "window-end": window_end,
        "message-bytes": message_bytes,
        "keep-unknown": keep_unknown or None,
        "max-rejected": max_rejected,
    }
    texts = dict(zip(TEXT_OPTIONS, (format, delimiter, quote, escape, encoding), strict=True))
    options = _options(parameters, given)
    run = api.ingest_content if is_about_content(options) else api.ingest
    arguments = _arguments(
        options,
        assignments("--column", column),
        assignments("--option", option),
        {name: per_source(values) for name, values in texts.items()},
    )
    settings = parse_conf(conf or [])
    with showing_progress(quiet):
        workload = run(out, **arguments, replace=replace, master=master, conf=settings)
    answer(workload.manifest.to_dict(), _sentences(workload, out), json)


def _options(path: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    from pubplan.planning import read_parameters

    known: dict[str, tuple[type, ...]] = {
        **dict.fromkeys((*TEXT_OPTIONS, "event-id", "wildcards", "window-start", "window-end"), (str,)),
        **dict.fromkeys(("timestamp-unit", "latency-unit", "price-unit", "price-per-distance"), (str,)),
        **dict.fromkeys(("no-header", "multiline", "keep-unknown", "timeless"), (bool,)),
        **dict.fromkeys(KINDS, (str, dict)),
        **dict.fromkeys(("attribute", "grid", "cells"), (str, list)),
        "message-bytes": (int,),
        "max-rejected": (str, int, float),
    }
    from_file = read_parameters(path, "ingest", known) if path is not None else {}
    return from_file | {name: value for name, value in given.items() if value is not None}


def _arguments(
    options: dict[str, Any],
    columns: dict[str, dict[str, str]],
    readers: dict[str, dict[str, str]],
    texts: dict[str, dict[str, str]],
) -> dict[str, Any]:
    """What the command line and the file say, as arguments of the function; the command line wins."""
    tables = {kind: _table(kind, options[kind]) for kind in KINDS if kind in options}
    arguments: dict[str, Any] = {kind: table["path"] for kind, table in tables.items()}
    arguments |= {name.replace("-", "_"): options[name] for name in _PLAIN if name in options}
    arguments |= {name: texts_of(options, name) for name in ("attribute", "grid", "cells") if name in options}
    if "max_rejected" in arguments:
        arguments["max_rejected"] = _max_rejected(arguments["max_rejected"])
    for name, given in texts.items():
        arguments[name] = {
            kind: given.get(kind, given.get("")) or table.get(name) or options.get(name)
            for kind, table in tables.items()
        }
    has_header, multiline = not options.get("no-header", False), options.get("multiline", False)
    return {
        **arguments,
        "columns": {kind: {**table.get("columns", {}), **columns.get(kind, {})} for kind, table in tables.items()},
        "options": {kind: {**table.get("options", {}), **readers.get(kind, {})} for kind, table in tables.items()},
        "header": {kind: table.get("header", has_header) for kind, table in tables.items()},
        "multiline": {kind: table.get("multiline", multiline) for kind, table in tables.items()},
    }


def _max_rejected(given: object) -> float:
    from pubplan.errors import InputError, one_line
    from pubplan.quantities import share_fraction, share_hint, share_text

    share = share_text(given)
    if share is None or share_fraction(share) > 1:
        raise InputError(f"--max-rejected is a share such as 5%, not '{one_line(str(given))}'.{share_hint(given)}")
    return float(share_fraction(share))


def _table(kind: str, given: Any) -> dict[str, Any]:
    """What a file says about a source: its path, or a table with that and more."""
    from pubplan.errors import InputError, unknown_name

    table = given if isinstance(given, dict) else {"path": given}
    known = {
        **dict.fromkeys(("path", *TEXT_OPTIONS), str),
        **dict.fromkeys(("columns", "options"), dict),
        **dict.fromkeys(("header", "multiline"), bool),
    }
    for name, value in table.items():
        if name not in known:
            raise InputError(f"Table [ingest.{kind}]: " + unknown_name("key", name, known))
        if not isinstance(value, known[name]):
            raise InputError(f"Table [ingest.{kind}]: {name} is a {known[name].__name__}, not {value!r}.")
    if "path" not in table:
        raise InputError(f"Table [ingest.{kind}] has no path.")
    return table


def _sentences(workload: Workload, out: Path) -> str:
    window = workload.manifest.window
    lines = [f"{workload.summary()}."]
    if window.seconds is not None:
        lines.append(f"Window: {window.start} to {window.end} ({window.seconds:,.0f} s).")
    for source in workload.manifest.sources:
        rejected = sum(source["rejected"].values())
        lines.append(
            f"{source['kind']}: {source['rows_in']:,} rows in, {source['kept']:,} kept, {rejected:,} rejected, "
            f"{source['duplicates']:,} duplicates."
        )
        lines += [f"  {reason}: {number:,}" for reason, number in source["rejected"].items()]
        if "wildcards" in source:
            wild = source["wildcards"]
            lines.append(
                f"  {wild['subscriptions']:,} wildcards were expanded to {wild['expanded_to']:,} subscriptions."
            )
        lines += content_sentences(source)
    return "\n".join([*lines, f"Written to {out}"])
