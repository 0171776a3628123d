"""The charts of ``federate``: cost by part, loads against capacities, and the brokers with the traffic between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.pages.bars import DOLLARS, Bar, Unit, bars_legend, bars_spec
from pubplan.pages.drawing import in_unit_square, spring_layout, traffic_spec
from pubplan.pages.federate_tables import Tables
from pubplan.pages.fill import fill_chart
from pubplan.pages.frame import Chart, Table
from pubplan.problems.federate.money import CENTS_FROM, money_up
from pubplan.text import MICROS, counted, listed, percent

ACCESS, CORE = "between clients and brokers", "between brokers"
NO_PLAN_COSTS_LESS = "no plan costs less"

SMALL_DOLLARS = Unit("format(datum.value, '$.3~r')", "$.4~r", lambda dollars: money_up(round(dollars * MICROS)))
"""Where two decimals do not tell ticks or parts apart."""

SHARE = Unit("format(datum.value, '~%')", ".1%", percent)

MAX_BARS = 20
"""Brokers with a bar; a line shows how full the others are."""

MAX_DRAWN_BROKERS = 120
MAX_DRAWN_LINKS = 400
TABLE_ROWS = 20


def costs(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """What plans cost per window by part, and what is proven."""
    bars: list[Bar] = []
    bounds: dict[float, list[str]] = {}
    for tables, name in zip(read, names, strict=True):
        bars += [(name, part, micros / MICROS) for part, micros in zip((ACCESS, CORE), tables.whole_bill, strict=True)]
        if tables.plan.record["bound"] is not None:
            bounds.setdefault(tables.proven_micros / MICROS, []).append(name)
    for bound, proven in bounds.items():
        whose = f" ({listed(proven, 2)})" if len(bounds) > 1 else ""
        bars.append((NO_PLAN_COSTS_LESS + whose, "proven", bound))
    is_small = max(tables.total for tables in read) < CENTS_FROM
    rows = [[name, *tables.bill, tables.bound] for tables, name in zip(read, names, strict=True)]
    return [
        Chart(
            title="Cost by part",
            caption="Dollars per window: messages between clients and their brokers, and messages that brokers send "
            "each other.",
            spec=bars_spec(bars, "dollars per window", SMALL_DOLLARS if is_small else DOLLARS),
            table=Table(["plan", ACCESS, CORE, "together", NO_PLAN_COSTS_LESS], rows),
            legend=bars_legend(bars),
        )
    ]


def fills(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """How full all brokers of several plans are, or of one with more than have bars."""
    shares = {name: _shares(tables)[1] for tables, name in zip(read, names, strict=True)}
    if len(read) == 1 and len(shares[names[0]]) <= MAX_BARS:
        return []
    return fill_chart(
        "How full the brokers are",
        "Messages that the clients of each broker send and receive, as a share of its capacity, the fullest first.",
        shares,
        ("broker", "brokers"),
    )


def _shares(tables: Tables) -> tuple[list[int], npt.NDArray[np.float64]]:
    """Brokers with a capacity, and the share of it that their clients take; the fullest first."""
    loads, capacities = (np.array(values) for values in (tables.measures.loads, tables.measures.capacities))
    limited = np.flatnonzero(capacities)
    shares = loads[limited] / capacities[limited]
    order = np.argsort(-shares, kind="stable")
    return limited[order].tolist(), shares[order]


def load_bars(tables: Tables) -> list[Chart]:
    """The fullest brokers; nothing where no broker has a capacity."""
    brokers, shares = _shares(tables)
    if not brokers:
        return []
    measures, shown = tables.measures, list(zip(brokers, shares.tolist(), strict=True))[:MAX_BARS]
    bars: list[Bar] = [(tables.broker_ids[broker], "load", share) for broker, share in shown]
    rows = [
        [
            tables.broker_ids[broker],
            f"{measures.loads[broker]:,}",
            f"{measures.capacities[broker]:,}",
            percent(share),
            f"{measures.clients[broker]:,}",
        ]
        for broker, share in shown
    ]
    left_out = len(brokers) - len(shown)
    more = f" The {len(shown)} fullest of {counted(len(brokers), 'broker')}." if left_out else ""
    return [
        Chart(
            title="Load against capacity",
            caption="Messages that the clients of a broker send and receive per window, as a share of what it takes at "
            f"most.{more}",
            spec=bars_spec(bars, "share of the capacity", SHARE, longest=1),
            table=Table(["broker", "load", "capacity", "filled", "clients"], rows),
        )
    ]


def traffic_drawing(tables: Tables) -> list[Chart]:
    """Brokers and the traffic between them as a picture; nothing without links or with many brokers."""
    links, number = tables.links, tables.measures.brokers
    if not links or number > MAX_DRAWN_BROKERS:
        return []
    where, positions = _positions(tables)
    nodes = [
        {"x": x, "y": y, "broker": name, "clients": clients, "load": load}
        for (x, y), name, clients, load in zip(
            positions, tables.broker_ids, tables.measures.clients, tables.measures.loads, strict=True
        )
    ]
    drawn: list[dict[str, Any]] = [
        {
            **dict(zip(("x", "y", "x2", "y2"), positions[link.one] + positions[link.other], strict=True)),
            "link": f"{tables.broker_ids[link.one]} – {tables.broker_ids[link.other]}",
            "messages": link.messages,
            "cost": tables.paid(link),
        }
        for link in links[:MAX_DRAWN_LINKS]
    ]
    rows = [[link["link"], f"{link['messages']:,}", link["cost"]] for link in drawn[:TABLE_ROWS]]
    left_out = len(links) - len(drawn)
    more = f" {counted(left_out, 'link')} with less traffic {'is' if left_out == 1 else 'are'} not drawn." * (
        left_out > 0
    )
    return [
        Chart(
            title="Brokers and the traffic between them",
            caption=f"The wider a line, the more messages cross the link, both ways together; larger brokers have more "
            f"clients. {where}{more}",
            spec=traffic_spec(nodes, drawn),
            table=Table(["link", "messages", "cost"], rows),
        )
    ]


def _positions(tables: Tables) -> tuple[str, list[list[float]]]:
    """Where brokers are drawn, and how that came about."""
    coordinates = None if tables.workload is None else tables.workload.brokers.coordinates
    if coordinates is not None and coordinates.shape[1] > 1:
        return "Brokers lie where their first two coordinates say.", in_unit_square(coordinates[:, :2]).tolist()
    ends = [np.array([getattr(link, end) for link in tables.links], dtype=np.int64) for end in ("one", "other")]
    return "Neighbours lie close to each other.", spring_layout(tables.measures.brokers, *ends).tolist()
