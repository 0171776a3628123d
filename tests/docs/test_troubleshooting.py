"""Every sentence that heads an entry of docs/troubleshooting.md is one that pubplan prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT

HEADINGS = re.findall(r"^### `(.*)`$", (ROOT / "docs" / "troubleshooting.md").read_text(), flags=re.MULTILINE)

INGEST = "ingest --subscriptions fans.csv --out new"
PROVOCATIONS = {
    "There is no … to read events from.": (2, f"{INGEST} --events missing.csv"),
    "… has no column 'topic', expected for the topic of events. It has: …": (2, f"{INGEST} --events artists.csv"),
    "… rows of … were rejected, more than the 5 % that --max-rejected allows": (2, f"{INGEST} --events ms.csv"),
    "The numbers look like times in ms: pass --timestamp-unit ms.": (2, f"{INGEST} --events ms.csv"),
    "unknown_topic: … rows; the subscription names a topic without events or rate": (
        2,
        "ingest --rates rates.csv --subscriptions strangers.csv --out new",
    ),
    "… exists already. Choose another --out, or pass --replace to overwrite it.": (
        2,
        "ingest --rates rates.csv --subscriptions fans.csv --out workload",
    ),
    "Cannot write …": (2, "select workload --threshold 5 --capacity 50% --out /proc/nope/plan"),
    "… is not a workload: it has no manifest.json. It is a plan": (2, "describe plan"),
    "… is a file, not a workload. Make a workload of raw files with 'pubplan ingest'.": (2, "describe rates.csv"),
    "… does not say how long its window is: pass --window.": (2, "provision workload --threshold 5"),
    "--capacity is a share of the total cost such as 10%, … Did you mean '10%'?": (
        2,
        "select workload --threshold 5 --capacity 0.1",
    ),
    "The topics that must be served cost … more than the capacity.": (
        3,
        "select workload --threshold 5 --capacity 1 --must-serve a",
    ),
    "No VM type can satisfy every subscriber.": (3, "provision workload --threshold 5 --window 1d --peak-factor 1e12"),
    "No: no plan costs less than …, and the budget is …": (
        3,
        "provision workload --threshold 5 --window 1d --budget 0.5",
    ),
    "There is no VM type …": (2, "provision workload --threshold 5 --vm-type m5.large"),
    "… is stale: it was made for workload …": (5, "verify plan --workload other"),
    "… was changed since it was written.": (4, "report changed --out page.html"),
    "… fails:": (4, "verify changed --workload workload"),
}
ON_SPARK = "generate uniform --nodes 10 --topics 10 --out new --master local[1]"
ENGINE_PROVOCATIONS = {
    "JAVA_HOME is …, but there is no …": ({"JAVA_HOME": "/nonexistent"}, ON_SPARK),
    "Spark did not start with master …": ({}, f"{ON_SPARK} --conf spark.driver.memory=1m"),
}
"""Variables and command; in processes of their own, as the tests share a session that runs."""


@pytest.fixture
def material(tmp_path: Path, monkeypatch, make_workload, cli) -> None:
    """Files and directories that the commands name, in the current directory."""
    monkeypatch.chdir(tmp_path)
    files = {
        "ms.csv": "topic,timestamp\na,1772359200000\nb,1772359201500\n",
        "artists.csv": "artist,when\na,1\n",
        "rates.csv": "topic,rate\na,5\nb,3\n",
        "fans.csv": "subscriber,topic\nx,a\ny,a\ny,b\n",
        "strangers.csv": "subscriber,topic\nx,a\nx,q\ny,r\n",
    }
    for name, content in files.items():
        Path(name).write_text(content)
    for name, rates in (("workload", {"a": 5, "b": 3}), ("other", {"a": 5, "b": 4})):
        shutil.copytree(make_workload(rates, {"x": ["a"], "y": ["a", "b"]}).path, name)
    assert cli("select", "workload", "--threshold", 5, "--capacity", "50%", "--out", "plan").code == 0
    shutil.copytree("plan", "changed")
    with open("changed/decisions/served.parquet", "ab") as table:
        table.write(b"x")


def assert_prints(sentence: str, printed: str) -> None:
    """The parts of a sentence around its ellipses are printed, in order."""
    parts = [re.escape(part) for part in sentence.split("…")]
    assert re.search(".*".join(parts), printed, flags=re.DOTALL), printed


def test_every_heading_is_provoked() -> None:
    """Neither more nor fewer than the page has."""
    assert sorted(HEADINGS) == sorted([*PROVOCATIONS, *ENGINE_PROVOCATIONS])


@pytest.mark.parametrize("sentence", PROVOCATIONS)
def test_the_sentence_is_printed(sentence: str, material, cli) -> None:
    """With the exit code of its kind."""
    code, command = PROVOCATIONS[sentence]
    answer = cli(*command.split(), "--quiet")
    assert answer.code == code, answer.err
    assert_prints(sentence, answer.err)


@pytest.mark.java
@pytest.mark.parametrize("sentence", ENGINE_PROVOCATIONS)
def test_engines_that_do_not_start(sentence: str, tmp_path: Path) -> None:
    """A Java that is gone, and one that gets a megabyte of memory."""
    variables, command = ENGINE_PROVOCATIONS[sentence]
    finished = subprocess.run(
        [Path(sys.executable).with_name("pubplan"), *command.split()],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 1, finished.stderr
    assert_prints(sentence, finished.stderr)
