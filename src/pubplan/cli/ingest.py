"""``pubplan ingest``: from raw traces to a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Conf, Json, Master, Out, Quiet, Replace

if TYPE_CHECKING:
    from pubplan.pipeline import Ingest, Source
    from pubplan.workload import Workload

_KINDS = ("events", "rates", "subscriptions", "follows")
_TEXT = ("format", "delimiter", "quote", "escape", "encoding")
"""Options that hold for all sources, or for one: ``--format csv``, ``--format events=csv``."""


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
        typer.Option("--delimiter", metavar="[SOURCE=]CHAR", help="Between the fields of CSV; 'tab' for a tab."),
    ] = None,
    quote: Annotated[
        list[str] | None,
        typer.Option(
            "--quote", metavar="[SOURCE=]CHAR", help="Around the fields of CSV; none where quotes are letters."
        ),
    ] = None,
    escape: Annotated[
        list[str] | None,
        typer.Option("--escape", metavar="[SOURCE=]CHAR", help="Before a quote inside quotes, unless it is doubled."),
    ] = None,
    encoding: Annotated[
        list[str] | None,
        typer.Option("--encoding", metavar="[SOURCE=]NAME", help="Of text; default UTF-8, or its byte order mark."),
    ] = None,
    multiline: Annotated[bool, typer.Option("--multiline", help="Quoted fields of CSV may hold line breaks.")] = False,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="SOURCE.NAME=COLUMN", help="Where a column is called otherwise; repeatable."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="SOURCE.KEY=VALUE", help="For Spark's reader of that source; repeatable."),
    ] = None,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="CSV and TSV files begin with data; their columns are _c0, _c1, …")
    ] = False,
    event_id: Annotated[
        str | None, typer.Option("--event-id", metavar="COLUMN", help="Count events with the same id once.")
    ] = None,
    timestamp_unit: Annotated[
        str | None, typer.Option("--timestamp-unit", help="Of numeric timestamps: s (the default), ms, us or ns.")
    ] = None,
    window_start: Annotated[
        str | None, typer.Option("--window-start", metavar="TIME", help="ISO 8601; default: the first event.")
    ] = None,
    window_end: Annotated[
        str | None, typer.Option("--window-end", metavar="TIME", help="ISO 8601, exclusive; default: the last event.")
    ] = None,
    message_bytes: Annotated[
        int | None, typer.Option("--message-bytes", help="Message size where none is given; default 200.")
    ] = None,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="Give topics that only subscriptions name the rate 0.")
    ] = False,
    wildcards: Annotated[
        str | None,
        typer.Option("--wildcards", help="Expand the wildcards of nats or mqtt subscriptions over the known topics."),
    ] = None,
    max_rejected: Annotated[
        float | None, typer.Option("--max-rejected", help="Share of rejected rows that is an error; default 0.05.")
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
    """Read events or rates, and subscriptions or follows, clean them on Spark, and write a workload."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import started_spark
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free
    from pubplan.pipeline import ingest as run
    from pubplan.workload import MANIFEST

    given = {
        "events": events,
        "rates": rates,
        "subscriptions": subscriptions,
        "follows": follows,
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
    texts = dict(zip(_TEXT, (format, delimiter, quote, escape, encoding), strict=True))
    job = _job(
        _options(parameters, given),
        _assignments("--column", column),
        _assignments("--option", option),
        {name: _per_source(values) for name, values in texts.items()},
    )
    check_apart(out, *(Path(source.path) for source in (job.traffic, job.audience)))
    check_free(out, marker=MANIFEST, replace=replace)
    with showing_progress(quiet), started_spark(master, conf) as spark:
        workload = run(spark, job, out, replace=replace)
    answer(workload.manifest.to_dict(), _sentences(workload, out), json)


def _options(path: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    from pubplan.planning import read_parameters

    known: dict[str, tuple[type, ...]] = {
        **dict.fromkeys((*_TEXT, "event-id", "timestamp-unit", "window-start", "window-end", "wildcards"), (str,)),
        **dict.fromkeys(("no-header", "multiline", "keep-unknown", "timeless"), (bool,)),
        **dict.fromkeys(_KINDS, (str, dict)),
        "message-bytes": (int,),
        "max-rejected": (int, float),
    }
    from_file = read_parameters(path, "ingest", known) if path is not None else {}
    return from_file | {name: value for name, value in given.items() if value is not None}


def _assignments(flag: str, values: list[str] | None) -> dict[str, dict[str, str]]:
    """``["events.topic=artist"]`` as ``{"events": {"topic": "artist"}}``."""
    from pubplan.errors import InputError

    parsed: dict[str, dict[str, str]] = {}
    for value in values or []:
        place, equals, text = value.partition("=")
        kind, dot, name = place.partition(".")
        if not equals or not dot or not name or kind not in _KINDS:
            raise InputError(f"{flag} takes SOURCE.NAME=VALUE with a source of {', '.join(_KINDS)}, not '{value}'.")
        parsed.setdefault(kind, {})[name] = text
    return parsed


def _per_source(values: list[str] | None) -> dict[str, str]:
    """``["csv", "events=json"]`` as ``{"": "csv", "events": "json"}``."""
    parsed = {}
    for value in values or []:
        kind, equals, text = value.partition("=")
        is_for_one = bool(equals) and kind in _KINDS
        parsed[kind if is_for_one else ""] = text if is_for_one else value
    return parsed


def _job(
    options: dict[str, Any],
    columns: dict[str, dict[str, str]],
    readers: dict[str, dict[str, str]],
    texts: dict[str, dict[str, str]],
) -> Ingest:
    from pubplan.errors import InputError
    from pubplan.pipeline import Ingest, TimeWindow

    chosen = []
    for pair in (("events", "rates"), ("subscriptions", "follows")):
        there = [kind for kind in pair if kind in options]
        if len(there) != 1:
            found = "both" if there else "neither"
            raise InputError(f"Ingest needs either --{pair[0]} or --{pair[1]}; {found} given.")
        kind = there[0]
        named = {name: values.get(kind, values.get("")) for name, values in texts.items()}
        chosen.append(_source(kind, options, columns.get(kind, {}), readers.get(kind, {}), named))
    extra = {
        name.replace("-", "_"): options[name]
        for name in ("timestamp-unit", "message-bytes", "keep-unknown", "max-rejected", "timeless", "wildcards")
        if name in options
    }
    window = TimeWindow.parse(options.get("window-start"), options.get("window-end"))
    return Ingest(chosen[0], chosen[1], window, **extra)


def _source(
    kind: Any,
    options: dict[str, Any],
    columns: dict[str, str],
    readers: dict[str, str],
    texts: dict[str, str | None],
) -> Source:
    from pubplan.errors import InputError, unknown_name
    from pubplan.pipeline import Source

    table = options[kind] if isinstance(options[kind], dict) else {"path": options[kind]}
    known = {
        **dict.fromkeys(("path", *_TEXT), str),
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
    mapped = {**table.get("columns", {}), **columns}
    if kind == "events" and options.get("event-id"):
        mapped["event"] = options["event-id"]
    return Source(
        kind,
        str(table["path"]),
        columns=mapped,
        options={**table.get("options", {}), **readers},
        has_header=table.get("header", not options.get("no-header", False)),
        multiline=bool(table.get("multiline", options.get("multiline", False))),
        **{name: texts[name] or table.get(name) or options.get(name) for name in _TEXT},
    )


def _sentences(workload: Workload, out: Path) -> str:
    counts, window = workload.counts, workload.manifest.window
    lines = [f"{counts.topics:,} topics, {counts.subscribers:,} subscribers, {counts.pairs:,} interests."]
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
    return "\n".join([*lines, f"Written to {out}"])
