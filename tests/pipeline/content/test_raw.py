"""What generate writes as raw tables, ingest turns back into the same workload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pubplan

SHAPES = {
    "content-newsgroups": ["sites"],
    "content-feeds": ["sites"],
    "content-hotspots": ["sites"],
    "content-adversarial": ["latencies"],
    "content-exchange": ["sites", "prices", "links", "messages"],
    "content-exchange --dims 2 --niche 20%": ["sites", "prices", "links", "messages"],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_raw_tables_give_their_workload_back(cli, tmp_path: Path, shape: str) -> None:
    """To the digest, with the options of ingest.toml; few clients need no Spark."""
    workload, raw, back = (tmp_path / name for name in ("workload", "raw", "back"))
    made = cli("generate", *shape.split(), "--clients", 480, "--brokers", 12, "--out", workload, "--raw", raw)
    assert made.code == 0, made.err
    sources = [word for kind in ("clients", "brokers", *SHAPES[shape]) for word in (f"--{kind}", raw / kind)]
    assert " ".join(map(str, sources)) in made.out
    answer = cli("ingest", "--parameters", raw / "ingest.toml", *sources, "--out", back, "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["digest"] == pubplan.read_workload(workload).digest
    assert "starting Spark" not in answer.err


def test_prices_by_distance_give_the_workload_back(cli, tmp_path: Path) -> None:
    """Instead of the tables of prices: the side of 100,000 us costs 10,000 between brokers, 2,500 from sites."""
    workload, raw, back = (tmp_path / name for name in ("workload", "raw", "back"))
    options = ("--clients", 60, "--brokers", 5, "--price-ratio", "0.25", "--cells", 20)
    assert cli("generate", "content-exchange", *options, "--out", workload, "--raw", raw).code == 0
    sources = [word for kind in ("clients", "brokers", "sites", "messages") for word in (f"--{kind}", raw / kind)]
    answer = cli(
        *("ingest", "--parameters", raw / "ingest.toml", *sources, "--price-per-distance", "0.1:0.025", "--out", back)
    )
    assert answer.code == 0, answer.err
    assert pubplan.read_workload(back).digest == pubplan.read_workload(workload).digest
