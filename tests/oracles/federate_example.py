"""The worked example of docs/federate.md, the hub, and variations of it, as workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pubplan.workload import Attribute, Broker, Client, ContentWorkload, Space, Window, build_content_workload

SPACE = Space((Attribute("price", 20, "0", "0.5"),), (2,))
"""Prices from 0 to 10 in steps of 0.5, in two cells: below 5 and from 5 on."""

TERABYTE = 10**9
"""Messages of 1000 bytes."""

CLIENTS = {
    "ann": Client("amiens", [(0, 10)], publishes={0: TERABYTE}),
    "bea": Client("bergen", [(0, 10)], publishes={0: TERABYTE}),
    "cid": Client("cadiz", [(0, 10)], publishes={0: TERABYTE}),
}

BROKERS = {name: Broker(share=1, capacity=9 * TERABYTE) for name in ("east", "hub", "north", "south")}

LINKS = {
    "hub": {"north": 10_000, "east": 10_000, "south": 10_000},
    "north": {"east": 19_900, "south": 19_900},
    "east": {"south": 19_900},
}

HOMES = {"amiens": "east", "bergen": "north", "cadiz": "south"}
PRICES = {site: {broker: 1_000 if broker == home else 100_000 for broker in BROKERS} for site, home in HOMES.items()}

ASKED = {"channels": 2, "message_bytes": 1000}
"""What the worked example asks."""


def hub(path: Path, changes: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> ContentWorkload:
    """The example over a day, with ``changes`` to clients by their ids; ``options`` are those of building a workload.

    Everybody sends 1 TB and receives 2: at home 3,000 GB x $0.001 = $3 each, $9 in all. Between brokers every TB goes
    to two others: along a spanning tree for 1,000 GB x 2 x $0.0199 = $39.80, $119.40 in all; over the hub for 1,000 GB
    x 3 x $0.01 = $30, $90 in all. Away from home a client pays 3,000 GB x $0.1 = $300, more than any routing saves.
    """
    clients = {name: replace(client, **(changes or {}).get(name, {})) for name, client in CLIENTS.items()}
    given = {"brokers": BROKERS, "prices": PRICES, "links": LINKS, "window": Window(seconds=86_400), **options}
    latencies = {site: dict.fromkeys(given["brokers"], 1) for site in given["prices"]}
    return build_content_workload(path, SPACE, clients, given.pop("brokers"), latencies, replace=True, **given)
