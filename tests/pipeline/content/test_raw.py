"""What generate writes as raw tables, ingest turns back into the same workload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pubplan

SHAPES = {
    "content-newsgroups": "sites",
    "content-feeds": "sites",
    "content-hotspots": "sites",
    "content-adversarial": "latencies",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_raw_tables_give_their_workload_back(cli, tmp_path: Path, shape: str) -> None:
    """To the digest, with the options of ingest.toml; few clients need no Spark."""
    workload, raw, back = (tmp_path / name for name in ("workload", "raw", "back"))
    made = cli("generate", shape, "--clients", 480, "--brokers", 12, "--out", workload, "--raw", raw)
    assert made.code == 0, made.err
    network = SHAPES[shape]
    sources = [word for kind in ("clients", "brokers", network) for word in (f"--{kind}", raw / kind)]
    answer = cli("ingest", "--parameters", raw / "ingest.toml", *sources, "--out", back, "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["digest"] == pubplan.read_workload(workload).digest
    assert "starting Spark" not in answer.err
