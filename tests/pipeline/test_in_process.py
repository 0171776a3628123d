"""Small sources are grouped and numbered without Spark, and give what Spark gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pubplan
from pubplan.engine import LazySpark, read_block
from pubplan.errors import InputError
from pubplan.pipeline import Ingest, Source, ingest
from pubplan.workload import Workload

from .conftest import no_spark, rows, write_csv
from .test_ingest import ODD_IDS
from .test_refusals import dirty_trace


@pytest.fixture
def both(spark, tmp_path: Path) -> Callable[..., tuple[Workload, Workload]]:
    """Ingests the same two sources in this process and on Spark."""

    def call(traffic: Source, audience: Source, **options: Any) -> tuple[Workload, Workload]:
        job = Ingest(traffic, audience, **options)
        return ingest(LazySpark(no_spark), job, tmp_path / "here"), ingest(spark, job, tmp_path / "spark")

    return call


def check_equal(here: Workload, on_spark: Workload) -> None:
    """Digest, what became of the rows of each source, and the rejected rows themselves."""
    assert here.digest == on_spark.digest
    assert here.manifest.sources == on_spark.manifest.sources
    assert here.manifest.window == on_spark.manifest.window
    assert rejected_rows(here) == rejected_rows(on_spark)
    here.check()


def rejected_rows(workload: Workload) -> list[dict[str, Any]]:
    files = sorted((workload.path / "rejected").glob("*.parquet"))
    return [row for number in range(len(files)) for row in read_block(workload.path / "rejected", number).to_pylist()]


def audience_of(tmp_path: Path, columns: list[str], values: list[tuple[Any, ...]]) -> Source:
    return Source("subscriptions", str(write_csv(tmp_path / "subscriptions.csv", rows(columns, values))))


def test_rejected_rows(both, tmp_path: Path) -> None:
    """Bad rows of every kind, and copies."""
    here, on_spark = both(*dirty_trace(tmp_path), max_rejected=1.0)
    check_equal(here, on_spark)
    assert rejected_rows(here)


def test_odd_ids(both, tmp_path: Path) -> None:
    """Subscribers are numbered by the bytes of their ids, whatever these are."""
    ids = [*ODD_IDS, "a", "A", "aa", "é", "z", "\uffff", "\U0001f600"]
    events = write_csv(tmp_path / "events.csv", rows(["topic", "timestamp"], [(name, 1) for name in ids]))
    pairs = [(subscriber, topic) for subscriber in ids for topic in ids[:5]]
    audience = audience_of(tmp_path, ["subscriber", "topic"], random.Random(1).sample(pairs, len(pairs)))
    traffic = Source("events", str(events), multiline=True)
    check_equal(*both(traffic, replace(audience, multiline=True)))


def test_weights_and_thresholds(both, events: Source, tmp_path: Path) -> None:
    """The largest of several counts, a weight that is given nowhere is 1; also where values are as large as can be."""
    values = [("x", "a", 3, 7), ("x", "b", "", ""), ("x", "b", 5, 2), ("y", "a", "", 0), ("z", "c", 2**62, 2**62)]
    audience = audience_of(tmp_path, ["subscriber", "topic", "weight", "threshold"], values)
    here, on_spark = both(events, audience)
    check_equal(here, on_spark)
    table = here.interests_block(0).to_pydict()
    assert (table["weight"], table["threshold"]) == ([5, 1, 2**62], [7, 0, 2**62])


def test_some_thresholds_are_missing(both, events: Source, tmp_path: Path) -> None:
    """Refused with the same sentence."""
    values = [("x", "a", 3), ("y", "a", ""), ("z", "a", "")]
    audience = audience_of(tmp_path, ["subscriber", "topic", "threshold"], values)
    with pytest.raises(InputError, match=r"^2 subscribers have no threshold, but others have one"):
        both(events, audience)


def test_events_with_ids(both, tmp_path: Path) -> None:
    """Of several events with one id the smallest counts: by topic in bytes, moment, size, and none before any size."""
    values = [
        ("é", 5, 9, "e1"),
        ("z", 7, 1, "e1"),
        ("z", 6, "", "e1"),
        ("z", 6, 4, "e1"),
        ("b", 3, 8, "e2"),
        ("b", 3, 2, "e2"),
        ("b", 9, 2**40, "e3"),
        ("b", "never", 1, "e4"),
        ("c", 1, 1, ""),
    ]
    path = write_csv(tmp_path / "e.csv", rows(["topic", "timestamp", "size", "id"], values))
    traffic = Source("events", str(path), columns={"event": "id"})
    audience = audience_of(tmp_path, ["subscriber", "topic"], [("x", "z"), ("x", "b")])
    here, on_spark = both(traffic, audience, max_rejected=1.0)
    check_equal(here, on_spark)
    topics = here.topics("topic_id", "rate", "message_bytes").to_pydict()
    # The event of z has no size: 200 bytes, as where none is given. Those of b are of 2 and 2^40 bytes.
    assert topics == {"topic_id": ["b", "z"], "rate": [2, 1], "message_bytes": [2**39 + 1, 200]}
    assert here.manifest.sources[0]["duplicates"] == 4


def test_nothing_but_bad_events(both, tmp_path: Path, subscriptions: Source) -> None:
    """No event counts, no interest is left: a workload of nothing."""
    path = write_csv(tmp_path / "e.csv", rows(["topic", "timestamp", "id"], [("a", "never", "e1")]))
    traffic = Source("events", str(path), columns={"event": "id"})
    check_equal(*both(traffic, subscriptions, max_rejected=1.0))


def test_wildcards_and_unknown_topics(both, events: Source, tmp_path: Path) -> None:
    """Subscriptions that are expanded, and topics that only subscriptions name."""
    audience = audience_of(tmp_path, ["subscriber", "topic"], [("x", ">"), ("y", "*"), ("x", "a"), ("z", "new")])
    check_equal(*both(events, audience, wildcards="nats", keep_unknown=True))


def test_several_blocks(tmp_path: Path, spark) -> None:
    """Also more subscribers than a block holds are numbered without Spark."""
    number = 70_000
    (tmp_path / "rates.csv").write_text("topic,rate\nt,3\nu,1\n")
    pairs = "".join(f"s{index * 7919 % number},{'tu'[index % 2]}\n" for index in range(number))
    (tmp_path / "subscriptions.csv").write_text("subscriber,topic\n" + pairs)
    job = Ingest(
        Source("rates", str(tmp_path / "rates.csv")), Source("subscriptions", str(tmp_path / "subscriptions.csv"))
    )
    here = ingest(LazySpark(no_spark), job, tmp_path / "here")
    assert here.num_blocks == 2
    check_equal(here, ingest(spark, job, tmp_path / "spark"))


@pytest.mark.parametrize("limit", [4, 3])
def test_many_pairs_start_spark(spark, monkeypatch, events, subscriptions, tmp_path: Path, limit: int) -> None:
    """More pairs than are grouped here: Spark groups them."""
    monkeypatch.setattr("pubplan.pipeline.parts.MAX_ROWS_IN_PROCESS", limit)
    starts: list[object] = []
    session = LazySpark(lambda settings: starts.append(settings) or spark)
    ingest(session, Ingest(events, subscriptions), tmp_path / "workload")
    assert len(starts) == (0 if limit == 4 else 1)


@pytest.mark.parametrize("asked", [{"master": "local[1]"}, {"conf": {"spark.log.level": "OFF"}}, {}])
def test_spark_that_was_asked_for_is_used(spark, monkeypatch, events, subscriptions, tmp_path, asked) -> None:
    """With a master or settings, three pairs go through Spark too; without, none starts."""
    starts: list[object] = []

    @contextmanager
    def borrow(master: str | None, conf: dict[str, str]) -> Iterator[object]:
        starts.append(master)
        yield spark

    monkeypatch.setattr("pubplan.api.session.spark_session", borrow)
    pubplan.ingest(tmp_path / "out", events=events.path, subscriptions=subscriptions.path, **asked)
    assert len(starts) == bool(asked)
