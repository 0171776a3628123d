"""The scripts of the page about CI do what it says: they run as they are printed, in a shell, night after night."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pubplan

pytestmark = pytest.mark.soak

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ci.md"
EVENTS = ["news"] * 3 + ["sport"] * 2 + ["chess"] * 4
FANS = [("ann", "news"), ("ann", "sport"), ("bob", "news"), ("bob", "sport"), ("cem", "chess")]


def write_files(directory: Path) -> None:
    files = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert {name for name, _ in files} == {"plan.toml", "nightly.sh", "accept.sh"}
    for name, content in files:
        (directory / name).write_text(content)


def write_sources(directory: Path, events: list[str]) -> None:
    lines = [f"{topic},{1_772_409_600 + number}" for number, topic in enumerate(events)]
    (directory / "events.csv").write_text("topic,timestamp\n" + "\n".join(lines) + "\n")
    (directory / "fans.csv").write_text("subscriber,topic\n" + "".join(f"{fan},{topic}\n" for fan, topic in FANS))


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", *command], cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_four_nights(tmp_path: Path) -> None:
    """The first night there is a plan to review; accepted, it stays in use while nothing changes; other
    rates are a change to review; and a question that nothing can answer fails the job with 3 and keeps the plan.

    News costs 3 x 2 deliveries, sport 2 x 2, chess 4; 60 % of these 14 are 8: sport and chess satisfy everybody. With
    three more events of sport it costs 10, and of 60 % of 20, which are 12, news and chess take 10.
    """
    write_files(tmp_path)
    write_sources(tmp_path, EVENTS)
    night = ("nightly.sh", "events.csv", "fans.csv")

    first = run(tmp_path, *night)
    assert first.returncode == 0, first.stderr
    assert "There is no plan in use yet." in (tmp_path / "review.md").read_text()
    accepted = run(tmp_path, "accept.sh")
    assert accepted.returncode == 0, accepted.stderr
    in_use = pubplan.read_plan(tmp_path / "current" / "plan").digest
    served = (tmp_path / "current" / "served.csv").read_text()
    assert served == "topic_id,rate,subscribers,cost\nchess,4,1,4\nsport,2,2,4\n"

    second = run(tmp_path, *night)
    assert second.returncode == 0, second.stderr
    assert not (tmp_path / "review.md").exists()

    write_sources(tmp_path, [*EVENTS, "sport", "sport", "sport"])
    third = run(tmp_path, *night)
    assert third.returncode == 0, third.stderr
    assert "served: 1 added, 1 dropped, 1 kept" in (tmp_path / "review.md").read_text()

    with open(tmp_path / "plan.toml", "a") as question:
        question.write('must_serve = ["news", "sport", "chess"]\n')
    fourth = run(tmp_path, *night)
    assert fourth.returncode == 3
    assert json.loads((tmp_path / "build" / "answer.json").read_text())["error"]["kind"] == "infeasible"
    assert pubplan.read_plan(tmp_path / "current" / "plan").digest == in_use
