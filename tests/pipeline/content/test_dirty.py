"""Files as they come: nothing that is wrong with a row goes unsaid, and what is wrong with a table is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pubplan.engine import LazySpark
from pubplan.errors import InputError
from pubplan.pipeline import AttributeColumns, Grid, ingest_content

from ..conftest import no_spark, write_csv, write_json_lines
from .conftest import ATTRIBUTES, BROKERS, CLIENTS, GRIDS, LATENCIES, MESSAGES, clients_of, rows_of

REASONS_OF_CLIENTS = [
    ({"client": ""}, "missing_id"),
    ({"site": ""}, "missing_id"),
    ({"weight": "-1"}, "bad_weight"),
    ({"weight": "1.5"}, "bad_weight"),
    ({"price_low": "NaN"}, "bad_number"),
    ({"price_high": "inf"}, "bad_number"),
    ({"price_high": ""}, "bad_number"),
    ({"score": "four"}, "bad_number"),
    ({"price_low": "2", "price_high": "1.9999999999999999999"}, "inverted_rectangle"),
    ({"price_low": "0.20000000000000000001", "price_high": "0.2"}, "inverted_rectangle"),
    ({"limit": "-1"}, "bad_limit"),
    ({"limit": "soon"}, "bad_limit"),
    ({"limit": "1e30"}, "bad_limit"),
    ({"allowed": "north;nobody"}, "unknown_broker"),
    ({"price_high": "10.00000000000000000001"}, "outside_space"),
    ({"price_low": "-1e-300"}, "outside_space"),
    ({"score": "1e999999999"}, "outside_space"),
    ({"site": "paris"}, "unknown_site"),
]


@pytest.mark.parametrize(("change", "reason"), REASONS_OF_CLIENTS, ids=str)
def test_bad_clients_are_rejected_with_a_reason(run, built, change: dict[str, str], reason: str) -> None:
    """The row is kept as it was read, the others make the same workload."""
    complete = {**CLIENTS[0], "client": "bad", "limit": "5", "allowed": "north", "weight": "1", **change}
    clients = [{**row, "limit": "5", "allowed": "north", "weight": "1"} for row in CLIENTS]
    without = run(clients=clients)
    workload = run(clients=[*clients, complete], max_rejected=0.3)
    assert workload.digest == without.digest
    assert rows_of(workload, "clients")["rejected"] == {reason: 1}
    (row,) = pq.read_table(workload.path / "rejected").to_pylist()
    assert (row["source"], row["reason"]) == ("clients", reason)
    assert row["row"] == ",".join(str(value) for value in complete.values())


def test_a_missing_latency_whose_row_was_bad(run) -> None:
    """It is missing because its row was rejected, and the sentence says so."""
    latencies = [{**row, "latency": "NaN"} if number == 3 else row for number, row in enumerate(LATENCIES)]
    site, broker = LATENCIES[3]["site"], LATENCIES[3]["broker"]
    with pytest.raises(InputError) as refused:
        run(latencies=latencies, max_rejected=0.5)
    said = str(refused.value)
    assert f"no latency from the site '{site}' to the broker '{broker}'; 1 of 6 latencies are missing." in said
    assert "Rejected: 1 row with bad_latency (the latency is missing, negative, longer" in said


def test_bad_brokers_sites_and_latencies(run) -> None:
    """Rows of small tables are rejected by the same rules."""
    brokers = [
        *({**row, "capacity": "", "x_0": "1"} for row in BROKERS),
        {"broker": "a", "parent": "hub", "latency": "-1", "share": "1", "capacity": "", "x_0": "1"},
        {"broker": "b", "parent": "hub", "latency": "1", "share": "x", "capacity": "", "x_0": "1"},
        {"broker": "c", "parent": "hub", "latency": "1", "share": "1", "capacity": "-5", "x_0": "1"},
        {"broker": "d", "parent": "hub", "latency": "1", "share": "1", "capacity": "", "x_0": "far"},
        {"broker": "", "parent": "hub", "latency": "1", "share": "1", "capacity": "", "x_0": "1"},
    ]
    latencies = [
        *LATENCIES,
        {"site": "oslo", "broker": "east", "latency": "1"},
        {"site": "oslo", "broker": "hub", "latency": "3000000000"},
        {"site": "", "broker": "hub", "latency": "1"},
        {"site": "oslo", "broker": "north", "latency": ""},
    ]
    workload = run(brokers=brokers, latencies=latencies, max_rejected=0.7)
    assert rows_of(workload, "brokers")["rejected"] == {
        "bad_capacity": 1,
        "bad_latency": 1,
        "bad_number": 1,
        "bad_share": 1,
        "missing_id": 1,
    }
    assert rows_of(workload, "latencies")["rejected"] == {"bad_latency": 2, "missing_id": 1, "unknown_broker": 1}
    sites = [{"site": "oslo", "x_0": "1"}, {"site": "rome", "x_0": ""}, {"site": "rome", "x_0": "5"}]
    workload = run(brokers=brokers, latencies=None, sites=sites, max_rejected=0.7)
    assert rows_of(workload, "sites") == {"rows_in": 3, "kept": 2, "rejected": {"bad_number": 1}, "duplicates": 0}


def test_text_files_of_all_sorts(run, built, tmp_path: Path) -> None:
    """A byte order mark, CR LF, empty lines, quotes, blanks around numbers and columns in another order."""
    lines = ["score,client,price_high,site,price_low,other"]
    lines += [
        f'"{r["score"]}","{r["client"]}", {r["price_high"]} ,{r["site"]},{r["price_low"]},"a, b"' for r in CLIENTS
    ]
    path = tmp_path / "c.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode() + b"\r\n\r\n")
    workload = run(clients=path)
    assert workload.digest == built.digest
    path.write_bytes(path.read_bytes() + b'"1,open quote\r\n1,2\r\n')
    broken = run(clients=path, max_rejected=0.5)
    assert broken.digest == built.digest
    assert rows_of(broken, "clients")["rejected"] == {"malformed": 2}


def test_ids_that_are_not_text(run, tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are rejected, odd letters and numbers are ids like others."""
    path = write_csv(
        tmp_path / "c.csv", [{**CLIENTS[0], "client": "na\u00efve \U0001f3a7"}, {**CLIENTS[1], "client": 17}]
    )
    path.write_bytes(path.read_bytes() + b"\xff,oslo,1,2,3\n")
    workload = run(clients=path, max_rejected=0.5)
    assert [row["client_id"] for row in clients_of(workload)] == ["17", "na\u00efve \U0001f3a7"]
    assert rows_of(workload, "clients")["rejected"] == {"bad_encoding": 1}


def test_json_of_wrong_types(run, tmp_path: Path) -> None:
    """Numbers as numbers or text; booleans, objects and lists are not numbers."""
    good = [{**row, "score": float(row["score"])} for row in CLIENTS]
    bad = [
        {**CLIENTS[0], "client": f"bad{number}", "score": value} for number, value in enumerate([True, {"a": 1}, None])
    ]
    path = write_json_lines(tmp_path / "c.jsonl", [*good, *bad])
    path.write_text(path.read_text() + "17\n{broken\n")
    workload = run(clients=path, max_rejected=0.7)
    assert rows_of(workload, "clients")["rejected"] == {"bad_number": 3, "malformed": 2}
    assert workload.counts.clients == 3


def test_too_many_bad_rows_are_refused(run) -> None:
    """With the leading reasons, sample rows and what would help."""
    clients = [*CLIENTS, {**CLIENTS[0], "client": "far", "price_high": "11"}]
    with pytest.raises(InputError, match=r"25\.0 %\) were rejected") as refusal:
        run(clients=clients)
    assert "outside_space: 1 rows" in str(refusal.value)
    assert "far,oslo,0.4,11,-5" in str(refusal.value)
    assert "grid says from where to where values of an attribute go" in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"brokers": [{"broker": "a", "parent": "z"}]}, "fed by 'z', which is not a broker"),
        ({"brokers": [{"broker": "a", "parent": "b"}, {"broker": "b", "parent": "a"}]}, "in a circle"),
        ({"brokers": [{"broker": "a", "share": "0"}]}, "No broker has a share"),
        ({"latencies": LATENCIES[:-1]}, "1 of 6 latencies are missing"),
        ({"latencies": [*LATENCIES, {**LATENCIES[0], "latency": "2"}]}, "several latencies"),
        ({"latencies": None, "sites": [{"site": "oslo", "x_0": "1"}]}, "the brokers have 0"),
        ({"clients": [{"client": "a", "site": "b", "price_low": "1", "score": "2"}]}, "no column 'price_high'"),
        ({"brokers": [{"name": "a"}]}, "no column 'broker', expected for the broker of brokers"),
        ({"messages": [{"price": "1"}]}, "no column 'score', expected for the score of messages"),
        ({"clients": Path("/nowhere.csv")}, "There is no /nowhere.csv to read clients from"),
    ],
)
def test_wrong_tables_are_refused_before_spark_starts(sources, tmp_path: Path, monkeypatch, options, sentence) -> None:
    """Also where the clients are many, which only Spark reads: the network is looked at first."""
    monkeypatch.setattr("pubplan.pipeline.reader.CHUNK_BYTES", 1 << 14)
    many = [{**CLIENTS[0], "client": f"client {number}"} for number in range(1000)]
    with pytest.raises(InputError, match=sentence):
        ingest_content(LazySpark(no_spark), sources.job(**{"clients": many, **options}), tmp_path / "workload")
    assert not (tmp_path / "workload").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attributes": ()}, "Name the attributes"),
        ({"attributes": (*ATTRIBUTES, ATTRIBUTES[0])}, "attributes of different names"),
        ({"grids": {"prise": GRIDS["price"]}}, "grid: .*prise.*price"),
        ({"cells": {"price": 2}}, "give them with messages"),
        ({"messages": MESSAGES, "cells": {"prise": 2}}, "cells: .*prise.*price"),
        ({"messages": MESSAGES, "cells": {"price": 3}}, "3 cells do not divide the 20 steps"),
        ({"latency_unit": "h"}, "latency_unit is us, ms or s"),
        ({"max_rejected": 2}, "max_rejected is a share"),
        ({"grids": dict(Grid.parse(text) for text in ("price=0:1:100000000", "score=0:1:100000000"))}, "too fine"),
    ],
)
def test_wrong_options_are_refused_when_the_job_is_made(sources, options, sentence) -> None:
    """Before any file is read."""
    with pytest.raises(InputError, match=sentence):
        sources.job(**options)


def test_more_grids_than_exact_volumes_allow(run) -> None:
    """A derived grid takes what the given ones leave; if that is nothing, they are too fine."""
    fine = {"score": Grid.parse("score=-5:0.000000005:2000000000")[1]}
    workload = run(grids=fine)
    assert workload.space.volume <= 2**52
    attributes = [*ATTRIBUTES, AttributeColumns.parse("more=score")]
    finest = {**fine, "price": Grid.parse("price=0:0.00001:2000000")[1]}
    with pytest.raises(InputError, match="too fine for exact volumes"):
        run(attributes=attributes, grids=finest)
