"""Costs of topics: read, checked, and the largest of several rows."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.pipeline import Source

from .conftest import (
    SUBSCRIPTIONS,
    rates_of,
    rows,
    write_csv,
    write_json_lines,
    write_parquet_rows,
)


def test_costs(run, tmp_path: Path, subscriptions) -> None:
    """The optional cost of rates reaches the topics, by number; rates add up, and the largest of several costs counts.

    a comes in three rows with the costs 5, 9 and 0; the rows of the file are in no order.
    """
    columns = ["topic", "rate", "cost"]
    table = rows(columns, [("c", 4, 0), ("a", 2, 5), ("b", 1, 2**40), ("a", 1, 9), ("a", 0, 0)])
    expected = pubplan.build_workload(
        tmp_path / "expected",
        {"a": 3, "b": 1, "c": 4},
        {"x": ["a", "b"], "y": ["a"], "z": ["c"]},
        costs={"a": 9, "b": 2**40, "c": 0},
    )
    for extension, write in (("jsonl", write_json_lines), ("parquet", write_parquet_rows)):
        workload = run(Source("rates", str(write(tmp_path / f"r.{extension}", table))), subscriptions)
        assert workload.optional_topic_columns == {"cost"}
        assert workload.topic_array("cost").tolist() == [9, 2**40, 0]
        assert workload.digest == expected.digest
        assert (workload.counts.rows_in, workload.counts.kept, workload.counts.duplicates) == (9, 9, 0)
        workload.check()


def test_cost_columns_may_be_renamed_or_left_out(run, tmp_path: Path, subscriptions) -> None:
    """Like other columns the cost is mapped, left out, or the fourth without a header; events have none."""
    table = rows(["topic", "rate", "size", "fee"], [("a", 2, 7, 5), ("b", 1, 7, 6), ("c", 4, 7, 8)])
    path = write_csv(tmp_path / "fees.csv", table)
    named = run(Source("rates", str(path), columns={"cost": "fee"}), subscriptions)
    assert named.topic_array("cost").tolist() == [5, 6, 8]
    assert run(Source("rates", str(path)), subscriptions).optional_topic_columns == frozenset()
    (tmp_path / "bare.csv").write_text(path.read_text().partition("\n")[2])
    headless = Source("rates", str(tmp_path / "bare.csv"), has_header=False)
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"{s},{t}\n" for s, t in SUBSCRIPTIONS))
    assert run(headless, Source("follows", str(edges), has_header=False)).digest == named.digest
    unreadable = write_csv(tmp_path / "unreadable.csv", [{**row, "cost": "dear"} for row in table])
    left_out = run(Source("rates", str(unreadable), columns={"cost": ""}), subscriptions)
    assert left_out.optional_topic_columns == frozenset()
    with pytest.raises(InputError, match="column of events 'cost'"):
        Source("events", "e", columns={"cost": "fee"})


@pytest.mark.parametrize("stored", ["csv", "parquet"])
def test_bad_costs_are_counted_and_kept(run, tmp_path: Path, subscriptions, stored: str) -> None:
    """Negative and broken costs reject their row, whose rate does not count; of two faults the first is named.

    Of eight rows a keeps two, one of them without a cost, b and c one each; the ghost has no usable row.
    """
    values: list[tuple[object, object, object]] = [("a", 1, 3), ("b", 2, 4), ("c", 3, 5), ("a", 100, None)]
    values += [("a", 100, -1), ("ghost", 1, 0.5), ("b", -1, -1), (None, 1, -1)]
    write = write_csv if stored == "csv" else write_parquet_rows
    source = Source("rates", str(write(tmp_path / f"r.{stored}", rows(["topic", "rate", "cost"], values))))
    workload = run(source, subscriptions, max_rejected=0.9)
    assert rates_of(workload) == {"a": 101, "b": 2, "c": 3}
    assert workload.topic_array("cost").tolist() == [3, 4, 5]
    first = workload.manifest.sources[0]
    assert first["rejected"] == {"bad_cost": 2, "bad_rate": 1, "missing_id": 1}
    assert (first["rows_in"], first["kept"], first["duplicates"]) == (8, 4, 0)
    table = pq.read_table(workload.path / "rejected")
    assert Counter(table["reason"].to_pylist()) == first["rejected"]
    with pytest.raises(InputError, match=r"bad_cost: 2 rows; the cost is negative or not a whole number"):
        run(source, subscriptions)


def test_unknown_topics_cost_nothing(run, tmp_path: Path) -> None:
    """With keep_unknown a topic that only subscriptions name gets rate and cost 0, between the others."""
    traffic = write_csv(tmp_path / "r.csv", rows(["topic", "rate", "cost"], [("c", 1, 8), ("a", 3, 5)]))
    wanted = rows(["subscriber", "topic"], [*SUBSCRIPTIONS, ("x", "ghost")])
    audience = Source("subscriptions", str(write_csv(tmp_path / "s.csv", wanted)))
    workload = run(Source("rates", str(traffic)), audience, keep_unknown=True)
    assert rates_of(workload) == {"a": 3, "b": 0, "c": 1, "ghost": 0}
    assert workload.topic_array("cost").tolist() == [5, 0, 8, 0]


def test_costs_do_not_depend_on_files_and_their_order(run, tmp_path: Path) -> None:
    """Rates in 7 files, several rows per topic in any order: the digest of the workload made by hand."""
    rng = random.Random(5)
    table = [{"topic": f"t{n}", "rate": 1 + n, "cost": rng.randrange(1000)} for n in range(40) for _ in range(5)]
    wanted = {f"s{n}": [f"t{n}", f"t{(3 * n) % 40}"] for n in range(40)}
    shuffled = rng.sample(table, len(table))
    for part in range(7):
        write_csv(tmp_path / "rates" / f"{part}.csv", shuffled[part::7])
    pairs = [{"subscriber": s, "topic": t, "weight": len(s)} for s, topics in wanted.items() for t in topics]
    reference = pubplan.build_workload(
        tmp_path / "reference",
        {f"t{n}": 5 * (1 + n) for n in range(40)},
        wanted,
        weights={subscriber: len(subscriber) for subscriber in wanted},
        costs={f"t{n}": max(row["cost"] for row in table if row["topic"] == f"t{n}") for n in range(40)},
    )
    audience = Source("subscriptions", str(write_csv(tmp_path / "pairs.csv", pairs)))
    assert run(Source("rates", str(tmp_path / "rates")), audience).digest == reference.digest
