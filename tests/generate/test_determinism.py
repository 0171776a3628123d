"""Same seed, same digest, in one process or on Spark."""

from __future__ import annotations

import pytest

from pubplan.engine import blocks
from pubplan.generate import (
    content_feeds,
    content_hotspots,
    content_newsgroups,
    exponential,
    generate,
    spotify,
    twitter,
    uniform,
    zipf,
)

SHAPES = {
    "spotify": lambda seed: spotify(0.03, seed),  # three blocks
    "twitter": lambda seed: twitter(0.005, seed),  # three blocks
    "uniform": lambda seed: uniform(70_000, 30, seed),  # two blocks
    "zipf": lambda seed: zipf(500, 30, seed),
    "exponential": lambda seed: exponential(500, 30, seed),
    "content-newsgroups": lambda seed: content_newsgroups(70_000, 40, seed, levels=2),  # two blocks
    "content-feeds": lambda seed: content_feeds(70_000, 20, seed),
    "content-hotspots": lambda seed: content_hotspots(70_000, 20, seed),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_seed_decides(shape, tmp_path) -> None:
    """The same seed gives the same content, another seed other content."""
    first = generate(shape(1), tmp_path / "a").digest
    assert generate(shape(1), tmp_path / "b").digest == first
    assert generate(shape(2), tmp_path / "c").digest != first


@pytest.mark.parametrize(
    "name", ["spotify", "twitter", "uniform", "content-newsgroups", "content-feeds", "content-hotspots"]
)
def test_cores_and_spark_do_not_matter(name, tmp_path, monkeypatch, spark) -> None:
    """One thread, several threads and Spark tasks write the same workload."""
    shape = SHAPES[name](1)
    digests = {generate(shape, tmp_path / "spark", spark=spark).digest}
    for cores in (1, 3):
        monkeypatch.setattr(blocks, "_num_cores", lambda cores=cores: cores)
        digests.add(generate(shape, tmp_path / f"cores-{cores}").digest)
    assert len(digests) == 1
