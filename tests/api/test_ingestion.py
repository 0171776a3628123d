"""``pubplan.ingest``: the command with arguments of Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import pubplan
from pubplan.errors import InputError


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "events.csv").write_text("artist;timestamp\nabba;2026-03-01T10:00:00\nabba;2026-03-01T11:00:00\n")
    (tmp_path / "subscriptions.csv").write_text("ann,abba\nbob,abba\n")
    return tmp_path


def test_values_by_source(files: Path, shared_spark) -> None:
    """Columns, delimiters and headers that differ between sources; moments as datetimes; little needs no Spark."""
    workload = pubplan.ingest(
        files / "workload",
        events=files / "events.csv",
        subscriptions=str(files / "subscriptions.csv"),
        columns={"events": {"topic": "artist"}},
        delimiter={"events": ";"},
        header={"subscriptions": False},
        window_start=datetime(2026, 3, 1, tzinfo=UTC),
        window_end="2026-03-02",
    )
    assert (workload.totals.rate, workload.counts.pairs, workload.manifest.window.seconds) == (2, 2, 86_400)
    assert shared_spark == []


def test_the_command_makes_the_same(cli, files: Path, shared_spark) -> None:
    """Options that mean the same give the same digest."""
    sources = {"events": files / "events.csv", "subscriptions": files / "subscriptions.csv"}
    workload = pubplan.ingest(
        files / "python",
        **sources,
        columns={"events": {"topic": "artist"}},
        delimiter={"events": ";"},
        header={"subscriptions": False},
        message_bytes=7,
    )
    config = files / "p.toml"
    config.write_text(
        f'[ingest]\nmessage-bytes = 7\n[ingest.subscriptions]\npath = "{sources["subscriptions"]}"\nheader = false\n'
    )
    typed = [
        "--events",
        sources["events"],
        "--column",
        "events.topic=artist",
        "--delimiter",
        "events=;",
        "--parameters",
        config,
    ]
    answer = cli("ingest", *typed, "--out", files / "typed")
    assert answer.code == 0, answer.err
    assert pubplan.read_workload(files / "typed").digest == workload.digest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Ingest needs either events or rates; neither was given"),
        ({"events": "e", "rates": "r"}, "Ingest needs either events or rates; both were given"),
        ({"events": "e"}, "Ingest needs either subscriptions or follows; neither"),
        ({"format": {"event": "csv"}}, "^format: There is no source 'event'. Did you mean 'events'"),
        ({"events": "e", "follows": "f", "timestamp_unit": "m"}, "^timestamp_unit is s, ms, us or ns, not 'm'"),
        ({"events": "e", "follows": "f", "max_rejected": 2}, "^max_rejected is a share between 0 and 1"),
        ({"events": "nowhere.csv", "follows": "f.csv"}, "nowhere.csv"),
    ],
)
def test_refusals_name_arguments(tmp_path: Path, arguments: dict, said: str) -> None:
    """What is wrong is said before Spark starts, in the words of the call."""
    with pytest.raises(InputError, match=said):
        pubplan.ingest(tmp_path / "workload", **arguments)
    assert not (tmp_path / "workload").exists()
