"""The options of ``pubplan ingest`` that name sources, and how those that hold for one source are read."""

from __future__ import annotations

from typing import Annotated

import typer

TOPIC_KINDS = ("events", "rates", "subscriptions", "follows")
CONTENT_KINDS = ("clients", "brokers", "sites", "latencies", "prices", "links", "messages")
KINDS = (*TOPIC_KINDS, *CONTENT_KINDS)
TEXT_OPTIONS = ("format", "delimiter", "quote", "escape", "encoding")
"""Options that hold for all sources, or for one: ``--format csv``, ``--format events=csv``."""

Clients = Annotated[
    str | None,
    typer.Option("--clients", metavar="PATH", help="Clients: client, site, ranges; optional limit, allowed, weight."),
]
Brokers = Annotated[
    str | None,
    typer.Option(
        "--brokers", metavar="PATH", help="Brokers: broker, optional parent, latency, share, capacity, x_0, x_1, …"
    ),
]
Sites = Annotated[
    str | None,
    typer.Option("--sites", metavar="PATH", help="Sites: site, x_0, x_1, …; latencies are distances to the brokers."),
]
Latencies = Annotated[
    str | None, typer.Option("--latencies", metavar="PATH", help="Latencies: site, broker, latency; one for each pair.")
]
Prices = Annotated[
    str | None,
    typer.Option("--prices", metavar="PATH", help="Prices of traffic: site, broker, price; one for each pair."),
]
Links = Annotated[
    str | None,
    typer.Option("--links", metavar="PATH", help="Prices of traffic between brokers: broker, other, price."),
]
Messages = Annotated[
    str | None,
    typer.Option("--messages", metavar="PATH", help="Messages: a column per attribute, optional client, count."),
]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME[=LOW:HIGH]",
        help="An attribute of events and the columns of its ranges, or one column of points; repeatable.",
    ),
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=ORIGIN:STEP:STEPS",
        help="Grid of an attribute: price=0:0.5:200 is 0 to 100 in steps of 0.5; default: from the data; repeatable.",
    ),
]
CellsOption = Annotated[
    list[str] | None,
    typer.Option("--cells", metavar="NAME=NUMBER", help="In how many parts of an attribute messages are counted."),
]
LatencyUnit = Annotated[
    str | None,
    typer.Option("--latency-unit", help="Unit of latencies, limits and coordinates: us (the default), ms or s."),
]

PriceUnit = Annotated[
    str | None, typer.Option("--price-unit", help="Unit of prices, per GB: microusd (the default) or usd.")
]
PricePerDistance = Annotated[
    str | None,
    typer.Option(
        "--price-per-distance",
        metavar="CORE[:ACCESS]",
        help="Prices by distance, per unit of coordinates: between brokers, and between sites and brokers.",
    ),
]


def assignments(flag: str, values: list[str] | None) -> dict[str, dict[str, str]]:
    """``["events.topic=artist"]`` as ``{"events": {"topic": "artist"}}``."""
    from pubplan.errors import InputError

    parsed: dict[str, dict[str, str]] = {}
    for value in values or []:
        target, equals, text = value.partition("=")
        kind, dot, name = target.partition(".")
        if not equals or not dot or not name or kind not in KINDS:
            raise InputError(f"{flag} takes SOURCE.NAME=VALUE with a source of {', '.join(KINDS)}, not '{value}'.")
        parsed.setdefault(kind, {})[name] = text
    return parsed


def per_source(values: list[str] | None) -> dict[str, str]:
    """``["csv", "events=json"]`` as ``{"": "csv", "events": "json"}``."""
    parsed = {}
    for value in values or []:
        kind, equals, text = value.partition("=")
        is_for_one = bool(equals) and kind in KINDS
        parsed[kind if is_for_one else ""] = text if is_for_one else value
    return parsed
