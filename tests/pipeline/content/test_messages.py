"""A log of messages that name their clients becomes what clients publish: against counting row by row."""

from __future__ import annotations

import random
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from pubplan.workload import ContentWorkload

from ..conftest import write_csv
from .conftest import CELLS, CLIENTS, Run, rows_of

NAMES = [row["client"] for row in CLIENTS]


def random_messages(rng: random.Random, number: int) -> list[dict[str, object]]:
    """Messages of known, unknown and unnamed clients, inside and outside of the space, with and without a count."""
    return [
        {
            "price": f"{rng.uniform(-0.2, 10.2):.2f}",
            "score": rng.randint(-5, 5),
            "client": rng.choice([*NAMES, *NAMES, "", "nobody"]),
            "count": rng.choice(["", "1", "3", "0", "-2"]),
        }
        for _ in range(number)
    ]


def naive_counts(messages: list[dict[str, object]]) -> tuple[dict[str, Counter[int]], Counter[int], Counter[str]]:
    """Messages by client and cell, by cell, and rows by reason: a cell of prices is 2.5 wide, one of scores 5."""
    published, density, rejected = {name: Counter[int]() for name in NAMES}, Counter[int](), Counter[str]()
    for row in messages:
        price, count, client = Fraction(row["price"]), int(row["count"] or 1), row["client"]
        if count < 0:
            rejected["bad_count"] += 1
        elif not 0 <= price <= 10:
            rejected["outside_space"] += 1
        elif client == "nobody":
            rejected["unknown_client"] += 1
        else:
            cell = 2 * min(3, int(price / Fraction(5, 2))) + min(1, (row["score"] + 5) // 5)
            density[cell] += count
            if client:
                published[client][cell] += count
    return published, density, rejected


def check(workload: ContentWorkload, messages: list[dict[str, object]]) -> None:
    published, density, rejected = naive_counts(messages)
    offsets, cells, counts = workload.read_publications(0)
    for number, name in enumerate(sorted(NAMES)):
        part = slice(*offsets[number : number + 2])
        read = dict(zip(cells[part].tolist(), counts[part].tolist(), strict=True))
        assert {cell: count for cell, count in read.items() if count} == +published[name]
    assert workload.density.reshape(-1).tolist() == [density[cell] for cell in range(8)]
    rows = rows_of(workload, "messages")
    assert rows["rejected"] == dict(rejected)
    assert rows["kept"] == len(messages) - rejected.total()
    workload.check()


@pytest.mark.parametrize("seed", range(4))
def test_messages_are_counted_per_client(run: Run, seed: int) -> None:
    """In this process: cells, counts, density and reasons."""
    messages = random_messages(random.Random(seed), 400)
    check(run(messages=messages, cells=CELLS, max_rejected=1), messages)


def test_tasks_count_messages_per_client(run: Run, spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Spark, from five files in pieces: no task sees all messages of a client."""
    messages = random_messages(random.Random(9), 1000)
    for part in range(5):
        write_csv(tmp_path / "log" / f"{part}.csv", messages[part::5])
    monkeypatch.setattr(sys.modules["pubplan.pipeline.content.messages"], "MAX_ROWS_OF_ONE_PART", 0)
    monkeypatch.setattr("pubplan.pipeline.reader.CHUNK_BYTES", 2_000)
    check(run(spark, messages=tmp_path / "log", cells=CELLS, max_rejected=1), messages)
