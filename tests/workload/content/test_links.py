"""Prices between brokers: metrics are kept, other prices are closed or refused with the worst detour."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from pubplan.errors import InputError
from pubplan.workload import build_content_workload, close_links, metric_closure, unit_space
from pubplan.workload.content import links
from pubplan.workload.content.links import MAX_LINK_PRICE, check_metric

from .conftest import BROKERS, CLIENTS, LATENCIES

IDS = pa.array(["hub", "north", "south"])


def naive_closure(matrix: list[list[int]]) -> tuple[list[list[int]], tuple[int, int, int] | None]:
    """The cheapest of all routes, and the worst detour, by trying everything."""
    number = len(matrix)
    closed = [
        [
            min(
                sum(matrix[one][other] for one, other in itertools.pairwise((first, *between, last)))
                for length in range(number)
                for between in itertools.permutations(range(number), length)
            )
            for last in range(number)
        ]
        for first in range(number)
    ]
    excess = {
        (one, other, via): matrix[one][other] - matrix[one][via] - matrix[via][other]
        for one, other in itertools.combinations(range(number), 2)
        for via in range(number)
    }
    most = max(excess.values(), default=0)
    return closed, next(triple for triple, value in excess.items() if value == most) if most > 0 else None


@pytest.mark.parametrize("rows_at_once", [2, 32])
@pytest.mark.parametrize("seed", range(12))
def test_closures_are_the_cheapest_routes(monkeypatch: pytest.MonkeyPatch, seed: int, rows_at_once: int) -> None:
    """Against trying every route between up to five brokers; the worst triple is the first of the worst."""
    monkeypatch.setattr(links, "ROWS_AT_ONCE", rows_at_once)
    generator = np.random.default_rng(seed)
    number = int(generator.integers(1, 6))
    upper = np.triu(generator.integers(0, 12, (number, number)), 1)
    matrix = upper + upper.T
    closed, worst = metric_closure(matrix)
    expected, triple = naive_closure(matrix.tolist())
    assert closed.tolist() == expected
    assert worst == triple
    again, none = metric_closure(closed)
    assert (again.tolist(), none) == (expected, None)


def test_rounded_up_distances_are_a_metric() -> None:
    """ceil(a + b) <= ceil(a) + ceil(b): whole prices of points need no closure."""
    points = np.random.default_rng(4).random((40, 2))
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    matrix = np.ceil(distances * 1000).astype(np.int64)
    closed, worst = metric_closure(matrix)
    assert worst is None
    assert (closed == matrix).all()


def test_largest_prices_do_not_wrap() -> None:
    """Two prices of 10^18 add up to less than 2^63."""
    matrix = np.full((3, 3), MAX_LINK_PRICE) - MAX_LINK_PRICE * np.eye(3, dtype=np.int64)
    assert metric_closure(matrix)[1] is None


def test_links_are_closed_with_a_reason() -> None:
    """hub to south for 9 is worse than over north for 2 + 3: the price becomes 5, and both are told."""
    matrix = np.array([[0, 2, 9], [2, 0, 3], [9, 3, 0]])
    closed, closure = close_links(matrix, IDS)
    assert closed.tolist() == [[0, 2, 5], [2, 0, 3], [5, 3, 0]]
    assert closure is not None
    assert str(closure) == "'hub' to 'south' costs 9 directly and 5 over 'north'"
    assert closure.to_dict() == {
        "worst": {"brokers": ["hub", "south", "north"], "price": 9, "detour": 5},
        "lowered": 1,
        "pairs": 3,
    }


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[0, 2, 9], [2, 0, 3], [9, 3, 0]], "not a metric: 'hub' to 'south' costs 9 directly and 5 over 'north'"),
        ([[0, 2], [2, 0]], "2 x 2 prices; 3 brokers need one for every two"),
        ([[0, 2, 3], [2, 0, -3], [3, -3, 0]], "between 'north' and 'south' is -3"),
        ([[0, 2, 3], [2, 1, 3], [3, 3, 0]], "from 'north' to itself is 1"),
        ([[0, 2, 3], [2, 0, 3], [3, 4, 0]], "between 'north' and 'south' is 3 in one direction and 4 in the other"),
    ],
)
def test_what_is_not_a_metric_is_refused(matrix: list[list[int]], sentence: str) -> None:
    """With the brokers that it concerns."""
    with pytest.raises(InputError, match=sentence):
        check_metric(np.array(matrix, dtype=np.int64), IDS)


def test_too_many_brokers_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """Before a matrix is made for them."""
    monkeypatch.setattr(links, "MAX_LINKED_BROKERS", 2)
    with pytest.raises(InputError, match="every two of 3 brokers are too many; at most 2 brokers"):
        build_content_workload(tmp_path / "w", unit_space(10, 5), CLIENTS, BROKERS, LATENCIES, links={})


def test_prices_are_written_and_read(tmp_path) -> None:
    """Sites have prices to brokers, brokers to each other; the closure is in the manifest, not in the digest."""
    given = {"prices": {"oslo": {"hub": 7, "north": 1, "south": 2}, "rome": {"hub": 3, "north": 4, "south": 5}}}
    one_way = {"hub": {"north": 2, "south": 9}, "north": {"south": 3}}
    workload = build_content_workload(
        tmp_path / "w", unit_space(10, 5), CLIENTS, BROKERS, LATENCIES, links=one_way, **given
    )
    assert workload.site_prices is not None
    assert workload.site_prices.tolist() == [[7, 1, 2], [3, 4, 5]]
    assert workload.link_prices is not None
    assert workload.link_prices.tolist() == [[0, 2, 5], [2, 0, 3], [5, 3, 0]]
    assert workload.manifest.sources[0]["links_closed"]["worst"]["brokers"] == ["hub", "south", "north"]
    workload.check()
    both_ways = {"hub": {"hub": 0, "north": 2, "south": 5}, "south": {"hub": 5, "north": 3}}
    again = build_content_workload(
        tmp_path / "again", unit_space(10, 5), CLIENTS, BROKERS, LATENCIES, links=both_ways, **given
    )
    assert again.digest == workload.digest
    assert again.manifest.sources == ({"made": "by hand"},)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"links": {"hub": {"north": 2}}}, "the one between 'hub' and 'south' is missing"),
        ({"links": {"hub": {"west": 2}}}, "There is no broker 'west'"),
        ({"links": {"hub": {"north": -2}}}, "price between 'hub' and 'north' is a whole number from 0"),
        (
            {"links": {"hub": {"north": 2, "south": 2}, "north": {"hub": 3, "south": 1}}},
            "'hub' and 'north' is 2 in one direction and 3 in the other",
        ),
        ({"prices": {"oslo": dict.fromkeys(BROKERS, 1)}}, "a price to every broker; 'rome' is missing"),
        (
            {"prices": {site: {"hub": 1, "north": 1} for site in LATENCIES}},
            "'oslo' needs a price .* 'south' is",
        ),
        (
            {"prices": {site: dict.fromkeys(BROKERS, 1.5) for site in LATENCIES}},
            "price from 'oslo' to 'hub' is a whole",
        ),
    ],
)
def test_incomplete_prices_are_refused(tmp_path, given: dict[str, object], sentence: str) -> None:
    """With the brokers or sites that lack a price, before anything is written."""
    with pytest.raises(InputError, match=sentence):
        build_content_workload(tmp_path / "w", unit_space(10, 5), CLIENTS, BROKERS, LATENCIES, **given)
    assert list(tmp_path.iterdir()) == []
