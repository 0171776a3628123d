"""Raw tables of a small content workload, the workload they must become, and a short way to ingest them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pubplan.engine import LazySpark
from pubplan.pipeline import AttributeColumns, ContentIngest, Grid, content_source, ingest_content
from pubplan.workload import Attribute, Broker, Client, ContentWorkload, Space, build_content_workload

from ..conftest import no_spark, write_csv

ATTRIBUTES = (AttributeColumns.parse("price"), AttributeColumns.parse("score=score"))
GRIDS = dict(Grid.parse(text) for text in ("price=0:0.5:20", "score=-5:1:10"))

CLIENTS = [
    # prices from 0 to 10 in steps of 0.5, scores from -5 to 5 in steps of 1
    {"client": "zoe", "site": "oslo", "price_low": "0.4", "price_high": "2.1", "score": "-5"},
    {"client": "ann", "site": "rome", "price_low": "1e0", "price_high": "10", "score": "5"},
    {"client": "bob", "site": "oslo", "price_low": "9.75", "price_high": "9.75", "score": "0.999"},
]
BROKERS = [
    {"broker": "south", "parent": "hub", "latency": "11", "share": ""},
    {"broker": "hub", "parent": "", "latency": "5", "share": ""},
    {"broker": "north", "parent": "hub", "latency": "7", "share": "2"},
]
LATENCIES = [
    {"site": site, "broker": broker, "latency": str(latency)}
    for site, row in {"oslo": {"hub": 1, "north": 2, "south": 30}, "rome": {"hub": 3, "north": 20, "south": 4}}.items()
    for broker, latency in row.items()
]
MESSAGES = [
    # four cells of prices (0 to 2.5 is the first) x two of scores (-5 to 0 is the first)
    {"price": "2.49", "score": "-1", "client": "zoe"},
    {"price": "2.5", "score": "-1", "client": "zoe"},
    {"price": "10", "score": "5", "client": "ann"},
    {"price": "10.0", "score": "0", "client": "ann"},
    {"price": "0", "score": "-5", "client": ""},
]
CELLS = {"price": 4, "score": 2}

BUILT_SPACE = Space((Attribute("price", 20, "0", "0.5"), Attribute("score", 10, "-5", "1")))
BUILT_CLIENTS = {
    # [0.4, 2.1] lies in steps 0 to 4, that is [0, 2.5); the score -5 in step 0
    "zoe": Client("oslo", [(0, 5), (0, 1)]),
    "ann": Client("rome", [(2, 20), (9, 10)]),
    "bob": Client("oslo", [(19, 20), (5, 6)]),
}
BUILT_BROKERS = {"hub": Broker(latency=5), "north": Broker("hub", 7, share=2), "south": Broker("hub", 11, share=1)}
BUILT_LATENCIES = {"oslo": {"hub": 1, "north": 2, "south": 30}, "rome": {"hub": 3, "north": 20, "south": 4}}

Rows = Sequence[Mapping[str, Any]]
Run = Callable[..., ContentWorkload]


class Sources:
    """Writes raw tables and makes sources of them; a table can be replaced by other rows, or by a path."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.number = 0

    def job(
        self, *, attributes: Sequence[AttributeColumns] = ATTRIBUTES, network: str = "latencies", **options: Any
    ) -> ContentIngest:
        given: dict[str, Any] = {"clients": CLIENTS, "brokers": BROKERS, network: LATENCIES} | {
            name: options.pop(name)
            for name in ("clients", "brokers", "sites", "latencies", "prices", "links", "messages")
            if name in options
        }
        text = options.pop("text", {})
        sources = {
            kind: content_source(kind, str(self.path(kind, table)), attributes, **text)  # type: ignore[arg-type]
            for kind, table in given.items()
            if table is not None
        }
        return ContentIngest(
            sources["clients"],
            sources["brokers"],
            tuple(attributes),
            network=sources.get("sites") or sources.get("latencies"),
            messages=sources.get("messages"),
            prices=sources.get("prices"),
            links=sources.get("links"),
            **{"grids": GRIDS, **options},
        )

    def path(self, kind: str, table: Rows | Path | str) -> Path | str:
        if isinstance(table, Path | str):
            return table
        self.number += 1
        return write_csv(self.directory / f"{kind}-{self.number}.csv", table)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


@pytest.fixture
def run(sources: Sources, tmp_path: Path) -> Run:
    """Ingests the tables above, or others, in this process; a Spark session may be given."""

    def call(spark: Any = None, **options: Any) -> ContentWorkload:
        session = spark or LazySpark(no_spark)
        sources.number += 1
        return ingest_content(session, sources.job(**options), tmp_path / f"workload-{sources.number}")

    return call


@pytest.fixture
def built(tmp_path: Path) -> ContentWorkload:
    """What the tables above must become."""
    return build_content_workload(tmp_path / "built", BUILT_SPACE, BUILT_CLIENTS, BUILT_BROKERS, BUILT_LATENCIES)


def rows_of(workload: ContentWorkload, kind: str) -> dict[str, Any]:
    """What became of the rows of a source."""
    (entry,) = [source for source in workload.manifest.sources if source["kind"] == kind]
    assert entry["rows_in"] == entry["kept"] + sum(entry["rejected"].values()) + entry["duplicates"]
    return {name: entry[name] for name in ("rows_in", "kept", "rejected", "duplicates")}


def clients_of(workload: ContentWorkload) -> list[dict[str, Any]]:
    return [row for block in range(workload.num_blocks) for row in workload.client_block(block).to_pylist()]
