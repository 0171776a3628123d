"""The workload sets of Yu, Agarwal, Yang (section VI) have the statistics that the paper or their docstrings say."""

from __future__ import annotations

import numpy as np
import pytest

from pubplan.errors import InputError
from pubplan.generate import ContentShape, content_feeds, content_hotspots, content_newsgroups
from pubplan.generate.content import newsgroups
from pubplan.generate.content.network import make_network
from pubplan.workload import ClientBlock

NUMBER = 60_000


def drawn(shape: ContentShape) -> ClientBlock:
    """All clients of a shape with one block."""
    assert shape.num_clients <= 65_536
    return shape.draw(0)


def rectangles(clients: ClientBlock) -> np.ndarray:
    return np.hstack([clients.lows, clients.highs])


def test_feeds_are_unit_squares() -> None:
    """50 different ones, a thousandth of the space wide, inside it."""
    shape = content_feeds(NUMBER, 20)
    clients = drawn(shape)
    assert len(np.unique(rectangles(clients), axis=0)) == 50
    assert (clients.highs - clients.lows == 1000).all()
    assert clients.lows.min() >= 0
    assert clients.highs.max() <= shape.space.extents[0] == 1_000_000


def test_popularity_of_feeds() -> None:
    """Feed k has the share k^-0.5 / sum of all, within four standard deviations of the draws."""
    _, counts = np.unique(rectangles(drawn(content_feeds(NUMBER, 20))), axis=0, return_counts=True)
    shares = np.arange(1, 51) ** -0.5
    shares /= shares.sum()
    spread = 4 * np.sqrt(shares * (1 - shares) / NUMBER)
    assert (np.abs(np.sort(counts)[::-1] / NUMBER - shares) < spread).all()


def test_feeds_are_read_at_ten_sites() -> None:
    """Each at ten of 200, evenly: with 1000 clients and more none of the ten has less than a twentieth of them."""
    clients = drawn(content_feeds(NUMBER, 20))
    feeds = np.unique(rectangles(clients), axis=0, return_inverse=True)[1].reshape(-1)
    for feed in range(50):
        counts = np.unique(clients.sites[feeds == feed], return_counts=True)[1]
        assert len(counts) == 10
        assert counts.min() > counts.sum() / 20


def test_hot_spots_lie_in_the_middle_of_cells() -> None:
    """Before the space cuts them off, both ends are as far from the middle of a cell: half of a width of the set."""
    clients = drawn(content_hotspots(NUMBER, 20))
    is_whole = ((clients.lows > 0) & (clients.highs < 1_000_000)).all(axis=1)
    lows, highs = clients.lows[is_whole].astype(np.int64), clients.highs[is_whole]
    assert ((lows + highs) // 2 % 100_000 == 50_000).all()
    assert set(np.unique(highs - lows).tolist()) == {50_000, 100_000, 200_000, 400_000, 600_000}


def test_popularity_of_cells_and_widths() -> None:
    """Ranked cells have the shares k^-0.5, and so have widths: the narrowest 0.31 of all, told by inner cells alone."""
    clients = drawn(content_hotspots(NUMBER, 20))
    # Whatever is cut off at the border, the narrowest two widths fit into a cell: those clients tell their cells.
    is_narrow = (clients.highs - clients.lows <= 100_000).all(axis=1)
    cells = (clients.lows[is_narrow] + clients.highs[is_narrow]) // 200_000
    counts = np.sort(np.bincount(cells[:, 0] * 10 + cells[:, 1], minlength=100))[::-1]
    shares = np.arange(1, 101) ** -0.5
    shares /= shares.sum()
    spread = 4 * np.sqrt(shares / counts.sum())
    assert (np.abs(counts / counts.sum() - shares) < spread).all()
    widths = np.arange(1, 6) ** -0.5
    narrowest = (clients.highs - clients.lows == 50_000).mean(axis=0)
    assert narrowest == pytest.approx(widths[0] / widths.sum(), abs=0.01)


def test_sites_of_hot_spots_are_independent() -> None:
    """Every site has 60 000 / 30 = 2000 clients within five standard deviations."""
    counts = np.bincount(drawn(content_hotspots(NUMBER, 20, num_sites=30)).sites, minlength=30)
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)


@pytest.fixture(scope="module")
def subjects() -> tuple[np.ndarray, np.ndarray]:
    """Corners of all subjects of the newsgroups with seed 0."""
    drawing = content_newsgroups(10, 5).draw.__self__
    return drawing.lows, drawing.highs


def test_subjects_nest(subjects: tuple[np.ndarray, np.ndarray]) -> None:
    """12 broad ones contain 12 each, which contain 12 each; siblings do not overlap, and each has events."""
    lows, highs = subjects
    assert len(lows) == 12 + 144 + 1728
    assert (lows < highs).all()
    starts = [0, 12, 156, 1884]
    for level in (1, 2):
        children = np.arange(starts[level], starts[level + 1])
        parents = starts[level - 1] + (children - starts[level]) // 12
        assert (lows[children] >= lows[parents]).all()
        assert (highs[children] <= highs[parents]).all()
    for first in range(0, 1884, 12):
        family = range(first, first + 12)
        assert not any(
            (lows[a] < highs[b]).all() and (lows[b] < highs[a]).all() for a in family for b in family if a < b
        )


def level_shares(skew: str, broad: str) -> np.ndarray:
    """The share of clients whose subject is broad, wider or narrow."""
    shape = content_newsgroups(NUMBER, 20, skew=skew, broad=broad)
    drawing = shape.draw.__self__
    numbers = {tuple(row): number for number, row in enumerate(np.hstack([drawing.lows, drawing.highs]).tolist())}
    of_client = np.array([numbers[tuple(row)] for row in rectangles(drawn(shape)).tolist()])
    return np.bincount(np.digitize(of_client, [12, 156]), minlength=3) / NUMBER


def test_broad_interests() -> None:
    """10 % of each level go up: 0.1 x 0.1 are broad, 0.1 x 0.9 wider, 0.9 narrow; with 1 % almost all are narrow."""
    assert level_shares("high", "high") == pytest.approx([0.01, 0.09, 0.9], abs=0.01)
    assert level_shares("high", "low") == pytest.approx([0.0001, 0.0099, 0.99], abs=0.002)


def test_skew() -> None:
    """The narrow subjects' popularity varies less with skew low; in both the hundred hottest have nobody."""
    variances = {}
    for skew in ("low", "high"):
        generator = np.random.default_rng(5)
        narrow = np.array(newsgroups._popularity(generator, skew == "low", 1)[-1], dtype=np.float64)
        assert np.count_nonzero(narrow == 0) == newsgroups.NUM_HOTTEST
        variances[skew] = (narrow / narrow.sum()).var()
    assert variances["low"] < 0.6 * variances["high"]


def test_diffusion_keeps_45_percent_of_the_variance() -> None:
    """Twelve siblings whose popularity is 1, 1/2, … of the first: their variance falls to 0.671^2, their sum stays."""
    narrow = [0] * 1728
    narrow[:12] = [27_720 // rank for rank in range(1, 13)]
    diffused = newsgroups._diffused(narrow)
    before, after = (np.array(values[:12]) / sum(values) for values in (narrow, diffused))
    assert after.var() == pytest.approx(0.671**2 * before.var(), rel=1e-6)
    assert sum(diffused[12:]) == 0


def test_tastes_differ_by_region() -> None:
    """Some broad subject is four times as popular in one region as in another."""
    shape = content_newsgroups(NUMBER, 20)
    clients, regions = drawn(shape), make_network(2000, 0).regions
    drawing = shape.draw.__self__
    inside = [
        ((clients.lows >= low) & (clients.highs <= high)).all(axis=1)
        for low, high in zip(drawing.lows[:12], drawing.highs[:12], strict=True)
    ]
    subjects = np.argmax(inside, axis=0)
    region = regions[clients.sites]
    shares = np.array(
        [np.bincount(subjects[region == each], minlength=12) / (region == each).sum() for each in range(3)]
    )
    assert (shares.max(axis=0) / shares.min(axis=0)).max() > 4
    assert np.bincount(region) / NUMBER == pytest.approx(np.array([4, 1, 4]) / 9, abs=0.01)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: content_feeds(0, 5), "num_clients is a whole number from 1 to 999,999,999, not 0"),
        (lambda: content_feeds(5, 0), "num_brokers is a whole number from 1 to 10,000, not 0"),
        (lambda: content_hotspots(5, 10_001), "num_brokers is a whole number from 1 to 10,000, not 10001"),
        (lambda: content_feeds(5, 5, num_sites=9), "num_sites must be at least 10, not 9"),
        (lambda: content_newsgroups(5, 5, skew="medium"), "skew is low or high, not medium"),
        (lambda: content_newsgroups(5, 5, broad=""), "broad is low or high"),
    ],
)
def test_wrong_sizes_are_refused(make, said: str) -> None:
    """With a sentence that names the argument."""
    with pytest.raises(InputError, match=said):
        make()
