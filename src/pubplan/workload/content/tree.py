"""Brokers: the tree in which they pass events on, and what each can take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from pubplan.engine import MAX_INT64, exact_sum
from pubplan.errors import InputError
from pubplan.workload.tables import Int32Array, Int64Array

PUBLISHER = -1
"""The parent of brokers that the publisher feeds."""

MAX_BROKERS = 1 << 20

MAX_SHARES = 2**31 - 1
"""What all shares add up to, at most: capacities are products of shares and weights."""


@dataclass(frozen=True)
class Brokers:
    """All brokers, by number.

    Attributes:
        parents: the broker that feeds each, or ``PUBLISHER``.
        latencies: microseconds from the parent.
        shares: of the clients that a leaf is meant to serve, in proportion; 0 for brokers inside the tree.
        capacities: traffic per window that a broker can take; 0 where no limit is given.
        coordinates: where brokers are in the network space, in microseconds; None where that is not known.
    """

    ids: pa.Array
    parents: Int32Array
    latencies: Int64Array
    shares: Int64Array
    capacities: Int64Array
    coordinates: Int64Array | None = None

    @property
    def num_brokers(self) -> int:
        return len(self.parents)

    @cached_property
    def is_leaf(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether no broker is fed by it; only leaves serve clients."""
        is_leaf = np.ones(self.num_brokers, dtype=np.bool_)
        is_leaf[self.parents[self.parents != PUBLISHER]] = False
        return is_leaf

    @cached_property
    def leaves(self) -> Int32Array:
        return np.flatnonzero(self.is_leaf).astype(np.int32)

    @cached_property
    def levels(self) -> Int32Array:
        """The depth of each broker; 1 is fed by the publisher."""
        levels = np.where(self.parents == PUBLISHER, 1, 0).astype(np.int32)
        while (levels == 0).any():  # once per level: parents of a checked tree are reached from the publisher
            waiting = np.flatnonzero(levels == 0)
            above = levels[self.parents[waiting]]
            levels[waiting] = np.where(above > 0, above + 1, 0)
        return levels

    @cached_property
    def path_latencies(self) -> Int64Array:
        """Microseconds from the publisher to each broker, along the tree."""
        totals = self.latencies.copy()
        for level in range(2, int(self.levels.max(initial=0)) + 1):
            here = np.flatnonzero(self.levels == level)
            totals[here] += totals[self.parents[here]]
        return totals

    def check(self) -> None:
        """Refuse what is not a tree of brokers that can serve clients.

        Raises:
            InputError: a parent does not exist, brokers feed each other in a circle, a number is negative, inner
                brokers have shares, or no leaf has any.
        """
        number = self.num_brokers
        if not 1 <= number <= MAX_BROKERS:
            raise InputError(f"A content workload has 1 to {MAX_BROKERS:,} brokers, not {number:,}.")
        unknown = np.flatnonzero((self.parents < PUBLISHER) | (self.parents >= number))
        if len(unknown):
            raise InputError(f"The broker {self.ids[int(unknown[0])].as_py()!r} has a parent that does not exist.")
        self._check_circles()
        for noun, values in (("latency", self.latencies), ("share", self.shares), ("capacity", self.capacities)):
            if values.min() < 0:
                name = self.ids[int(np.argmin(values))].as_py()
                raise InputError(f"The {noun} of the broker {name!r} is {values.min()}; it must not be negative.")
        inner = np.flatnonzero(~self.is_leaf & (self.shares > 0))
        if len(inner):
            name = self.ids[int(inner[0])].as_py()
            raise InputError(f"The broker {name!r} feeds other brokers, so it serves no clients and has no share.")
        if not self.shares.any():
            raise InputError("No broker has a share of the clients: give at least one leaf a share above 0.")
        if exact_sum(self.shares) > MAX_SHARES or exact_sum(self.latencies) > MAX_INT64:
            raise InputError(f"Shares must add up to at most {MAX_SHARES:,}, and latencies to less than 2^63 us.")

    def _check_circles(self) -> None:
        """Whoever the publisher does not reach in as many steps as there are brokers is in a circle or below one."""
        above = self.parents.copy()
        for _ in range(max(1, int(self.num_brokers).bit_length())):
            is_inside = above != PUBLISHER
            if not is_inside.any():
                return
            # Twice as many steps up the tree each time.
            above[is_inside] = above[above[is_inside]]
        stuck = np.flatnonzero(above != PUBLISHER)
        if len(stuck):
            name = self.ids[int(stuck[0])].as_py()
            raise InputError(f"Brokers feed each other in a circle: the publisher does not reach {name!r}.")
