"""Uniform, Zipf and exponential nodes as in section VI of Chen et al. (ICDCS 2011)."""

from __future__ import annotations

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.generate import exponential, generate, uniform, zipf

SHAPES = {"uniform": uniform, "zipf": zipf, "exponential": exponential}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sizes_are_uniform_between_10_and_90(shape, tmp_path) -> None:
    """4000 nodes over 200 topics: 10 to 90 topics, 50 on average (within 1), as many small nodes as large ones."""
    workload = generate(shape(4000, 200), tmp_path / "workload")
    sizes = np.diff(workload.csr().by_subscriber.offsets)
    assert (workload.counts.subscribers, workload.counts.topics) == (4000, 200)
    assert (sizes.min(), sizes.max()) == (10, 90)
    assert sizes.mean() == pytest.approx(50, abs=1)
    assert (sizes < 50).mean() == pytest.approx(40 / 81, abs=0.03)
    assert workload.topic_array("rate").tolist() == [1] * 200


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_first_draw_follows_the_shares(shape) -> None:
    """With one topic per node, topic i is drawn with probability q_i, within four standard deviations."""
    expected = {
        "uniform": np.ones(5),
        "zipf": np.arange(1, 6) ** -2.0,
        "exponential": np.exp(-0.1 * np.arange(1, 6)),
    }
    probabilities = expected[shape.__name__] / expected[shape.__name__].sum()
    drawing = shape(60_000, 5).draw.__self__
    topics = drawing._topics(np.random.default_rng(7), np.ones(60_000, dtype=np.int64))
    shares = np.bincount(topics, minlength=5) / 60_000
    spread = np.sqrt(probabilities * (1 - probabilities) / 60_000)
    assert (np.abs(shares - probabilities) < 4 * spread).all()


def test_draws_are_without_replacement(tmp_path) -> None:
    """The second draw follows the shares that are left: q_j / (1 - q_i)."""
    drawing = zipf(100_000, 3).draw.__self__
    topics = drawing._topics(np.random.default_rng(3), np.full(100_000, 2, dtype=np.int64)).reshape(-1, 2)
    q = np.array([1, 1 / 4, 1 / 9]) / (1 + 1 / 4 + 1 / 9)
    pair_01 = q[0] * q[1] / (1 - q[0]) + q[1] * q[0] / (1 - q[1])
    share = ((topics[:, 0] == 0) & (topics[:, 1] == 1)).mean()
    assert share == pytest.approx(pair_01, abs=4 * np.sqrt(pair_01 * (1 - pair_01) / 100_000))


def test_few_topics(tmp_path) -> None:
    """No node wants more topics than there are."""
    workload = generate(exponential(50, 4), tmp_path / "workload")
    assert np.diff(workload.csr().by_subscriber.offsets).tolist() == [4] * 50


@pytest.mark.parametrize(("nodes", "topics"), [(0, 5), (5, 0), (-1, 5)])
def test_empty_shapes_are_refused(nodes: int, topics: int) -> None:
    """At least one node and one topic."""
    with pytest.raises(InputError, match="at least 1"):
        uniform(nodes, topics)


def test_many_topics_do_not_underflow() -> None:
    """exp(-0.1 i) is 0 in floats for i above 7500; draws still reach beyond by need."""
    offsets, topics = exponential(3, 20_000).draw(0)
    assert (np.diff(topics[: offsets[1]]) > 0).all()
    assert topics.max() < 20_000


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sizes_can_be_told(shape, tmp_path) -> None:
    """100 to 180 topics of 400: no node has fewer or more, 140 on average (within 3), and the source says the range."""
    workload = generate(shape(1000, 400, sizes=(100, 180)), tmp_path / "workload")
    sizes = np.diff(workload.csr().by_subscriber.offsets)
    assert (sizes.min(), sizes.max()) == (100, 180)
    assert sizes.mean() == pytest.approx(140, abs=3)
    assert workload.manifest.sources[0]["sizes"] == [100, 180]


def test_usual_sizes_are_not_recorded(tmp_path) -> None:
    """A range that is the usual one gives the workload that there always was."""
    usual = generate(uniform(50, 100), tmp_path / "usual")
    given = generate(uniform(50, 100, sizes=(10, 90)), tmp_path / "given")
    assert usual.digest == given.digest
    assert usual.manifest.sources == given.manifest.sources
    assert usual.manifest.sources[0].keys() == {"generator", "nodes", "topics", "seed"}


@pytest.mark.parametrize("sizes", [(0, 5), (6, 5), (-1, 5)])
def test_wrong_sizes_are_refused(sizes) -> None:
    """From 1 topic on, the smaller number first; one size for all is a range too."""
    with pytest.raises(InputError, match="the smaller number first"):
        zipf(5, 5, sizes=sizes)
    assert np.diff(zipf(5, 9, sizes=(4, 4)).draw(0)[0]).tolist() == [4] * 5


@pytest.mark.parametrize(
    ("shape", "name", "value", "shares"),
    [
        (zipf, "exponent", 0.5, np.arange(1, 6) ** -0.5),
        (zipf, "exponent", 0, np.ones(5)),
        (exponential, "rate", 0.7, np.exp(-0.7 * np.arange(1, 6))),
    ],
)
def test_distributions_can_be_given(shape, name, value, shares, tmp_path) -> None:
    """One topic per node is drawn with the shares asked for, within four standard deviations; the source records it."""
    probabilities = shares / shares.sum()
    workload = generate(shape(60_000, 5, sizes=(1, 1), **{name: value}), tmp_path / "workload")
    drawn = workload.topic_array("subscribers") / 60_000
    assert (np.abs(drawn - probabilities) < 4 * np.sqrt(probabilities * (1 - probabilities) / 60_000)).all()
    assert workload.manifest.sources[0][name] == value


@pytest.mark.parametrize("value", [-0.1, 101, float("nan"), float("inf"), True, "2"])
def test_wrong_distributions_are_refused(value) -> None:
    """A number from 0 to 100, and nothing else."""
    with pytest.raises(InputError, match=r"^exponent is a number from 0 to 100"):
        zipf(5, 5, exponent=value)
    with pytest.raises(InputError, match=r"^rate is a number from 0 to 100"):
        exponential(5, 5, rate=value)


def test_exponential_topics_die_out(tmp_path) -> None:
    """1000 nodes want about 140 topics whether there are 200 or 1000; a tenth of the rate lets all 200 live."""
    alive = {
        topics: np.count_nonzero(generate(exponential(1000, topics), tmp_path / str(topics)).topic_array("subscribers"))
        for topics in (200, 1000)
    }
    assert alive[200] == pytest.approx(140, abs=10)
    assert alive[1000] == pytest.approx(140, abs=10)
    flat = generate(exponential(1000, 200, rate=0.01), tmp_path / "flat")
    assert flat.topic_array("subscribers").min() > 0
