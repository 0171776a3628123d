"""The manifest says what a workload holds, and is not believed once it was edited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pubplan
from pubplan.errors import InputError
from pubplan.workload import TopicWorkload, Window

from .conftest import INTERESTS, RATES, copy_of


def test_the_manifest_has_the_keys_of_the_contract(tiny: TopicWorkload) -> None:
    """Others rely on these names."""
    raw = json.loads((tiny.path / "manifest.json").read_text())
    assert list(raw) == ["format", "kind", "counts", "totals", "window", "sources", "blocks", "digest"]
    assert list(raw["counts"]) == ["topics", "subscribers", "pairs", "rows_in", "kept", "rejected", "duplicates"]
    assert list(raw["totals"]) == ["cost", "rate", "bytes"]
    assert list(raw["window"]) == ["start", "end", "seconds"]
    assert raw["kind"] == "topic"
    counts = raw["counts"]
    assert counts["rows_in"] == counts["kept"] + sum(counts["rejected"].values()) + counts["duplicates"]


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


@pytest.mark.parametrize("key", ["counts", "totals", "window"])
def test_edited_manifests_are_refused(tiny: TopicWorkload, tmp_path: Path, key: str) -> None:
    """A changed number no longer fits the digest."""
    copy = copy_of(tiny, tmp_path)
    raw = json.loads((copy / "manifest.json").read_text())
    edits = {"counts": {"pairs": 7}, "totals": {"cost": 15}, "window": {"seconds": 60.0}}
    raw[key] |= edits[key]
    (copy / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match="edited"):
        pubplan.read_workload(copy)


def test_damaged_manifests_are_refused(tiny: TopicWorkload, tmp_path: Path) -> None:
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
def test_edits_that_the_digest_does_not_cover_are_refused(tiny: TopicWorkload, tmp_path: Path, edit) -> None:
    """Row counts that do not add up, blocks of other sizes, values of other types."""
    copy = copy_of(tiny, tmp_path)
    raw = json.loads((copy / "manifest.json").read_text())
    edit(raw)
    (copy / "manifest.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match=r"manifest\.json"):
        pubplan.read_workload(copy)
