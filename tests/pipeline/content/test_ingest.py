"""From raw tables to a content workload: exact numbers, every row accounted for, and order does not matter."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.errors import InputError
from pubplan.pipeline import AttributeColumns, Grid
from pubplan.workload import Space, Window, build_content_workload

from ..conftest import write_csv, write_json_lines, write_parquet_rows
from .conftest import (
    BROKERS,
    BUILT_BROKERS,
    BUILT_CLIENTS,
    BUILT_LATENCIES,
    BUILT_SPACE,
    CELLS,
    CLIENTS,
    LATENCIES,
    MESSAGES,
    clients_of,
    rows_of,
)

WRITERS = {"csv": write_csv, "jsonl": write_json_lines, "parquet": write_parquet_rows}


def test_tables_become_the_workload_that_is_built_by_hand(run, built) -> None:
    """Corners rounded outwards, points one step wide, the matrix as it is, shares and numbers by id."""
    workload = run()
    assert workload.digest == built.digest
    workload.check()
    assert rows_of(workload, "clients") == {"rows_in": 3, "kept": 3, "rejected": {}, "duplicates": 0}
    assert (workload.counts.rows_in, workload.counts.kept) == (12, 12)
    assert not (workload.path / "rejected").exists()
    assert not (workload.path / "scratch").exists()


def test_spark_gives_the_same(run, built, spark, monkeypatch) -> None:
    """Also where pieces are read, and rows are sorted, by tasks."""
    monkeypatch.setattr("pubplan.pipeline.reader.CHUNK_BYTES", 60)
    for module in ("clients", "messages"):
        monkeypatch.setattr(f"pubplan.pipeline.content.{module}.MAX_ROWS_OF_ONE_PART", 0)
    monkeypatch.setattr("pubplan.pipeline.parts.MAX_ROWS_OF_ONE_PART", 0)
    assert run(spark).digest == built.digest
    with_messages = run(spark, messages=MESSAGES, cells=CELLS)
    monkeypatch.undo()
    assert with_messages.digest == run(messages=MESSAGES, cells=CELLS).digest


@pytest.mark.parametrize("kind", WRITERS)
def test_addresses_are_read_through_spark(run, built, spark, tmp_path: Path, kind: str) -> None:
    """By the same rules: rows that Spark hands over give the same workload and the same counts."""
    tables = {"clients": CLIENTS, "brokers": BROKERS, "latencies": LATENCIES}
    paths = {name: f"file:{WRITERS[kind](tmp_path / f'{name}.{kind}', table)}" for name, table in tables.items()}
    workload = run(spark, **paths)
    assert workload.digest == built.digest
    assert rows_of(workload, "clients") == {"rows_in": 3, "kept": 3, "rejected": {}, "duplicates": 0}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same(run, built, tmp_path: Path, kind: str) -> None:
    """CSV, JSON lines and Parquet, with text."""
    tables = {"clients": CLIENTS, "brokers": BROKERS, "latencies": LATENCIES}
    paths = {name: WRITERS[kind](tmp_path / f"{name}.{kind}", table) for name, table in tables.items()}
    assert run(**paths).digest == built.digest


def test_typed_columns_mean_what_they_print(run, built, tmp_path: Path) -> None:
    """Floats, float32, decimals and integers in Parquet, brokers that may be used as lists: as in text."""
    clients = pa.table(
        {
            "client": ["zoe", "ann", "bob"],
            "site": ["oslo", "rome", "oslo"],
            "price_low": pa.array([0.4, 1.0, 9.75], pa.float64()),
            "price_high": pa.array([2.1, 10, 9.75], pa.float32()),
            "score": pa.array(["-5", "5", "0.999"]).cast(pa.decimal128(10, 3)),
        }
    )
    brokers = pa.table(
        {
            "broker": ["south", "hub", "north"],
            "parent": ["hub", None, "hub"],
            "latency": [11, 5, 7],
            "share": [None, None, 2.0],
        }
    )
    pq.write_table(clients, tmp_path / "c.parquet")
    pq.write_table(brokers, tmp_path / "b.parquet")
    latencies = write_parquet_rows(
        tmp_path / "l.parquet", [{**row, "latency": int(row["latency"])} for row in LATENCIES]
    )
    paths = {"clients": tmp_path / "c.parquet", "brokers": tmp_path / "b.parquet", "latencies": latencies}
    assert run(**paths).digest == built.digest


@pytest.mark.parametrize("unit", ["us", "ms", "s"])
def test_units_of_latencies(run, unit: str) -> None:
    """Latencies are rounded up to microseconds, limits down, coordinates to the nearest; units only shift the point."""
    factor = {"us": "", "ms": "e-3", "s": "e-6"}[unit]
    brokers = [{"broker": "b", "latency": f"10.2{factor}"}]
    latencies = [{"site": "oslo", "broker": "b", "latency": f"7.000001{factor}"}]
    clients = [{**CLIENTS[0], "limit": f"99.999{factor}"}]
    workload = run(clients=clients, brokers=brokers, latencies=latencies, latency_unit=unit)
    assert workload.brokers.latencies.tolist() == [11]
    assert workload.site_latencies.tolist() == [[8]]
    assert clients_of(workload)[0]["limit"] == 99


def test_optional_columns(run, tmp_path: Path) -> None:
    """Limits, weights and brokers that may be used: no weight is 1, no brokers are all leaves; lists in either form."""
    more = [
        {"limit": 100, "weight": 3, "allowed": "south; north;south"},
        {"limit": 50, "weight": None, "allowed": ""},
        {"limit": 0, "weight": 0, "allowed": "hub"},
    ]
    clients = [{**row, **extra} for row, extra in zip(CLIENTS, more, strict=True)]
    expected = build_content_workload(
        tmp_path / "expected",
        BUILT_SPACE,
        {
            "zoe": replace(BUILT_CLIENTS["zoe"], limit=100, weight=3, allowed=["north", "south"]),
            "ann": replace(BUILT_CLIENTS["ann"], limit=50, weight=1, allowed=["north", "south"]),
            "bob": replace(BUILT_CLIENTS["bob"], limit=0, weight=0, allowed=["hub"]),
        },
        BUILT_BROKERS,
        BUILT_LATENCIES,
    )
    assert run(clients=clients).digest == expected.digest
    lists = [{**row, "allowed": [name.strip() for name in row["allowed"].split(";") if name]} for row in clients]
    for kind in ("jsonl", "parquet"):
        path = WRITERS[kind](tmp_path / f"lists.{kind}", lists)
        assert run(clients=path).digest == expected.digest


def test_limits_are_for_all_clients_or_none(run) -> None:
    """As thresholds are."""
    clients = [{**CLIENTS[0], "limit": "5"}, {**CLIENTS[1], "limit": ""}]
    with pytest.raises(InputError, match=r"1 clients have no limit, but others have one.*leave limits out with"):
        run(clients=clients)


def test_sites_with_coordinates(run, tmp_path: Path) -> None:
    """Latencies are distances rounded up: from (0, 0) to (3, 4) are 5, to (1, 1) are 1.41, so 2."""
    brokers = [{"broker": "a", "x_0": "3", "x_1": "4"}, {"broker": "b", "x_0": "1.4", "x_1": "0.5"}]
    sites = [{"site": "oslo", "x_0": "0", "x_1": "-0.5"}, {"site": "rome", "x_0": "3", "x_1": "4"}]
    workload = run(brokers=brokers, latencies=None, sites=sites)
    assert workload.site_latencies.tolist() == [[5, 2], [0, 4]]
    assert workload.site_coordinates.tolist() == [[0, 0], [3, 4]]
    assert workload.brokers.coordinates.tolist() == [[3, 4], [1, 1]]
    assert rows_of(workload, "sites")["kept"] == 2


def test_without_sites_every_client_is_close(run) -> None:
    """The sites are those that clients name in good rows, 0 us from every broker."""
    clients = [*CLIENTS, {**CLIENTS[0], "client": "bad", "site": "nowhere", "score": "x"}]
    workload = run(clients=clients, latencies=None, max_rejected=1)
    assert workload.site_ids.to_pylist() == ["oslo", "rome"]
    assert workload.site_latencies.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert workload.manifest.sources[0]["derived_sites"] is True


def test_messages_are_counted_in_cells(run, tmp_path: Path) -> None:
    """A cell of prices is 2.5 wide, one of scores 5; the end of a grid belongs to its last cell."""
    expected = build_content_workload(
        tmp_path / "expected",
        Space(BUILT_SPACE.attributes, (4, 2)),
        {
            "zoe": replace(BUILT_CLIENTS["zoe"], publishes={0: 1, 2: 1}),
            "ann": replace(BUILT_CLIENTS["ann"], publishes={7: 2}),
            "bob": replace(BUILT_CLIENTS["bob"], publishes={}),
        },
        BUILT_BROKERS,
        BUILT_LATENCIES,
        density=[2, 0, 1, 0, 0, 0, 0, 2],
    )
    workload = run(messages=MESSAGES, cells=CELLS)
    assert workload.digest == expected.digest
    assert workload.totals.rate == 5
    workload.check()
    counted = [{**row, "count": "1"} for row in MESSAGES[:-1]] + [
        {**MESSAGES[-1], "count": "0"},
        {**MESSAGES[-1], "count": ""},
    ]
    assert run(messages=counted, cells=CELLS).digest == expected.digest
    split = run(messages=[{name: row[name] for name in ("price", "score")} for row in MESSAGES], cells=CELLS)
    assert split.optional_columns == frozenset()
    assert split.density.tolist() == [[2, 0], [1, 0], [0, 0], [0, 2]]


def test_messages_that_cannot_be_used(run) -> None:
    """Outside of the space, without a number, of a client that is not there, with a count that is none."""
    bad = [
        {"price": "10.0001", "score": "0", "client": "zoe", "count": "1"},
        {"price": "-0.1", "score": "0", "client": "nobody", "count": "1"},
        {"price": "nan", "score": "99", "client": "zoe", "count": "1"},
        {"price": "1", "score": "0", "client": "nobody", "count": "1"},
        {"price": "1", "score": "0", "client": "zoe", "count": "-1"},
    ]
    workload = run(messages=[*({**row, "count": "1"} for row in MESSAGES), *bad], cells=CELLS, max_rejected=0.5)
    assert rows_of(workload, "messages")["rejected"] == {
        "bad_count": 1,
        "bad_number": 1,
        "outside_space": 2,
        "unknown_client": 1,
    }
    assert workload.totals.rate == 5


def test_grids_are_derived_from_clients_and_messages(run) -> None:
    """Steps of 1, 2 or 5 x 10^k from the least to the largest value; the manifest says which, for giving them again."""
    given = run(messages=MESSAGES, cells=CELLS)
    derived = run(messages=MESSAGES, grids={})
    grids = [(each.origin, each.step, each.steps) for each in derived.space.attributes]
    assert grids == [("0", "0.001", 10_000), ("-5", "0.001", 10_000)]
    assert derived.space.cells == (20, 20)
    texts = derived.manifest.sources[0]["derived_grids"]
    assert texts == ["price=0:0.001:10000", "score=-5:0.001:10000"]
    again = run(messages=MESSAGES, grids=dict(Grid.parse(text) for text in texts))
    assert again.digest == derived.digest != given.digest
    assert again.manifest.sources[0]["derived_grids"] == []
    wider = [*MESSAGES, {**MESSAGES[0], "price": "99"}]
    assert run(messages=wider, grids={}).space.attributes[0].step == "0.01"


def test_values_that_only_bad_rows_have_do_not_stretch_the_grid(run) -> None:
    """A rejected row says nothing about the extent."""
    clients = [
        *CLIENTS,
        {**CLIENTS[0], "client": "", "price_high": "1e9"},
        {**CLIENTS[0], "client": "x", "price_low": "1e6"},
    ]
    workload = run(clients=clients, grids={}, max_rejected=1)
    assert workload.space.attributes[0].steps == 9_600  # from 0.4 to 10 in steps of 0.001
    assert rows_of(workload, "clients")["rejected"] == {"inverted_rectangle": 1, "missing_id": 1}


def test_no_value_no_grid(run) -> None:
    """A grid cannot be derived from nothing."""
    with pytest.raises(InputError, match=r"No client of .* has readable values of price"):
        run(clients=[{**CLIENTS[0], "price_low": "x"}], grids={}, max_rejected=1)


def test_copies_and_contradictions(run, spark, built, monkeypatch) -> None:
    """The same row again is a duplicate; of rows that differ the smallest is kept, in whatever order they come."""
    other = {**CLIENTS[0], "price_low": "0.6"}  # a step higher, so the row of CLIENTS is smaller
    clients = [other, CLIENTS[0], *CLIENTS, other]
    workload = run(clients=clients)
    assert workload.digest == built.digest
    assert rows_of(workload, "clients") == {"rows_in": 6, "kept": 3, "rejected": {}, "duplicates": 3}
    assert workload.manifest.sources[0]["conflicts"] == 2
    latencies = [*LATENCIES, LATENCIES[0]]
    brokers = [*BROKERS, BROKERS[1]]
    again = run(clients=clients[::-1], brokers=brokers, latencies=latencies)
    assert again.digest == built.digest
    assert rows_of(again, "latencies")["duplicates"] == rows_of(again, "brokers")["duplicates"] == 1
    monkeypatch.setattr("pubplan.pipeline.content.clients.MAX_ROWS_OF_ONE_PART", 0)
    assert run(spark, clients=clients).manifest.sources[0]["conflicts"] == 2


def test_columns_with_other_names_and_without_header(run, built, sources, tmp_path: Path) -> None:
    """Attributes name their columns; without a header columns come in our order."""
    renamed = [
        {
            "from": row["price_low"],
            "to": row["price_high"],
            "points": row["score"],
            "client": row["client"],
            "site": row["site"],
        }
        for row in CLIENTS
    ]
    attributes = [AttributeColumns.parse(text) for text in ("price=from:to", "score=points")]
    assert run(clients=renamed, attributes=attributes).digest == built.digest
    for kind, table in (("clients", CLIENTS), ("brokers", BROKERS), ("latencies", LATENCIES)):
        lines = [",".join(map(str, row.values())) for row in table]
        (tmp_path / f"{kind}.csv").write_text("\n".join(lines))
    paths = {kind: tmp_path / f"{kind}.csv" for kind in ("clients", "brokers", "latencies")}
    assert run(**paths, text={"has_header": False}).digest == built.digest


def test_the_window_is_what_is_given(run) -> None:
    """Messages have no times: both ends or none."""
    from pubplan.pipeline import TimeWindow

    window = TimeWindow.parse("2026-03-01", "2026-03-02")
    assert run(window=window).manifest.window == Window("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", 86_400.0)
    with pytest.raises(InputError, match="Give both window_start and window_end"):
        run(window=TimeWindow.parse("2026-03-01", None))


def random_tables(rng: random.Random, number: int) -> dict[str, list[dict[str, object]]]:
    """Clients with all optional columns, some of them twice and some of them bad, and messages."""
    clients = []
    for client in range(number):
        low = round(rng.uniform(0, 9), 3)
        row = {
            "client": f"c{client}",
            "site": rng.choice(["oslo", "rome"]),
            "price_low": low,
            "price_high": round(rng.uniform(low, 10), 3) if rng.random() < 0.98 else "x",
            "score": rng.randint(-5, 5),
            "limit": rng.randint(1, 100),
            "allowed": ";".join(rng.sample(["hub", "north", "south"], rng.randint(0, 3))),
            "weight": rng.choice(["", 1, 5]),
        }
        clients += [row, row] if rng.random() < 0.1 else [row]
        if rng.random() < 0.1:
            clients.append({**row, "limit": 7})
    messages = [
        {"price": round(rng.uniform(0, 10), 2), "score": rng.randint(-5, 5), "client": f"c{rng.randrange(number)}"}
        for _ in range(2 * number)
    ]
    return {"clients": clients, "messages": messages}


@pytest.mark.parametrize("files", [1, 7])
def test_files_parts_and_their_order_do_not_matter(run, spark, tmp_path: Path, monkeypatch, files: int) -> None:
    """The same tables in one process, or in files of shuffled rows read and sorted by tasks: the same workload."""
    tables = random_tables(random.Random(3), 2000)
    options = {"cells": CELLS, "max_rejected": 0.2}
    expected = run(**tables, **options)
    assert rows_of(expected, "clients")["duplicates"] > 0
    assert rows_of(expected, "messages")["rejected"]["unknown_client"] > 0
    assert expected.optional_columns == {"limit", "allowed", "weight", "cells", "counts"}
    paths = {}
    for kind, table in tables.items():
        shuffled = random.Random(files).sample(table, len(table))
        for part in range(files):
            write_csv(tmp_path / f"{kind}-in-{files}" / f"{part}.csv", shuffled[part::files])
        paths[kind] = tmp_path / f"{kind}-in-{files}"
    monkeypatch.setattr(sys.modules["pubplan.pipeline.content.clients"], "MAX_ROWS_OF_ONE_PART", 0)
    monkeypatch.setattr(sys.modules["pubplan.pipeline.content.messages"], "MAX_ROWS_OF_ONE_PART", 0)
    monkeypatch.setattr(sys.modules["pubplan.pipeline.parts"], "MAX_ROWS_OF_ONE_PART", 0)
    monkeypatch.setattr("pubplan.pipeline.reader.CHUNK_BYTES", 5_000)
    workload = run(spark, **paths, **options)
    assert workload.digest == expected.digest
    assert workload.counts == expected.counts
    assert [block.digest for block in workload.manifest.blocks["rejected"]] == [
        block.digest for block in expected.manifest.blocks["rejected"]
    ]


def test_many_blocks(run, spark, tmp_path: Path) -> None:
    """70,000 clients are two blocks, numbered by the bytes of their ids; each publishes one message or none."""
    number = 70_000
    rng = np.random.default_rng(5)
    numbers = rng.permutation(number)
    lows = rng.integers(0, 19, number)
    table = pa.table(
        {
            "client": [f"{client:05d}" for client in numbers],
            "site": np.where(numbers % 2, "oslo", "rome"),
            "price_low": lows / 2,
            "price_high": (lows + 1) / 2,
            "score": numbers % 10 - 5,
        }
    )
    pq.write_table(table, tmp_path / "c.parquet", row_group_size=9_999)
    senders = [f"{client:05d}" for client in range(0, number, 7)]
    pq.write_table(
        pa.table({"client": senders, "price": [1] * len(senders), "score": [0] * len(senders)}), tmp_path / "m.parquet"
    )
    workload = run(spark, clients=tmp_path / "c.parquet", messages=tmp_path / "m.parquet", cells=CELLS)
    assert workload.num_blocks == 2
    clients = [workload.client_block(block) for block in range(2)]
    whole = pa.concat_tables(clients)
    assert whole["client_id"].to_pylist() == [f"{client:05d}" for client in range(number)]
    assert np.array_equal(whole["low_0"].to_numpy()[numbers], lows)
    assert np.array_equal(np.flatnonzero([len(cells) for cells in whole["cells"].to_pylist()]), np.arange(0, number, 7))
    workload.check()
