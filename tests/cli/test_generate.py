"""``pubplan generate`` as a user meets it: what its options ask for, and what its help says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pubplan
from pubplan.generate.exponential import RATE
from pubplan.generate.nodes import SIZES
from pubplan.generate.zipf import EXPONENT


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
        ("uniform", ["--sizes", "9-3"], "the fewest first, not 9 to 3"),
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
    assert f"Default: {RATE:g}." in exponential
    assert f"Default: {EXPONENT:g}." in zipf
    assert f"Default: {SIZES[0]}-{SIZES[1]}." in zipf
