"""Kinds of workloads: manifest, reading, checking and describing hold for one that is not about topics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

import pubplan
from pubplan.engine import BLOCK_ROWS
from pubplan.errors import InputError
from pubplan.workload import (
    TOPIC,
    Block,
    Counts,
    Kind,
    Totals,
    Window,
    Workload,
    describe,
    find_kind,
    finish,
    kinds,
    register_kind,
    require_kind,
    write_table,
)


@dataclass(frozen=True, kw_only=True)
class BoxCounts(Counts):
    boxes: int


@dataclass(frozen=True)
class BoxTotals(Totals):
    volume: int


class BoxWorkload(Workload):
    """A workload of boxes, each with a volume."""

    def summary(self) -> str:
        return f"{self.counts.sizes['boxes']} boxes"

    def recompute_totals(self) -> BoxTotals:
        return BoxTotals(int(self.column("boxes", "volume").sum()))


def count_boxes(blocks: Mapping[str, tuple[Block, ...]]) -> dict[str, int]:
    return {"boxes": sum(block.rows for block in blocks["boxes"])}


BOX = Kind("box", ("boxes",), "boxes", BoxCounts, BoxTotals, count_boxes, BoxWorkload)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind is known while a test runs."""
    monkeypatch.setattr(kinds, "_KINDS", dict(kinds._KINDS))
    register_kind(BOX)


def write_boxes(directory: Path, volumes: list[int], volume: int | None = None) -> Path:
    """Boxes of these volumes, which the manifest says to be ``volume`` in all."""
    directory.mkdir()
    ids = [f"b{number:09d}" for number in range(len(volumes))]
    table = pa.table({"box_id": ids, "volume": pa.array(volumes, pa.int64())})
    finish(
        directory,
        BOX,
        blocks={"boxes": write_table(directory, "boxes", table)},
        totals=BoxTotals(sum(volumes) if volume is None else volume),
        window=Window(),
        sources=[],
        rows={"rows_in": len(volumes), "kept": len(volumes)},
    )
    return directory


@pytest.mark.usefixtures("registered")
def test_a_workload_is_opened_as_its_kind(tmp_path: Path) -> None:
    """It is read back as the class of its kind, with its counts, totals, blocks and columns."""
    volumes = [*range(BLOCK_ROWS), 7, 8]
    opened = pubplan.read_workload(write_boxes(tmp_path / "boxes", volumes))
    assert isinstance(opened, BoxWorkload)
    assert (opened.kind, opened.counts.sizes, opened.totals) == (
        "box",
        {"boxes": BLOCK_ROWS + 2},
        BoxTotals(sum(volumes)),
    )
    assert opened.num_blocks == 2
    assert opened.column("boxes", "volume").tolist() == volumes
    assert opened.ids("boxes", "box_id")[BLOCK_ROWS].as_py() == f"b{BLOCK_ROWS:09d}"
    assert opened.find_id("boxes", "box_id", f"b{BLOCK_ROWS + 1:09d}") == (1, 1)
    assert opened.find_id("boxes", "box_id", "unknown") is None
    assert repr(opened) == f"BoxWorkload({str(opened.path)!r}: {BLOCK_ROWS + 2} boxes)"
    opened.check()


@pytest.mark.usefixtures("registered")
def test_the_manifest_holds_what_the_kind_declares(tmp_path: Path) -> None:
    """Counts and totals are flat, in the order of the kind; the digest follows the tables of the kind."""
    first = pubplan.read_workload(write_boxes(tmp_path / "first", [1, 2]))
    raw = json.loads((first.path / "manifest.json").read_text())
    assert raw["counts"] == {"boxes": 2, "rows_in": 2, "kept": 2, "rejected": {}, "duplicates": 0}
    assert (raw["kind"], raw["totals"], list(raw["blocks"])) == ("box", {"volume": 3}, ["boxes"])
    assert pubplan.read_workload(write_boxes(tmp_path / "same", [1, 2])).digest == first.digest
    assert pubplan.read_workload(write_boxes(tmp_path / "other", [2, 1])).digest != first.digest


@pytest.mark.usefixtures("registered")
def test_counts_and_totals_are_checked_by_the_kind(tmp_path: Path) -> None:
    """Counts must be those of the blocks when it is opened, totals those of the tables when it is checked."""
    opened = pubplan.read_workload(write_boxes(tmp_path / "false", [1, 2], volume=4))
    with pytest.raises(InputError, match="other totals"):
        opened.check()
    path = write_boxes(tmp_path / "edited", [1, 2]) / "manifest.json"
    raw = json.loads(path.read_text())
    for counts, sentence in (({"boxes": 3}, "other numbers of rows"), ({"topics": 3}, "damaged")):
        path.write_text(json.dumps(raw | {"counts": raw["counts"] | counts}))
        with pytest.raises(InputError, match=sentence):
            pubplan.read_workload(path.parent)


@pytest.mark.usefixtures("registered")
def test_what_only_topics_have_is_refused(tmp_path: Path, cli) -> None:
    """Describing it, and planning it with a family for topics, ends in a sentence with its kind."""
    opened = pubplan.read_workload(write_boxes(tmp_path / "boxes", [1, 2]))
    with pytest.raises(InputError, match="cannot be described: it is a box workload"):
        describe(opened)
    answer = cli("describe", opened.path)
    assert (answer.code, "it is a box workload" in answer.err) == (2, True)
    with pytest.raises(InputError, match=r"select plans topic workloads; .*boxes is a box workload\."):
        require_kind(opened, TOPIC, "select")
    assert require_kind(opened, BOX, "pack") is opened
    with pytest.raises(InputError, match="overlay plans topic workloads"):
        pubplan.overlay.Problem(opened)


@pytest.mark.parametrize("kind", ["box", "Topic", None, ["topic"]])
def test_unknown_kinds_are_refused(make_workload, kind: object) -> None:
    """A manifest of a kind that is not known is not read as another; the sentence says which are known."""
    path = make_workload({"a": 1}, {"x": ["a"]}).path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": kind}))
    with pytest.raises(
        InputError, match=r"cannot be opened: the kind is .*; this version of pubplan knows content, topic\."
    ):
        pubplan.read_workload(path.parent)


def test_topic_workloads_say_what_they_are(make_workload) -> None:
    """One sentence with the counts, in the singular where there is one, and the cost of serving everything."""
    workload = make_workload({"a": 1000}, {"x": ["a"], "y": ["a"]})
    summary = "1 topic, 2 subscribers, 2 interests; serving everything costs 2,000 deliveries per window"
    assert workload.summary() == summary
    assert repr(workload) == f"TopicWorkload({str(workload.path)!r}: {summary})"
    assert find_kind(workload.kind) is TOPIC
