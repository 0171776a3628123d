"""pubplan ingest on the command line, where it makes content workloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pubplan

CLIENTS = "client,where,from,to\nann,rome,1.5,3\nbob,oslo,0,9.99\ncid,rome,7,6\n"
BROKERS = "broker,parent,latency\nhub,,5\nnorth,hub,7\n"
LATENCIES = "site,broker,latency\noslo,hub,1\noslo,north,2\nrome,hub,3\nrome,north,4\n"
MESSAGES = "amount,client\n2,ann\n8,\n"


@pytest.fixture
def sources(tmp_path: Path) -> list[object]:
    names = ("clients", "brokers", "latencies", "messages")
    for name, text in zip(names, (CLIENTS, BROKERS, LATENCIES, MESSAGES), strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    given = [word for name in names[:3] for word in (f"--{name}", tmp_path / f"{name}.csv")]
    return [*given, "--column", "clients.site=where", "--attribute", "price=from:to", "--max-rejected", "50%"]


def test_from_tables_to_a_workload(cli, sources, tmp_path: Path) -> None:
    """Rows of every source in words, the manifest in JSON; few rows need no Spark."""
    out = tmp_path / "workload"
    answer = cli("ingest", *sources, "--grid", "price=0:0.5:20", "--out", out)
    assert answer.code == 0, answer.err
    assert "2 clients at 2 sites, 2 brokers (leaves: 1); events in price (20 steps)" in answer.out
    assert "clients: 3 rows in, 2 kept, 1 rejected, 0 duplicates.\n  inverted_rectangle: 1" in answer.out
    assert "latencies: 4 rows in, 4 kept" in answer.out
    assert "starting Spark" not in answer.err
    again = cli("ingest", *sources, "--grid", "price=0:0.5:20", "--out", out, "--replace", "--json", "--quiet")
    assert json.loads(again.out)["digest"] == pubplan.read_workload(out).digest
    assert again.err == ""


def test_grids_and_sites_that_were_derived_are_stated(cli, sources, tmp_path: Path) -> None:
    """So that they can be given next time."""
    answer = cli("ingest", *sources[:4], *sources[6:], "--out", tmp_path / "workload")
    assert answer.code == 0, answer.err
    assert "Derived from the data: --grid price=0:0.001:9990" in answer.out
    assert "every client is 0 us from every broker" in answer.out


def test_prices_that_are_not_a_metric_are_stated(cli, sources, tmp_path: Path) -> None:
    """The worst detour, and how many prices it changed."""
    (tmp_path / "brokers.csv").write_text("broker\na\nb\nc\n")
    (tmp_path / "links.csv").write_text("broker,other,price\na,b,1\nb,c,2\nc,a,4000\n")
    given = [*sources[:4], *sources[6:], "--grid", "price=0:0.5:20", "--links", tmp_path / "links.csv"]
    answer = cli("ingest", *given, "--out", tmp_path / "workload")
    assert answer.code == 0, answer.err
    assert "links: 3 rows in, 3 kept, 0 rejected, 0 duplicates.\n" in answer.out
    assert "'a' to 'c' costs 4,000 directly and 3 over 'b'. 1 of 3 became those of the cheapest route." in answer.out


def test_options_from_a_file(cli, sources, tmp_path: Path) -> None:
    """A TOML file may hold everything; the command line wins."""
    (tmp_path / "i.toml").write_text(
        f"""
        [ingest]
        brokers = "{tmp_path}/brokers.csv"
        latencies = "{tmp_path}/latencies.csv"
        attribute = "price=from:to"
        grid = ["price=0:0.5:20"]
        cells = ["price=10"]
        latency-unit = "ms"
        max-rejected = "50%"
        [ingest.clients]
        path = "{tmp_path}/clients.csv"
        columns = {{ site = "where" }}
        [ingest.messages]
        path = "{tmp_path}/messages.csv"
        columns = {{ price = "amount" }}
        """
    )
    answer = cli("ingest", "--parameters", tmp_path / "i.toml", "--cells", "price=4", "--out", tmp_path / "w")
    assert answer.code == 0, answer.err
    workload = pubplan.read_workload(tmp_path / "w")
    assert workload.site_latencies.tolist() == [[1000, 2000], [3000, 4000]]
    assert workload.density.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (["--events", "x.csv"], "--clients makes a content workload and --events a topic workload"),
        (["--event-id", "id"], "--event-id is for topic workloads"),
        (["--keep-unknown"], "--keep-unknown is for topic workloads"),
        (["--sites", "s.csv"], "Give either --sites"),
        (["--grid", "price=1"], "--grid takes NAME=ORIGIN:STEP:STEPS"),
        (["--grid", "p=0:1:2"], "There is no attribute 'p'"),
        (["--grid", "price=0:1:2", "--grid", "price=0:1:3"], "at most once for each attribute"),
        (["--cells", "price=2"], "--messages"),
        (["--attribute", "site"], "cannot have the name site"),
        (["--attribute", "other"], "no column 'other_low'"),
        (["--latency-unit", "min"], "--latency-unit is us, ms or s"),
        (["--price-unit", "eur"], "--price-unit is microusd or usd"),
        (["--price-per-distance", "2"], "--price-per-distance needs coordinates: give --sites"),
        (["--price-per-distance", "2", "--links", "l.csv"], "Give either --links or --price-per-distance"),
        (["--price-per-distance", "-1"], "--price-per-distance takes CORE:ACCESS"),
        (["--column", "clients.price=p"], "column of clients"),
    ],
)
def test_wrong_options(cli, sources, tmp_path: Path, change: list[str], sentence: str) -> None:
    """Refused with a sentence, and nothing is written."""
    answer = cli("ingest", *sources, *change, "--out", tmp_path / "workload")
    assert answer.code == 2
    assert sentence.lower() in " ".join(answer.err.split()).lower()
    assert not (tmp_path / "workload").exists()


def test_sources_that_are_missing(cli, sources, tmp_path: Path) -> None:
    """Clients and brokers go together; options of attributes need them."""
    alone = cli("ingest", *sources[:2], "--attribute", "price", "--out", tmp_path / "w")
    assert "--brokers was not given" in alone.err
    topics = cli("ingest", "--rates", "r", "--follows", "f", "--grid", "price=0:1:2", "--out", tmp_path / "w")
    assert "--grid is for content workloads" in topics.err
    listed = tmp_path / "i.toml"
    listed.write_text("[ingest]\nattribute = [3]\n")
    answer = cli("ingest", "--parameters", listed, *sources[:6], "--out", tmp_path / "w")
    assert "attribute is a list of texts" in answer.err
    assert {alone.code, topics.code, answer.code} == {2}
