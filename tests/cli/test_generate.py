"""``pubplan generate`` as a user meets it: what its options ask for, and what its help says."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pubplan
from pubplan.generate.content import exchange, feeds, hotspots, newsgroups
from pubplan.generate.content.brokers import OUT_DEGREE
from pubplan.generate.exponential import DEFAULT_RATE
from pubplan.generate.nodes import SIZES
from pubplan.generate.zipf import DEFAULT_EXPONENT


@pytest.mark.parametrize(
    ("shape", "options", "recorded"),
    [
        ("uniform", ["--sizes", "3-7"], {"sizes": [3, 7]}),
        ("zipf", ["--sizes", "5", "--exponent", "1.5"], {"sizes": [5, 5], "exponent": 1.5}),
        ("exponential", ["--rate", "0.05"], {"rate": 0.05}),
    ],
)
def test_distributions_are_options(cli, tmp_path: Path, shape: str, options: list[str], recorded: dict) -> None:
    """Sizes, exponent and rate reach the workload, which is the one that Python makes of them."""
    answer = cli("generate", shape, "--nodes", 60, "--topics", 30, *options, "--out", tmp_path / "cli", "--quiet")
    assert answer.code == 0, answer.err
    made = pubplan.read_workload(tmp_path / "cli")
    expected = {"generator": shape, "nodes": 60, "topics": 30, "seed": 0, **recorded}
    assert made.manifest.sources[0] == expected
    arguments = {name: tuple(value) if name == "sizes" else value for name, value in recorded.items()}
    same = getattr(pubplan.generate, shape)(60, 30, **arguments)
    assert pubplan.generate.generate(same, tmp_path / "python").digest == made.digest
    sizes = np.diff(made.csr().by_subscriber.offsets)
    fewest, most = recorded.get("sizes", (10, 30))
    assert sizes.min() >= fewest
    assert sizes.max() <= most


@pytest.mark.parametrize(
    ("shape", "options", "said"),
    [
        ("uniform", ["--sizes", "many"], "--sizes is a range of topics per node such as 10-90"),
        ("uniform", ["--sizes", "9-3"], "the smaller number first, not 9 to 3"),
        ("uniform", ["--exponent", "2"], "--exponent"),
        ("zipf", ["--exponent", "-1"], "--exponent is a number from 0 to 100, not -1"),
        ("exponential", ["--rate", "nan"], "--rate is a number from 0 to 100, not nan"),
    ],
)
def test_wrong_distributions_exit_with_2(cli, tmp_path: Path, shape: str, options: list[str], said: str) -> None:
    """A sentence that helps, and nothing written."""
    answer = cli("generate", shape, *options, "--out", tmp_path / "workload")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_help_has_the_defaults_of_the_shapes(cli) -> None:
    """The numbers in the help are those that the shapes are drawn with."""
    exponential, zipf = (" ".join(cli("generate", name, "--help").out.split()) for name in ("exponential", "zipf"))
    assert f"Default: {DEFAULT_RATE:g}." in exponential
    assert f"Default: {DEFAULT_EXPONENT:g}." in zipf
    assert f"Default: {SIZES[0]}-{SIZES[1]}." in zipf


@pytest.mark.parametrize(
    ("shape", "options", "recorded"),
    [
        ("newsgroups", ["--skew", "low", "--broad", "high"], {"skew": "low", "broad": "high"}),
        (
            "newsgroups",
            ["--levels", 2, "--out-degree", 4],
            {"levels": 2, "out_degree": 4, "skew": "high", "broad": "low"},
        ),
        ("feeds", ["--sites", 50], {"sites": 50}),
        ("hotspots", ["--seed", 3], {"seed": 3}),
        ("exchange", ["--price-ratio", "0.05", "--dims", 2], {"price_ratio": "0.05", "dimensions": 2}),
        ("exchange", ["--niche", "2%", "--groups", 9, "--cells", 50], {"niche": "2%", "groups": 9, "cells": 50}),
        ("exchange", ["--sites", 40, "--capacity-factor", "1.5"], {"sites": 40, "capacity_factor": "1.5"}),
    ],
)
def test_content_shapes(cli, tmp_path: Path, shape: str, options: list[str], recorded: dict) -> None:
    """Options reach the workload; the manifest records what is not usual; JSON says what load factor can be reached."""
    sizes = ["--clients", 300, "--brokers", 12]
    answer = cli("generate", f"content-{shape}", *sizes, *options, "--out", tmp_path / "cli", "--quiet", "--json")
    assert answer.code == 0, answer.err
    made = pubplan.read_workload(tmp_path / "cli")
    assert made.counts.sizes.items() >= {"clients": 300, "brokers": 12}.items()
    expected = {"generator": f"content-{shape}", "clients": 300, "brokers": 12, "seed": 0} | recorded
    assert made.manifest.sources[0] == expected
    value = json.loads(answer.out)
    least = value.pop("least_load")
    assert value == made.manifest.to_dict()
    assert least["max_delay"] == "0.3"
    assert float(Fraction(least["exact"])) == least["factor"] >= 1


def test_content_raw_tables_are_named(cli, tmp_path: Path) -> None:
    """The answer has the command that makes a workload of the raw tables."""
    directory = tmp_path / "raw"
    options = ["--clients", 100, "--brokers", 5, "--raw", directory, "--out", tmp_path / "workload", "--quiet"]
    answer = cli("generate", "content-hotspots", *options)
    sources = f"--clients {directory}/clients --brokers {directory}/brokers --sites {directory}/sites"
    assert f"pubplan ingest --parameters {directory}/ingest.toml {sources} --out DIR" in answer.out


@pytest.mark.parametrize(
    ("shape", "options", "said"),
    [
        ("newsgroups", ["--skew", "medium"], "--skew is low or high, not medium"),
        ("feeds", ["--brokers", 0], "--brokers is a whole number from 1 to 10,000, not 0"),
        ("hotspots", ["--levels", 9], "--levels is a whole number from 1 to 5, not 9"),
        ("adversarial", ["--clients", 7], "--clients must be a multiple of 400, not 7"),
        ("adversarial", ["--seed", 7], "--seed"),
        ("exchange", ["--dims", 4], "--dims is a whole number from 1 to 3, not 4"),
        ("exchange", ["--niche", "0.02"], "--niche is a share of the space such as 2%, not '0.02'. Did you mean '2%'?"),
    ],
)
def test_wrong_content_shapes_exit_with_2(cli, tmp_path: Path, shape: str, options: list[str], said: str) -> None:
    """A sentence that helps, and nothing written; what has no random choices takes no seed."""
    answer = cli("generate", f"content-{shape}", *options, "--out", tmp_path / "workload")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_help_of_content_shapes_has_the_defaults(cli) -> None:
    """The numbers in the help are those that the shapes are drawn with."""
    text = " ".join(cli("generate", "content-feeds", "--help").out.split())
    assert f"Default: {hotspots.NUM_SITES}, for feeds {feeds.NUM_SITES}." in text
    assert f"Default: {OUT_DEGREE}." in text
    assert hotspots.NUM_SITES == newsgroups.NUM_SITES
    text = " ".join(cli("generate", "content-exchange", "--help").out.split())
    assert "Default: {}, {} or {} by --dims.".format(*exchange.USUAL_CELLS.values()) in text
    assert f"at most {exchange.USUAL_SITES:,}." in text
