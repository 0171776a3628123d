"""Workload directories: what is written is read back, and nothing else is taken for one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pubplan
from pubplan.engine import BLOCK_ROWS, MAX_INT64, digest_table, read_block
from pubplan.errors import EngineError, InputError
from pubplan.workload import Window, Workload, finish_workload, numbered_ids

RATES = {"news": 3, "sport": 5, "art": 0, "ünïcode": 2}
INTERESTS = {"bob": ["sport", "news"], "ann": ["news"], "zoe": [], "carl": ["ünïcode", "art", "news"]}


@pytest.fixture
def tiny(make_workload) -> Workload:
    return make_workload(RATES, INTERESTS)


def test_ids_are_numbered_by_their_bytes(tiny: Workload) -> None:
    """Dense numbers follow the UTF-8 order of the ids, for topics and subscribers."""
    assert tiny.topics("topic_id")["topic_id"].to_pylist() == ["art", "news", "sport", "ünïcode"]
    assert tiny.interests_block(0, "subscriber_id")["subscriber_id"].to_pylist() == ["ann", "bob", "carl", "zoe"]


def test_both_directions(tiny: Workload) -> None:
    """csr() gives topics by subscriber and subscribers by topic, ascending."""
    interests = tiny.csr()
    assert [interests.by_subscriber.row(v).tolist() for v in range(4)] == [[1], [1, 2], [0, 1, 3], []]
    assert [interests.by_topic.row(t).tolist() for t in range(4)] == [[2], [0, 1, 2], [1], [2]]
    assert interests.by_subscriber.offsets.dtype == interests.by_topic.offsets.dtype == np.int64
    assert interests.by_subscriber.values.dtype == interests.by_topic.values.dtype == np.int32


def test_totals_are_in_the_manifest(tiny: Workload) -> None:
    """Cost, rate and bytes are known without reading a table.

    news has 3 subscribers, sport 1, art 1, ünïcode 1: 3*3 + 5*1 + 0*1 + 2*1 = 16 deliveries of 200 bytes.
    """
    assert (tiny.totals.cost, tiny.totals.rate, tiny.totals.bytes) == (16, 10, 3200)
    assert (tiny.counts.topics, tiny.counts.subscribers, tiny.counts.pairs) == (4, 4, 6)


def test_the_manifest_has_the_keys_of_the_contract(tiny: Workload) -> None:
    """Others rely on these names."""
    raw = json.loads((tiny.path / "manifest.json").read_text())
    assert list(raw) == ["format", "kind", "counts", "totals", "window", "sources", "blocks", "digest"]
    assert list(raw["counts"]) == ["topics", "subscribers", "pairs", "rows_in", "kept", "rejected", "duplicates"]
    assert list(raw["totals"]) == ["cost", "rate", "bytes"]
    assert list(raw["window"]) == ["start", "end", "seconds"]
    assert raw["kind"] == "topic"
    counts = raw["counts"]
    assert counts["rows_in"] == counts["kept"] + sum(counts["rejected"].values()) + counts["duplicates"]


def test_tables_have_the_columns_of_the_contract(tiny: Workload) -> None:
    """Names and types as others read them."""
    topics = pq.read_schema(tiny.path / "topics" / "00000.parquet")
    assert {field.name: str(field.type) for field in topics} == {
        "topic": "int32",
        "topic_id": "string",
        "rate": "int64",
        "subscribers": "int64",
        "message_bytes": "int64",
    }
    interests = pq.read_schema(tiny.path / "interests" / "00000.parquet")
    assert interests.names == ["subscriber", "subscriber_id", "topics"]
    assert [str(interests.field(name).type) for name in ("subscriber", "subscriber_id")] == ["int64", "string"]
    assert interests.field("topics").type.value_type == pa.int32()


def test_optional_columns(make_workload) -> None:
    """A workload may bring a threshold and a weight per subscriber."""
    plain = make_workload({"a": 1}, {"x": ["a"], "y": []})
    assert plain.optional_columns == frozenset()
    own = make_workload({"a": 1}, {"x": ["a"], "y": []}, thresholds={"x": 3, "y": 5})
    assert own.optional_columns == {"threshold"}
    assert own.subscriber_array("threshold").tolist() == [3, 5]
    assert own.digest != plain.digest
    both = make_workload({"a": 1}, {"x": ["a"], "y": []}, weights={"y": 0, "x": 4}, thresholds={"x": 3, "y": 5})
    assert both.optional_columns == {"threshold", "weight"}
    assert both.subscriber_array("weight").tolist() == [4, 0]
    assert both.subscriber_array("threshold").tolist() == [3, 5]
    both.check()


def test_costs(make_workload) -> None:
    """A workload may bring a cost per topic; the totals stay those of its deliveries."""
    plain = make_workload(RATES, INTERESTS)
    assert plain.optional_topic_columns == frozenset()
    assert "cost" not in plain.topics().column_names
    own = make_workload(RATES, INTERESTS, costs={"sport": 7, "news": 0, "ünïcode": 9, "art": 2**40})
    assert own.optional_topic_columns == {"cost"}
    assert own.optional_columns == frozenset()
    assert own.topic_array("cost").tolist() == [2**40, 0, 7, 9]  # art, news, sport, ünïcode
    assert own.topics().schema.field("cost") == pa.field("cost", pa.int64(), nullable=False)
    assert own.topics("cost", "topic_id").to_pylist()[2] == {"cost": 7, "topic_id": "sport"}
    assert own.totals == plain.totals
    assert own.digest != plain.digest
    own.check()


def test_columns_that_are_not_there_are_named(tiny: Workload, make_workload) -> None:
    """Asking the topics for a column they lack says which they have, also where there are no topics."""
    for workload in (tiny, make_workload({}, {}, costs={})):
        with pytest.raises(InputError, match=r"'cost'.*Known: message_bytes, rate, subscribers, topic, topic_id\."):
            workload.topic_array("cost")
    with pytest.raises(InputError, match="Did you mean 'rate'"):
        tiny.topics("topic_id", "rates")


def test_the_digest_follows_the_content(make_workload) -> None:
    """The same tables give the same digest wherever they lie; a rate, an id, an interest or the window change it."""
    base = make_workload(RATES, INTERESTS)
    assert make_workload(dict(reversed(RATES.items())), INTERESTS).digest == base.digest
    others = [
        make_workload(RATES | {"news": 4}, INTERESTS),
        make_workload(RATES, INTERESTS | {"zoe": ["art"]}),
        make_workload(RATES, {("bobby" if k == "bob" else k): v for k, v in INTERESTS.items()}),
        make_workload(RATES, INTERESTS, window=Window(seconds=60.0)),
        make_workload(RATES, INTERESTS, message_bytes=100),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 6


def test_empty_workloads_open(make_workload) -> None:
    """No topics, no subscribers: still a workload."""
    nothing = make_workload({}, {})
    assert nothing.csr().by_topic.num_rows == 0
    assert nothing.topic_array("rate").tolist() == []
    quiet = make_workload({"a": 1}, {})
    assert quiet.csr().by_topic.row(0).tolist() == []


def test_many_blocks(spotify: Workload) -> None:
    """Reading over block borders gives what the blocks hold."""
    assert len(spotify.interests_blocks) == 2
    rows = spotify.csr().by_subscriber
    for block in range(2):
        lists = spotify.interests_block(block, "topics")["topics"].to_pylist()
        for offset in (0, 1, len(lists) - 1):
            assert rows.row(block * BLOCK_ROWS + offset).tolist() == lists[offset]
    spotify.check()


def test_the_spark_frame_is_the_table(spotify: Workload, spark) -> None:
    """DataFrame users see every subscriber with its topics."""
    frame = spotify.interests_frame(spark)
    assert frame.columns == ["subscriber", "subscriber_id", "topics"]
    assert frame.count() == spotify.counts.subscribers
    assert frame.selectExpr("sum(size(topics))").first()[0] == spotify.counts.pairs
    spotify.check(spark)


def copy_of(workload: Workload, tmp_path: Path) -> Path:
    return Path(shutil.copytree(workload.path, tmp_path / "copy"))


def test_incomplete_directories_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """A missing manifest, table or directory is named."""
    with pytest.raises(InputError, match="no workload directory"):
        pubplan.read_workload(tmp_path / "nowhere")
    copy = copy_of(tiny, tmp_path)
    (copy / "topics" / "00000.parquet").unlink()
    with pytest.raises(InputError, match=r"incomplete: topics/00000.parquet is missing"):
        pubplan.read_workload(copy)
    (copy / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"no manifest\.json"):
        pubplan.read_workload(copy)


def test_foreign_directories_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """Other formats and files that do not belong are named."""
    copy = copy_of(tiny, tmp_path)
    (copy / "interests" / "00001.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"does not list: interests/00001.parquet"):
        pubplan.read_workload(copy)
    (copy / "manifest.json").write_text('{"format": "something/2"}')
    with pytest.raises(InputError, match="something/2"):
        pubplan.read_workload(copy)


@pytest.mark.parametrize("key", ["counts", "totals", "window", "kind"])
def test_edited_manifests_are_refused(tiny: Workload, tmp_path: Path, key: str) -> None:
    """A changed number no longer fits the digest."""
    copy = copy_of(tiny, tmp_path)
    raw = json.loads((copy / "manifest.json").read_text())
    edits = {"counts": {"pairs": 7}, "totals": {"cost": 15}, "window": {"seconds": 60.0}}
    raw[key] = raw[key] | edits[key] if key in edits else "content"
    (copy / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match="edited"):
        pubplan.read_workload(copy)


def test_damaged_manifests_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """Keys that are missing or misspelt are said to be."""
    copy = copy_of(tiny, tmp_path)
    raw = json.loads((copy / "manifest.json").read_text())
    for broken in ({**raw, "counts": {"topic": 3}}, {k: v for k, v in raw.items() if k != "blocks"}):
        (copy / "manifest.json").write_text(json.dumps(broken))
        with pytest.raises(InputError, match="damaged"):
            pubplan.read_workload(copy)


@pytest.mark.parametrize(
    "edit",
    [
        lambda raw: raw["counts"].update(rows_in=7),
        lambda raw: raw["counts"].update(rows_in="x"),
        lambda raw: raw["counts"].update(rejected={"bad": 1}),
        lambda raw: raw["blocks"]["interests"][0].update(pairs=None),
        lambda raw: raw["blocks"]["interests"][0].update(rows=3),
        lambda raw: raw["totals"].update(cost=-1),
        lambda raw: raw["window"].update(seconds="soon", end=[]),
    ],
)
def test_edits_beside_the_digest_are_refused(tiny: Workload, tmp_path: Path, edit) -> None:
    """Row counts that do not add up, blocks of other sizes, values of other types."""
    copy = copy_of(tiny, tmp_path)
    raw = json.loads((copy / "manifest.json").read_text())
    edit(raw)
    (copy / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match=r"manifest\.json"):
        pubplan.read_workload(copy)


def test_false_totals_are_found_by_check(tiny: Workload) -> None:
    """A manifest that promises ten times the cost, digest and all, does not survive the check."""
    false = replace(tiny.manifest, totals=replace(tiny.totals, cost=10 * tiny.totals.cost))
    with pytest.raises(InputError, match="other totals"):
        Workload(tiny.path, false).check()


def test_damaged_interests_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """A file of the right size with other content ends in a sentence, whoever reads it."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "interests" / "00000.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    opened = pubplan.read_workload(copy)
    for read in (lambda: opened.optional_columns, opened.csr, opened.check):
        with pytest.raises(InputError, match="cannot be read"):
            read()


def test_damaged_topics_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """The same for a file of topics."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    opened = pubplan.read_workload(copy)
    for read in (lambda: opened.optional_topic_columns, opened.topics, opened.check):
        with pytest.raises(InputError, match="cannot be read"):
            read()


def test_interests_of_another_type_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """Topics that are not lists of integers, and topics that do not exist."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "interests" / "00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "topics", pa.array(["a"] * 4)), path)
    with pytest.raises(InputError, match="list of int32"):
        Workload(copy, tiny.manifest).csr()
    pq.write_table(table.set_column(2, "topics", pa.array([[9, 9], [9], [9, 9], [9]], pa.list_(pa.int32()))), path)
    with pytest.raises(InputError, match="outside"):
        Workload(copy, tiny.manifest).csr()
    pq.write_table(table.slice(0, 2), path)
    with pytest.raises(InputError, match="size its manifest says"):
        Workload(copy, tiny.manifest).csr()


def test_a_grown_file_is_refused_at_once(tiny: Workload, tmp_path: Path) -> None:
    """Sizes are compared when a workload is opened."""
    copy = copy_of(tiny, tmp_path)
    with open(copy / "topics" / "00000.parquet", "ab") as handle:
        handle.write(b"x")
    with pytest.raises(InputError, match="size"):
        pubplan.read_workload(copy)


def test_a_changed_file_of_the_same_size_is_found_by_check(tiny: Workload, tmp_path: Path) -> None:
    """check() recomputes the digests."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    table = pq.read_table(path)
    changed = table.set_column(2, "rate", pa.array([0, 3, 5, 9], pa.int64()))
    pq.write_table(changed, path)
    entry = tiny.manifest.blocks["topics"][0]
    manifest = replace(
        tiny.manifest, blocks={**tiny.manifest.blocks, "topics": (replace(entry, bytes=path.stat().st_size),)}
    )
    assert manifest.digest == tiny.manifest.digest
    with pytest.raises(InputError, match="changed"):
        Workload(copy, manifest).check()
    assert digest_table(read_block(copy / "topics", 0)) != entry.digest


def test_interests_that_contradict_the_topics_are_refused(tiny: Workload, tmp_path: Path) -> None:
    """csr() does not trust the counted subscribers of a table that was tampered with."""
    copy = copy_of(tiny, tmp_path)
    path = copy / "topics" / "00000.parquet"
    table = pq.read_table(path)
    counts = pa.array([1, 2, 2, 1], pa.int64())
    pq.write_table(table.set_column(3, table.schema.field("subscribers"), counts), path)
    with pytest.raises(InputError, match="counts other subscribers"):
        Workload(copy, tiny.manifest).csr()
    pq.write_table(table.set_column(3, "subscribers", counts.cast(pa.int32())), path)
    with pytest.raises(InputError, match="other columns"):
        Workload(copy, tiny.manifest).csr()


def test_too_little_memory_is_said_before_reading(tiny: Workload, monkeypatch) -> None:
    """csr() asks for the size of its arrays, and refuses with it where that is too much."""
    asked = []
    monkeypatch.setattr("pubplan.workload.csr.require_memory", lambda need, purpose: asked.append(need))
    tiny.csr()
    # 6 pairs twice at 4 bytes, 5 + 5 offsets at 8, and room to work
    assert 6 * 8 + 10 * 8 <= asked[0] < 10_000
    monkeypatch.undo()
    monkeypatch.setattr("pubplan.engine.memory.available_bytes", lambda: 100)
    with pytest.raises(EngineError, match=r"6 interests .* needs .* GB"):
        tiny.csr()


def test_totals_beyond_64_bits_are_refused(make_workload) -> None:
    """A workload whose cost, rate or bytes do not fit is never written."""
    with pytest.raises(InputError, match="cost"):
        make_workload({"a": 2**62}, {"x": ["a"], "y": ["a"]})
    with pytest.raises(InputError, match="rate"):
        make_workload({"a": 2**62, "b": 2**62}, {"x": []})
    with pytest.raises(InputError, match="bytes"):
        make_workload({"a": 2**60}, {"x": ["a"]})
    with pytest.raises(InputError, match="negative"):
        make_workload({"a": -1}, {"x": ["a"]})
    assert make_workload({"a": 2**61}, {"x": ["a"]}, message_bytes=1).totals.cost == 2**61


def test_unknown_topics_and_missing_values_are_refused(make_workload) -> None:
    """Values given by hand are checked."""
    with pytest.raises(InputError, match="b"):
        make_workload({"a": 1}, {"x": ["b"]})
    with pytest.raises(InputError, match="every subscriber"):
        make_workload({"a": 1}, {"x": ["a"], "y": []}, thresholds={"x": 1})
    with pytest.raises(InputError, match=r"weight .* every subscriber"):
        make_workload({"a": 1}, {"x": ["a"], "y": []}, weights={"x": 1})
    with pytest.raises(InputError, match=r"cost .* every topic"):
        make_workload({"a": 1, "b": 1}, {"x": ["a"]}, costs={"a": 1})
    with pytest.raises(InputError, match=r"cost .* every topic"):
        make_workload({"a": 1}, {"x": ["a"]}, costs={"a": 1, "c": 1})
    for sizes in ({"a": 1}, {"a": 1, "b": 1, "c": 1}):
        with pytest.raises(InputError, match=r"message size .* every topic"):
            make_workload({"a": 1, "b": 1}, {"x": ["a"]}, message_bytes=sizes)
    for sizes in (-1, 2.5, True, {"a": -1}, {"a": 2.5}, {"a": 2**63}):
        with pytest.raises(InputError, match="message size of 'a'"):
            make_workload({"a": 1}, {"x": ["a"]}, message_bytes=sizes)
    for rates, interests in (({"a": 2.9}, {}), ({"a": True}, {}), ({1: 1}, {}), ({"a": 1}, {7: ["a"]})):
        with pytest.raises(InputError):
            make_workload(rates, interests)
    twice = make_workload({"a": 1}, {"x": ["a", "a", "a"]})
    assert (twice.counts.rows_in, twice.counts.kept, twice.counts.duplicates) == (3, 1, 2)


def test_messages_have_one_size_or_their_own(make_workload) -> None:
    """A number for all topics, or one for each, in the order of the topics: 3 x 2 x 10 + 5 x 1 x 7 bytes go out."""
    rates, interests = {"b": 5, "a": 3}, {"x": ["a", "b"], "y": ["a"]}
    assert make_workload(rates, interests, message_bytes=9).topic_array("message_bytes").tolist() == [9, 9]
    own = make_workload(rates, interests, message_bytes={"b": 7, "a": 10})
    assert own.topic_array("message_bytes").tolist() == [10, 7]
    assert own.totals.bytes == 95
    own.check()


def topics_with(directory: Path, costs: list[int]) -> Workload:
    """Topics of rate 1 without subscribers, at these costs."""
    number = len(costs)
    finish_workload(
        directory,
        topic_ids=numbered_ids("t", 0, number),
        rates=np.ones(number, dtype=np.int64),
        subscribers=np.zeros(number, dtype=np.int64),
        message_bytes=np.ones(number, dtype=np.int64),
        interests=[],
        window=Window(),
        sources=[],
        optional={"cost": np.array(costs, dtype=np.int64)},
    )
    return pubplan.read_workload(directory)


def test_costs_are_read_over_block_borders(tmp_path: Path) -> None:
    """Each topic has its own cost, in the order of the topics, in every block."""
    costs = [(7 * topic) % 1000 for topic in range(BLOCK_ROWS + 5)]
    workload = topics_with(tmp_path, costs)
    assert len(workload.manifest.blocks["topics"]) == 2
    assert workload.topic_array("cost").tolist() == costs
    workload.check()


def test_costs_must_be_counts_that_add_up(tmp_path: Path) -> None:
    """Costs are not negative, and their total fits 64 bits: nothing wraps."""
    with pytest.raises(InputError, match=r"cost of topic 1 is -2"):
        topics_with(tmp_path, [5, -2])
    with pytest.raises(InputError, match=rf"total cost .* is {MAX_INT64 + 1}"):
        topics_with(tmp_path, [MAX_INT64, 1])
    # 2^64 in all would wrap to 0
    with pytest.raises(InputError, match=rf"total cost .* is {2**64}"):
        topics_with(tmp_path, [2**62] * 4)
    assert list(tmp_path.iterdir()) == []
    assert topics_with(tmp_path, [MAX_INT64 - 1, 1]).topic_array("cost").tolist() == [MAX_INT64 - 1, 1]


def test_costs_of_another_type_are_refused(tmp_path: Path) -> None:
    """A table that was rewritten with fractions is not read as whole numbers."""
    workload = topics_with(tmp_path, [5, 6])
    path = tmp_path / "topics" / "00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(5, "cost", pa.array([5.5, 6.5])), path)
    with pytest.raises(InputError, match="other columns"):
        Workload(workload.path, workload.manifest).topic_array("cost")


@pytest.mark.parametrize("name", ["weights", "costs"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "3", None, 2**63])
def test_weights_and_costs_are_counts(make_workload, name: str, value: object) -> None:
    """Whole numbers from 0 that fit 64 bits; anything else is named with its owner."""
    with pytest.raises(InputError, match=rf"The {name[:-1]} of 'a' must be .*, not {value!r}"):
        make_workload({"a": 1}, {"a": ["a"]}, **{name: {"a": value}})


def test_too_many_topics_are_refused(tmp_path: Path) -> None:
    """Topic numbers are 32 bits wide."""

    class Long(np.ndarray):
        def __len__(self) -> int:
            return 2**31

    rates = np.empty(1, dtype=np.int64).view(Long)
    with pytest.raises(InputError, match="2147483648 topics"):
        finish_workload(
            tmp_path,
            topic_ids=pa.array([]),
            rates=rates,
            subscribers=rates,
            message_bytes=rates,
            interests=[],
            window=Window(),
            sources=[],
        )
