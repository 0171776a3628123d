"""Prices of traffic: between sites and brokers, and between brokers, from rows or from distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import BAD_PRICE, UNKNOWN_BROKER, UNKNOWN_SITE, first_reasons, id_checks
from pubplan.pipeline.content.clean import Check, Clean, Cleaned, named
from pubplan.pipeline.content.network import site_matrix
from pubplan.pipeline.decimals import decimals
from pubplan.pipeline.values import either, ids
from pubplan.quantities import plain_number
from pubplan.workload import Brokers, Int64Array, Sites
from pubplan.workload.content.distances import distance_prices
from pubplan.workload.content.links import MAX_LINK_PRICE

MAX_SITE_PRICE = 2**31 - 1
"""Micro-dollars per GB: the prices of sites have 32 bits."""

PRICE_DIGITS = {"microusd": 0, "usd": 6}
"""Units of prices, as the power of ten that makes them micro-dollars."""


@dataclass(frozen=True)
class DistancePrices:
    """What traffic over a distance costs, in a unit of prices per unit of coordinates: between brokers (``core``), and
    between sites and brokers (``access``).
    """

    core: Fraction
    access: Fraction

    @classmethod
    def parse(cls, text: str) -> DistancePrices:
        """``0.5:2`` for core and access, or one number for both.

        Raises:
            InputError: it is neither.
        """
        core, colon, access = text.partition(":")
        try:
            rates = [Fraction(plain_number(part)) for part in (core, access if colon else core)]
        except ValueError:
            rates = [Fraction(-1)]
        if min(rates) < 0:
            option = argument("price_per_distance")
            raise InputError(f"{option} takes CORE:ACCESS, or one number for both, such as 0.5:2, not '{text}'.")
        return cls(*rates)

    def scaled(self, factor: Fraction) -> DistancePrices:
        """The same in other units."""
        return DistancePrices(self.core * factor, self.access * factor)

    def of_links(self, brokers: Brokers) -> Int64Array:
        """The prices between brokers with coordinates."""
        assert brokers.coordinates is not None
        return distance_prices(brokers.coordinates, brokers.coordinates, self.core)

    def of_sites(self, sites: Sites, brokers: Brokers) -> Sites:
        """The sites with prices to brokers; both have coordinates.

        Raises:
            InputError: a price does not fit 32 bits.
        """
        assert sites.coordinates is not None
        assert brokers.coordinates is not None
        columns = [distance_prices(sites.coordinates, point[None], self.access) for point in brokers.coordinates]
        most = max((int(column.max(initial=0)) for column in columns), default=0)
        if most > MAX_SITE_PRICE:
            raise InputError(
                f"Traffic between a site and a broker would cost {most:,} micro-dollars per GB; prices of sites are at "
                f"most {MAX_SITE_PRICE:,}. Give a lower {argument('price_per_distance')}."
            )
        return replace(sites, prices=np.column_stack([column.astype(np.int32) for column in columns]))


def clean_prices(brokers: pa.Array, sites: pa.Array | None, digits: int) -> Clean:
    """``site_id``, ``broker`` (its number) and ``price``; sites are those known, or any where None."""

    def clean(batch: Batch) -> Cleaned:
        names, broker_names = ids(batch.columns["site"]), ids(batch.columns["broker"])
        numbers = broker_names.numbers(brokers)
        price, check = _prices(batch, digits, MAX_SITE_PRICE)
        checks = [*id_checks([names, broker_names]), check, (UNKNOWN_BROKER, numbers < 0)]
        if sites is not None:
            checks.append((UNKNOWN_SITE, names.numbers(sites) < 0))
        columns = {"site_id": named(names), "broker": pa.array(numbers.astype(np.int32)), "price": price}
        return pa.table(columns), first_reasons(batch.num_rows, checks)

    return clean


def clean_links(brokers: pa.Array, digits: int) -> Clean:
    """``broker``, ``other`` (their numbers) and ``price``."""

    def clean(batch: Batch) -> Cleaned:
        names = [ids(batch.columns[column]) for column in ("broker", "other")]
        one, other = (each.numbers(brokers) for each in names)
        price, check = _prices(batch, digits, MAX_LINK_PRICE - 1)
        checks = [*id_checks(names), check, (UNKNOWN_BROKER, (one < 0) | (other < 0))]
        columns = {"broker": pa.array(one), "other": pa.array(other), "price": price}
        return pa.table(columns), first_reasons(batch.num_rows, checks)

    return clean


def _prices(batch: Batch, digits: int, most: int) -> tuple[pa.Array, Check]:
    """Micro-dollars rounded up, which keeps a metric one."""
    given = decimals(batch.columns["price"], digits)
    is_bad = either(either(given.is_bad, given.is_missing), (given.floors < 0) | (given.ceilings > most))
    return pa.array(given.ceilings), (BAD_PRICE, is_bad)


def price_sites(rows: pa.Table, sites: Sites | None, brokers: Brokers, path: str) -> tuple[Sites, int]:
    """The sites with the prices of a table, and how many rows of it are copies of others.

    Without sites, those of the table, at no distance from anything.

    Raises:
        InputError: two rows of one site and broker differ, or a site lacks the price to a broker.
    """
    known = None if sites is None else sites.ids
    names, matrix, copies = site_matrix(rows, "price", "micro-dollars per GB", brokers, path, known)
    without = Sites(names, np.zeros_like(matrix)) if sites is None else sites
    return replace(without, prices=matrix), copies


def link_matrix(rows: pa.Table, brokers: Brokers, path: str) -> tuple[Int64Array, int]:
    """The price between every two brokers, and how many rows are copies of others, in the same direction or the other.

    Raises:
        InputError: two rows of the same brokers differ, a broker has a price to itself, or a price is missing.
    """
    number = brokers.num_brokers
    one, other, prices = (np.asarray(rows[name], dtype=np.int64) for name in ("broker", "other", "price"))
    keys = np.minimum(one, other) * number + np.maximum(one, other)
    matrix = np.full(number * number, -1, dtype=np.int64)
    matrix[np.arange(number) * (number + 1)] = 0
    matrix[keys] = prices

    def pair(key: int) -> str:
        return " and ".join(repr(brokers.ids[each].as_py()) for each in divmod(int(key), number))

    differing = keys[matrix[keys] != prices]
    if len(differing):
        given = sorted(set(prices[keys == differing.min()].tolist()))
        raise InputError(
            f"{path} has several prices between {pair(differing.min())}: {', '.join(f'{value:,}' for value in given)} "
            "micro-dollars per GB. Traffic costs the same in both directions: keep one row for every two brokers."
        )
    upper = np.triu(matrix.reshape(number, number))
    loops = np.flatnonzero(np.diagonal(upper))
    if len(loops):
        name = brokers.ids[int(loops[0])].as_py()
        raise InputError(f"{path} has a price from the broker {name!r} to itself; leave it out, or make it 0.")
    missing = np.argwhere(upper < 0)
    if len(missing):
        pairs = number * (number - 1) // 2
        raise InputError(
            f"{path} has no price between {pair(missing[0] @ [number, 1])}; {len(missing):,} of {pairs:,} are missing. "
            "Every two brokers need one: where they have no link, that of the cheapest route."
        )
    return upper + upper.T, len(keys) - len(np.unique(keys))
