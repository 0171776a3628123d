"""pubplan ingest on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pubplan
from pubplan.engine.session import QUICK_START
from pubplan.workload import DEFAULT_MESSAGE_BYTES

EVENTS = "artist,when\na,1\nb,2\na,3\n"
SUBSCRIPTIONS = "subscriber,topic\nx,a\nx,b\ny,a\n"


@pytest.fixture
def sources(tmp_path: Path, shared_spark) -> list[object]:
    (tmp_path / "events.csv").write_text(EVENTS)
    (tmp_path / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    names = ["--column", "events.topic=artist", "--column", "events.timestamp=when"]
    return ["--events", tmp_path / "events.csv", "--subscriptions", tmp_path / "subscriptions.csv", *names]


@pytest.fixture
def shared_settings(spark, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Lets commands use the session of the test run; returns the settings they asked for."""
    asked: list[dict[str, str]] = []

    @contextmanager
    def borrow(master: str | None, conf: dict[str, str]) -> Iterator[object]:
        asked.append(conf)
        yield spark

    monkeypatch.setattr("pubplan.api.session.spark_session", borrow)
    return asked


def test_from_log_files_to_a_workload(cli, sources, tmp_path: Path) -> None:
    """Counts per source in words, the manifest in JSON, and a workload that can be planned."""
    out = tmp_path / "workload"
    answer = cli("ingest", *sources, "--out", out)
    assert answer.code == 0, answer.err
    assert "2 topics, 2 subscribers, 3 interests" in answer.out
    assert "events: 3 rows in, 3 kept, 0 rejected, 0 duplicates" in answer.out
    assert "counting events" in answer.err
    again = cli("ingest", *sources, "--out", out, "--replace", "--json", "--quiet")
    assert json.loads(again.out)["digest"] == pubplan.read_workload(out).digest
    assert again.err == ""
    plan = cli("select", out, "--threshold", 1, "--capacity", "100%", "--out", tmp_path / "plan")
    assert plan.code == 0


def test_options_from_a_file(cli, sources, tmp_path: Path) -> None:
    """A TOML file may hold everything: paths, columns, reader options, the window."""
    (tmp_path / "events.txt").write_text(EVENTS.replace(",", ";"))
    (tmp_path / "i.toml").write_text(
        f"""
        [ingest]
        window-start = "1970-01-01T00:00:00Z"
        window-end = "1970-01-01T00:00:03Z"
        max-rejected = "50%"
        subscriptions = "{tmp_path}/subscriptions.csv"
        [ingest.events]
        path = "{tmp_path}/events.txt"
        format = "csv"
        columns = {{ topic = "artist", timestamp = "when" }}
        options = {{ sep = ";" }}
        """
    )
    answer = cli("ingest", "--parameters", tmp_path / "i.toml", "--out", tmp_path / "workload", "--json")
    manifest = json.loads(answer.out)
    assert manifest["window"] == {"start": "1970-01-01T00:00:00Z", "end": "1970-01-01T00:00:03Z", "seconds": 3.0}
    assert manifest["sources"][0]["rejected"] == {"outside_window": 1}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "either --events or --rates; neither was given"),
        (["--events", "e", "--rates", "r", "--follows", "f"], "either --events or --rates; both were given"),
        (["--events", "e"], "either --subscriptions or --follows; neither was given"),
        (["--events", "gone.csv", "--follows", "f.csv"], "There is no gone.csv"),
        (["--events", "e", "--follows", "f", "--column", "topic=x"], "--column takes SOURCE.NAME=VALUE"),
        (["--events", "e", "--follows", "f", "--column", "events.topics=x"], "Did you mean 'topic'"),
        (["--events", "e", "--follows", "f", "--timestamp-unit", "h"], "s, ms, us or ns"),
        (["--events", "e", "--follows", "f", "--max-rejected", "0.05"], "not '0.05'. Did you mean '5%'?"),
        (["--events", "e", "--follows", "f", "--max-rejected", "101%"], "--max-rejected is a share such as 5%"),
        (["--events", "e", "--follows", "f", "--window-start", "noon"], "ISO 8601"),
    ],
)
def test_wrong_options_exit_with_2(cli, tmp_path: Path, shared_spark, options: list[str], said: str) -> None:
    """A sentence that helps, and nothing written."""
    answer = cli("ingest", *options, "--out", tmp_path / "workload")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("events", "options", "said"),
    [
        ("topic,timestamp\na,1\n", ["--events", "gone.csv"], "There is no gone.csv"),
        ("topic,when\na,1\n", [], "has no column 'timestamp'"),
        ("topic,timestamp\na,1700000000000\n", [], "pass --timestamp-unit ms"),
        ("topic,timestamp\na,1\n", ["--master", "here"], "'here' is not a Spark master URL"),
        ("topic,timestamp\na,1\n", ["--conf", "memory=1g"], "--conf takes spark.some.key=value"),
        ("topic,timestamp\na,1\n", ["--column", "subscriptions.weight=w"], "has no column 'w'"),
        ("topic,timestamp\n" + "a,1700000000000\n" * 50_000, [], "pass --timestamp-unit ms"),
    ],
    ids=["no file", "no column", "other unit", "no master", "no setting", "no optional column", "large, other unit"],
)
def test_mistakes_are_refused_without_spark(
    cli, tmp_path: Path, monkeypatch, events: str, options: list[str], said: str
) -> None:
    """Paths, columns, units and options are checked before Spark starts, also where files are too large to be small."""

    def start(*_: object) -> None:
        raise AssertionError("a session was started")

    monkeypatch.setattr("pubplan.api.session.spark_session", start)
    monkeypatch.setattr("pubplan.pipeline.reader.CHUNK_BYTES", 1 << 18)
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text(events)
    Path("subscriptions.csv").write_text(SUBSCRIPTIONS)
    answer = cli(
        "ingest", "--events", "events.csv", "--subscriptions", "subscriptions.csv", *options, "--out", "workload"
    )
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.csv", "subscriptions.csv"]


def test_little_work_starts_spark_quickly(cli, sources, tmp_path: Path, shared_settings) -> None:
    """Small sources get a session that was asked for, whose Java starts quickly; settings that are given come first."""
    out = ["--out", tmp_path / "workload", "--replace"]
    assert cli("ingest", *sources, *out).code == 0
    assert shared_settings == []
    assert cli("ingest", *sources, *out, "--master", "local[1]").code == 0
    assert cli("ingest", *sources, *out, "--conf", "spark.driver.extraJavaOptions=-Xint").code == 0
    options = [settings["spark.driver.extraJavaOptions"] for settings in shared_settings]
    assert options == [QUICK_START["spark.driver.extraJavaOptions"], "-Xint"]


def test_too_many_rejected_rows(cli, sources, tmp_path: Path) -> None:
    """Exit code 2 with reasons and samples."""
    (tmp_path / "events.csv").write_text(EVENTS + "c,never\n")
    answer = cli("ingest", *sources, "--out", tmp_path / "workload")
    assert answer.code == 2
    assert "bad_timestamp: 1 rows" in answer.err
    assert "    c,never\n" in answer.err


def test_generate_raw_and_back(cli, tmp_path: Path, shared_spark) -> None:
    """The command that generate prints gives the workload back."""
    raw = tmp_path / "raw"
    answer = cli("generate", "zipf", "--nodes", 40, "--topics", 30, "--out", tmp_path / "w", "--raw", raw)
    assert answer.code == 0
    command = answer.out.strip().splitlines()[-1].partition(": pubplan ")[2].replace("DIR", str(tmp_path / "back"))
    assert cli(*command.split()).code == 0
    assert pubplan.read_workload(tmp_path / "back").digest == pubplan.read_workload(tmp_path / "w").digest
    assert cli("generate", "zipf", "--nodes", 40, "--topics", 30, "--out", tmp_path / "w2", "--raw", raw).code == 2
    assert not (tmp_path / "w2").exists()


def test_raw_rates_and_back(cli, tmp_path: Path, shared_spark) -> None:
    """With rates instead of events too the command that generate prints gives the workload back."""
    shape = ("generate", "zipf", "--nodes", 40, "--topics", 30)
    answer = cli(*shape, "--out", tmp_path / "w", "--raw", tmp_path / "raw", "--raw-rates")
    assert answer.code == 0, answer.err
    command = answer.out.strip().splitlines()[-1].partition(": pubplan ")[2].replace("DIR", str(tmp_path / "back"))
    back = cli(*command.split())
    assert back.code == 0, back.err
    assert pubplan.read_workload(tmp_path / "back").digest == pubplan.read_workload(tmp_path / "w").digest


def test_options_of_text_for_all_sources_or_one(cli, shared_spark, tmp_path: Path) -> None:
    """Format, delimiter, quote and encoding may differ between sources; a source's value beats the general one."""
    (tmp_path / "e.log").write_bytes("caf\xe9;1\n'a;b';2\n".encode("latin-1"))
    (tmp_path / "s.log").write_text('{"subscriber": "x", "topic": "a;b"}\n')
    files = ["--events", tmp_path / "e.log", "--subscriptions", tmp_path / "s.log", "--no-header"]
    text = ["--delimiter", "events=;", "--quote", "'", "--encoding", "events=latin-1"]
    answer = cli("ingest", *files, *text, "--format", "csv", "--format", "subscriptions=json", "--out", tmp_path / "w")
    assert answer.code == 0, answer.err
    assert pubplan.read_workload(tmp_path / "w").topics("topic_id")["topic_id"].to_pylist() == ["a;b", "café"]
    (tmp_path / "i.toml").write_text(
        f"""
        [ingest]
        quote = "'"
        subscriptions = {{ path = "{tmp_path}/s.log", format = "json" }}
        [ingest.events]
        path = "{tmp_path}/e.log"
        format = "csv"
        delimiter = ";"
        encoding = "latin-1"
        header = false
        """
    )
    again = cli("ingest", "--parameters", tmp_path / "i.toml", "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert pubplan.read_workload(tmp_path / "again").digest == pubplan.read_workload(tmp_path / "w").digest


def test_wildcards_are_counted_in_words(cli, shared_spark, tmp_path: Path) -> None:
    """MQTT wildcards are expanded over the known topics, and the answer says to how many."""
    (tmp_path / "e.csv").write_text("topic,timestamp\nhome/a/temp,1\nhome/b/temp,2\n")
    (tmp_path / "s.csv").write_text("subscriber,topic\nx,home/+/temp\ny,home/#\ny,home/a/temp\n")
    files = ["--events", tmp_path / "e.csv", "--subscriptions", tmp_path / "s.csv"]
    answer = cli("ingest", *files, "--wildcards", "mqtt", "--out", tmp_path / "w")
    assert answer.code == 0, answer.err
    # x and y want both topics; y names one of them again: 5 rows, of which one is a duplicate.
    assert "subscriptions: 5 rows in, 4 kept, 0 rejected, 1 duplicates." in answer.out
    assert "2 wildcards were expanded to 4 subscriptions." in answer.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--delimiter", "::"], "--delimiter is one ASCII character, not '::'"),
        (["--encoding", "klingon"], "no text encoding 'klingon'"),
        (["--wildcards", "amqp"], "--wildcards is nats or mqtt, not 'amqp'"),
    ],
)
def test_wrong_options_of_text_exit_with_2(cli, tmp_path: Path, shared_spark, options: list[str], said: str) -> None:
    """Refused before anything is read."""
    answer = cli("ingest", "--events", "e", "--follows", "f", *options, "--out", tmp_path / "workload")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_help_has_the_default_message_size(cli) -> None:
    """The number in the help is the one that is used."""
    assert f"default {DEFAULT_MESSAGE_BYTES}." in " ".join(cli("ingest", "--help").out.split())
