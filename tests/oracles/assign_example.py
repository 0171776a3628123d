"""The worked example of docs/assign.md, and variations of it, as workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pubplan.workload import Attribute, Broker, Client, ContentWorkload, Space, build_content_workload

SPACE = Space((Attribute("price", 12),))

CLIENTS = {
    "ann": Client("oslo", [(0, 2)]),
    "bob": Client("kiel", [(1, 3)]),
    "carl": Client("rome", [(8, 10)]),
    "dora": Client("kiel", [(9, 12)]),
}

BROKERS = {"north": Broker(share=1), "south": Broker(share=1)}

LATENCIES = {
    "oslo": {"north": 10, "south": 30},
    "kiel": {"north": 15, "south": 15},
    "rome": {"north": 30, "south": 10},
}
"""With a delay of 0.5, oslo accepts 15 us and reaches north alone, rome likewise south; kiel accepts 22 us and reaches
both. At a load factor of 1 each serves two: the best is ann and bob, 0 to 3, beside carl and dora, 8 to 12.
"""

ASKED = {"boxes": 1, "max_delay": "0.5", "load": 1, "max_load": 1}
"""What the worked example asks."""


def example(path: Path, changes: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> ContentWorkload:
    """The example, with ``changes`` to clients by their ids; ``options`` are those of building a workload."""
    clients = {name: replace(client, **(changes or {}).get(name, {})) for name, client in CLIENTS.items()}
    given = {"space": SPACE, "brokers": BROKERS, "latencies": LATENCIES, **options}
    return build_content_workload(
        path, given.pop("space"), clients, given.pop("brokers"), given.pop("latencies"), **given
    )


def tree(path: Path, changes: Mapping[str, Mapping[str, Any]] | None = None) -> ContentWorkload:
    """The example with a broker, hub, that feeds both others after 5 us each and is fed after 1 us."""
    brokers = {
        "hub": Broker(latency=1),
        "north": Broker("hub", latency=5, share=1),
        "south": Broker("hub", latency=5, share=1),
    }
    return example(
        path, changes, brokers=brokers, latencies={site: {"hub": 1, **row} for site, row in LATENCIES.items()}
    )


def dense(path: Path) -> ContentWorkload:
    """The example with messages in three cells of four steps: 8 in the first, none in the second, 4 in the third."""
    return example(path, space=Space(SPACE.attributes, (3,)), density=[8, 0, 4])
