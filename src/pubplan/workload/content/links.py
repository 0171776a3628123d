"""Prices of traffic between brokers: a metric, or what becomes one when every price is that of the cheapest route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.workload.tables import Int64Array

MAX_LINK_PRICE = 10**18
"""Micro-dollars per GB. Two such prices add up within 64 bits."""

MAX_LINKED_BROKERS = 5_000
"""Brokers with prices between every two of them: 200 MB, and a minute to look for detours."""

ROWS_AT_ONCE = 32

Triple = tuple[int, int, int]
"""Two brokers, and a third over which traffic between them is cheaper than directly."""


def metric_closure(matrix: Int64Array) -> tuple[Int64Array, Triple | None]:
    """The prices of the cheapest routes between brokers, and where going directly is worst.

    Takes B passes over B x B numbers (Floyd and Warshall), and half as many where the prices are a metric.

    Args:
        matrix: symmetric prices from 0 to ``MAX_LINK_PRICE``, 0 on the diagonal.

    Returns:
        The prices of routes, and of all (a, b, via) with a < b the one whose direct price exceeds that of going over
        ``via`` most, the first of equals; None where there is none, so that the prices are a metric already.
    """
    worst, closed = _worst_triple(matrix), matrix.copy()
    if worst is not None:
        detours = np.empty_like(closed)
        for via in range(len(matrix)):
            np.add(closed[:, via, None], closed[via], out=detours)
            np.minimum(closed, detours, out=closed)
    return closed, worst


def _worst_triple(matrix: Int64Array) -> Triple | None:
    """Where going directly is worst; strips of rows stay in the processor's cache while all detours are tried."""
    worst: Triple | None = None
    most = 1
    for first in range(0, len(matrix), ROWS_AT_ONCE):
        strip = matrix[first : first + ROWS_AT_ONCE]
        direct = np.ascontiguousarray(strip[:, first:])  # the matrix is symmetric
        excess = np.empty_like(direct)
        for via in range(len(matrix)):
            np.add(strip[:, via, None], matrix[via, first:], out=excess)
            np.subtract(direct, excess, out=excess)
            largest = int(excess.max())
            if largest >= most:
                row, column = divmod(int(np.argmax(excess)), direct.shape[1])
                triple = (first + row, first + column, via)
                worst = triple if worst is None or largest > most else min(worst, triple)
                most = largest
    return worst


def check_number(num_brokers: int) -> None:
    """Refuse more brokers than there can be prices between, before anything is made for them.

    Raises:
        InputError: says how many there can be.
    """
    if num_brokers > MAX_LINKED_BROKERS:
        raise InputError(
            f"Prices between every two of {num_brokers:,} brokers are too many; at most {MAX_LINKED_BROKERS:,} brokers "
            "can have them."
        )


def check_links(matrix: Int64Array, ids: pa.Array) -> None:
    """Refuse prices that are not symmetric numbers from 0, with 0 on the diagonal, for every two brokers.

    Raises:
        InputError: says which prices.
    """

    def names(where: Int64Array) -> str:
        return " and ".join(repr(ids[int(broker)].as_py()) for broker in where)

    check_number(len(ids))
    if matrix.shape != (len(ids), len(ids)):
        raise InputError(
            f"The links have {' x '.join(map(str, matrix.shape))} prices; {len(ids)} brokers need one for every two."
        )
    outside = np.argwhere((matrix < 0) | (matrix > MAX_LINK_PRICE))
    if len(outside):
        price = matrix[tuple(outside[0])]
        raise InputError(
            f"The price between {names(outside[0])} is {price}; it must be between 0 and {MAX_LINK_PRICE:,}."
        )
    loops = np.flatnonzero(np.diagonal(matrix))
    if len(loops):
        raise InputError(f"The price from {names(loops[:1])} to itself is {matrix[loops[0], loops[0]]}; it must be 0.")
    uneven = np.argwhere(matrix != matrix.T)
    if len(uneven):
        there, back = matrix[tuple(uneven[0])], matrix[tuple(uneven[0][::-1])]
        raise InputError(f"The price between {names(uneven[0])} is {there} in one direction and {back} in the other.")


def check_metric(matrix: Int64Array, ids: pa.Array) -> None:
    """Refuse prices between brokers that are not a metric.

    Raises:
        InputError: names two brokers and a third over which traffic between them is cheaper.
    """
    check_links(matrix, ids)
    closed, worst = metric_closure(matrix)
    if worst is not None:
        raise InputError(f"The prices between brokers are not a metric: {Closure.of(matrix, closed, worst, ids)}.")


@dataclass(frozen=True)
class Closure:
    """What became of prices that were not a metric.

    Attributes:
        brokers: the two between which going directly is worst, and the one over which it is cheaper.
        price: of going directly.
        detour: the price over the third.
        lowered: how many of the ``pairs`` of brokers got a lower price.
    """

    brokers: tuple[str, str, str]
    price: int
    detour: int
    lowered: int
    pairs: int

    @classmethod
    def of(cls, matrix: Int64Array, closed: Int64Array, worst: Triple, ids: pa.Array) -> Closure:
        one, other, via = worst
        names = [ids[broker].as_py() for broker in worst]
        number = len(matrix)
        return cls(
            (names[0], names[1], names[2]),
            int(matrix[one, other]),
            int(matrix[one, via] + matrix[via, other]),
            int(np.count_nonzero(closed < matrix)) // 2,
            number * (number - 1) // 2,
        )

    def __str__(self) -> str:
        one, other, via = (repr(name) for name in self.brokers)
        return f"{one} to {other} costs {self.price:,} directly and {self.detour:,} over {via}"

    def to_dict(self) -> dict[str, Any]:
        """For the manifest, next to the source that gave the prices."""
        return {
            "worst": {"brokers": list(self.brokers), "price": self.price, "detour": self.detour},
            "lowered": self.lowered,
            "pairs": self.pairs,
        }


def close_links(matrix: Int64Array, ids: pa.Array) -> tuple[Int64Array, Closure | None]:
    """Prices between brokers as a metric, and what had to be changed for it; None where nothing had to.

    Raises:
        InputError: they are not symmetric numbers from 0.
    """
    check_links(matrix, ids)
    closed, worst = metric_closure(matrix)
    return closed, None if worst is None else Closure.of(matrix, closed, worst, ids)
