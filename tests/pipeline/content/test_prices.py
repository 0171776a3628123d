"""Prices of traffic: from tables, which must be complete, or from distances; between brokers they become a metric."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pubplan.errors import InputError
from pubplan.pipeline.content.prices import DistancePrices
from pubplan.workload import build_content_workload

from .conftest import BUILT_BROKERS, BUILT_CLIENTS, BUILT_LATENCIES, BUILT_SPACE, CLIENTS, Run, rows_of

PRICES = [
    {"site": site, "broker": broker, "price": str(price)}
    for site, row in {"oslo": {"hub": 7, "north": 1, "south": 2}, "rome": {"hub": 3, "north": 4, "south": 5}}.items()
    for broker, price in row.items()
]
LINKS = [
    {"broker": "hub", "other": "north", "price": "2"},
    {"broker": "south", "other": "hub", "price": "4"},
    {"broker": "north", "other": "south", "price": "3"},
]


def test_tables_become_prices(run: Run, tmp_path: Path) -> None:
    """Of sites to brokers and between brokers, in any order and direction; the same as built by hand."""
    built = build_content_workload(
        tmp_path / "expected",
        BUILT_SPACE,
        BUILT_CLIENTS,
        BUILT_BROKERS,
        BUILT_LATENCIES,
        prices={"oslo": {"hub": 7, "north": 1, "south": 2}, "rome": {"hub": 3, "north": 4, "south": 5}},
        links={"hub": {"north": 2, "south": 4}, "north": {"south": 3}},
    )
    workload = run(prices=PRICES[::-1], links=LINKS)
    assert workload.digest == built.digest
    assert rows_of(workload, "prices")["kept"] == 6
    assert rows_of(workload, "links") == {"rows_in": 3, "kept": 3, "rejected": {}, "duplicates": 0}
    workload.check()


def test_units_are_rounded_up(run: Run) -> None:
    """0.0000015 dollars are 2 micro-dollars; rounding up keeps a metric one."""
    prices = [{**row, "price": "0.0000015"} for row in PRICES]
    workload = run(prices=prices, links=[{**row, "price": "0.02"} for row in LINKS], price_unit="usd")
    assert set(workload.site_prices.ravel().tolist()) == {2}
    assert workload.link_prices.tolist() == [[0, 20_000, 20_000], [20_000, 0, 20_000], [20_000, 20_000, 0]]
    assert set(run(prices=[{**row, "price": "1.2"} for row in PRICES]).site_prices.ravel().tolist()) == {2}


def test_both_directions_are_copies(run: Run) -> None:
    """The same price the other way, and a broker at no price from itself, change nothing."""
    back = [{"broker": row["other"], "other": row["broker"], "price": row["price"]} for row in LINKS]
    loop = {"broker": "hub", "other": "hub", "price": "0"}
    workload = run(links=[*LINKS, *back, loop])
    assert workload.digest == run(links=LINKS).digest
    assert rows_of(workload, "links") == {"rows_in": 7, "kept": 4, "rejected": {}, "duplicates": 3}


def test_other_prices_become_a_metric(run: Run) -> None:
    """hub to south for 9 is worse than over north for 2 + 3; the manifest says so."""
    dear = [*LINKS[:1], {**LINKS[1], "price": "9"}, LINKS[2]]
    workload = run(links=dear)
    assert workload.link_prices.tolist() == [[0, 2, 5], [2, 0, 3], [5, 3, 0]]
    (entry,) = [source for source in workload.manifest.sources if source["kind"] == "links"]
    assert entry["links_closed"] == {
        "worst": {"brokers": ["hub", "south", "north"], "price": 9, "detour": 5},
        "lowered": 1,
        "pairs": 3,
    }
    assert workload.digest == run(links=[*LINKS[:1], {**LINKS[1], "price": "5"}, LINKS[2]]).digest


def test_rows_that_cannot_be_used(run: Run) -> None:
    """Unknown sites and brokers, prices that are none, and rows without a name."""
    prices = [
        {"site": "bonn", "broker": "hub", "price": "1"},
        {"site": "oslo", "broker": "west", "price": "1"},
        {"site": "oslo", "broker": "hub", "price": "-1"},
        {"site": "oslo", "broker": "hub", "price": "2147483648"},
        {"site": "oslo", "broker": "hub", "price": ""},
        {"site": "", "broker": "hub", "price": "1"},
    ]
    links = [
        {"broker": "hub", "other": "west", "price": "1"},
        {"broker": "hub", "other": "north", "price": "much"},
        {"broker": "hub", "other": "", "price": "1"},
        {"broker": "hub", "other": "north", "price": "1e18"},
    ]
    workload = run(prices=[*PRICES, *prices], links=[*LINKS, *links], max_rejected=1)
    assert rows_of(workload, "prices")["rejected"] == {
        "bad_price": 3,
        "missing_id": 1,
        "unknown_broker": 1,
        "unknown_site": 1,
    }
    assert rows_of(workload, "links")["rejected"] == {"bad_price": 2, "missing_id": 1, "unknown_broker": 1}
    assert workload.digest == run(prices=PRICES, links=LINKS).digest


def test_prices_alone_name_the_sites(run: Run) -> None:
    """Without sites and latencies; clients elsewhere are rejected, and everybody is 0 us from every broker."""
    workload = run(latencies=None, prices=PRICES)
    assert workload.site_ids.to_pylist() == ["oslo", "rome"]
    assert workload.site_latencies.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert workload.site_prices.tolist() == [[7, 1, 2], [3, 4, 5]]
    fewer = run(latencies=None, prices=PRICES[:3], max_rejected=0.5)
    assert rows_of(fewer, "clients")["rejected"] == {"unknown_site": 1}


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"prices": PRICES[:-1]}, "no price from the site 'rome' to the broker 'south'; 1 of 6 prices are missing"),
        (
            {"prices": [*PRICES, {**PRICES[0], "price": "9"}]},
            "several prices from the site 'oslo' to the broker 'hub': 7, 9 micro-dollars per GB",
        ),
        ({"links": LINKS[:-1]}, "no price between 'north' and 'south'; 1 of 3 are missing"),
        (
            {"links": [*LINKS, {"broker": "north", "other": "hub", "price": "8"}]},
            "several prices between 'hub' and 'north': 2, 8 micro-dollars per GB",
        ),
        ({"links": [*LINKS, {"broker": "hub", "other": "hub", "price": "1"}]}, "from the broker 'hub' to itself"),
    ],
)
def test_incomplete_tables_are_refused(run: Run, tables: dict[str, Any], sentence: str) -> None:
    """With a sentence that names the sites or brokers."""
    with pytest.raises(InputError, match=sentence):
        run(**tables)


BROKERS = [{"broker": "a", "x_0": "3", "x_1": "4"}, {"broker": "b", "x_0": "0", "x_1": "0"}]
SITES = [{"site": "oslo", "x_0": "0", "x_1": "1"}, {"site": "rome", "x_0": "3", "x_1": "4"}]


def test_prices_by_distance(run: Run) -> None:
    """In ms: a to b are 5 ms at 1.5 per ms, so 8; oslo to b 1 ms at 0.3, so 1; oslo to a sqrt(18) ms, 1.27, so 2."""
    rates = DistancePrices.parse("1.5:0.3")
    workload = run(
        brokers=BROKERS, latencies=None, sites=SITES, clients=CLIENTS, latency_unit="ms", price_per_distance=rates
    )
    assert workload.link_prices.tolist() == [[0, 8], [8, 0]]
    assert workload.site_prices.tolist() == [[2, 1], [0, 2]]
    dollars = run(
        brokers=BROKERS,
        latencies=None,
        sites=SITES,
        latency_unit="ms",
        price_unit="usd",
        price_per_distance=DistancePrices.parse("0.002"),
    )
    assert dollars.link_prices.tolist() == [[0, 10_000], [10_000, 0]]
    assert dollars.site_prices.tolist() == [[8486, 2000], [0, 10_000]]  # 2000 sqrt(18) = 8485.3


def test_prices_beyond_32_bits_are_refused(run: Run) -> None:
    """By distance too; a rate of 10^9 per us makes 5 us cost 5 x 10^9."""
    rates = DistancePrices(Fraction(0), Fraction(10**9))
    with pytest.raises(InputError, match="would cost 5,000,000,000 micro-dollars per GB"):
        run(brokers=BROKERS, latencies=None, sites=SITES, price_per_distance=rates)


@pytest.mark.parametrize("text", ["", "1:2:3", "x", "-1", "1:", "1:-2"])
def test_rates_that_are_none(text: str) -> None:
    """One number, or two with a colon between."""
    with pytest.raises(InputError, match="price_per_distance takes CORE:ACCESS"):
        DistancePrices.parse(text)
