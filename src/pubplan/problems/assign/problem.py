"""The question: which leaf broker serves which client, within latency and load limits, with the least bandwidth?

Clients subscribe to rectangles of the space of events. The publisher feeds a tree of brokers; every broker lets through
the events of its filter, a union of at most ``boxes`` boxes that holds the filters and the subscriptions below it.
What is minimised is the bandwidth into all brokers: the volumes of their filters, or with a density of events the
messages published there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from pubplan.arguments import argument
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Sense, decimal_text
from pubplan.problems.assign.instance import Instance, Overweight, Unreached
from pubplan.text import counted, factor_up
from pubplan.workload import CONTENT, ContentWorkload, require_kind

MAX_REASONS = 10
"""How many groups of clients that cannot be served are named."""

MAX_BOXES = 5
"""The most boxes of a filter: volumes of unions are computed over all subsets of them."""

NO_LIMIT = "none"
"""The delay that limits nothing."""

HOPS = ("path", "last")

Number = int | float | str


@dataclass(frozen=True)
class Problem:
    """Serve every client in time, without overloading leaves, with the least bandwidth into brokers.

    A problem is made without reading any table; ``instance`` reads what is asked of it, and ``check`` refuses what
    cannot be planned.

    Args:
        boxes: how many boxes a filter may have at most.
        max_delay: how much longer than the shortest way through the tree an event may take to a client, as a share of
            that: 0.3 is 30 % longer. ``"none"`` is no limit; None takes the workload's ``limit`` column.
        load: the load factor to keep if possible: a leaf serves at most this many times its share of all clients.
        max_load: the load factor that no leaf may exceed.
        hop: what counts as latency: the whole ``path`` from the publisher, or the ``last`` hop to the client.

    Raises:
        InputError: a value is out of range, or there is no latency limit.

    >>> feeds = pubplan.generate.generate(pubplan.generate.content_feeds(200, 5), "feeds", replace=True)
    >>> problem = pubplan.assign.Problem(feeds, max_delay=0.5, load=3, max_load=5)
    >>> problem.unit
    'grid steps of all filters'
    """

    workload: ContentWorkload
    boxes: int = 3
    max_delay: Number | None = None
    load: Number = "1.5"
    max_load: Number = "1.8"
    hop: Literal["path", "last"] = "path"
    instance: Instance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind(self.workload, CONTENT, "assign")
        if not isinstance(self.boxes, int) or isinstance(self.boxes, bool) or not 1 <= self.boxes <= MAX_BOXES:
            raise InputError(f"{argument('boxes')} is a number from 1 to {MAX_BOXES}, not {self.boxes!r}.")
        if self.hop not in HOPS:
            raise InputError(
                f"{argument('hop')} is 'path' for the latency of the whole path, or 'last' for that of the last hop, "
                f"not {self.hop!r}."
            )
        if self.max_delay is None:
            if "limit" not in self.workload.optional_columns:
                raise InputError(
                    f"No latency limit: pass {argument('max_delay')}, a number such as 0.3 or none, or plan for "
                    "clients that have limits."
                )
        elif self.max_delay != NO_LIMIT:
            object.__setattr__(self, "max_delay", decimal_text("max_delay", self.max_delay, Fraction(0)))
        for name in ("load", "max_load"):
            object.__setattr__(self, name, decimal_text(name, getattr(self, name), Fraction(0)))
        if Fraction(str(self.max_load)) < Fraction(str(self.load)):
            raise InputError(
                f"{argument('max_load')} must be at least {argument('load')}, {self.load}, not {self.max_load}."
            )
        object.__setattr__(self, "instance", Instance(self.workload, self.max_delay, self.hop))

    @property
    def sense(self) -> Sense:
        return "min"

    @property
    def unit(self) -> str:
        return "messages into brokers per window" if self.workload.space.cells else "grid steps of all filters"

    @property
    def max_factor(self) -> Fraction:
        """The load factor that no leaf may exceed."""
        return Fraction(str(self.max_load))

    @property
    def factor(self) -> Fraction:
        """The load factor to keep if possible."""
        return Fraction(str(self.load))

    def check(self) -> None:
        """Read clients, sites and brokers, and refuse what no plan can do.

        Raises:
            InputError: tables cannot be read, or hold what cannot be planned with.
            Infeasible: clients whose latency limit no leaf keeps, or leaves that cannot take all clients, or not each
                of them as a whole.
        """
        number, unreached = self.instance.unreached(MAX_REASONS)
        if number:
            raise Infeasible(
                f"{counted(number, 'client')} of {self.instance.num_clients:,} cannot be served in time.",
                [_late(each) for each in unreached],
            )
        least = self.instance.least_load_factor
        if least > self.max_factor:
            shown = factor_up(least)
            sentence = f"no assignment has a load factor below {shown}; at most {self.max_load} is allowed"
            raise Infeasible(
                "Leaves cannot take all clients.", [Reason("load", shown, str(self.max_load), "", sentence)]
            )
        if self.instance.has_weights:
            self._check_weights()

    def _check_weights(self) -> None:
        """Refuse clients that fit leaves only in parts; those of weight 1 always fit as a whole."""
        number, overweight = self.instance.overweight(self.max_factor, MAX_REASONS)
        if number:
            raise Infeasible(
                f"{counted(number, 'client')} of {self.instance.num_clients:,} fit no leaf as a whole.",
                [_too_heavy(each, self.max_load) for each in overweight],
            )
        if self.instance.cannot_be_packed(self.max_factor):
            total, limit = self.instance.groups.total_weight, int(self.instance.capacity(self.max_factor).sum())
            sentence = (
                f"{counted(self.instance.num_clients, 'client')} stand for {total:,} and leaves may serve {limit:,} at "
                f"load factor {self.max_load}, but no way to serve each client whole keeps every leaf's limit"
            )
            raise Infeasible("Leaves cannot take all clients.", [Reason("load", total, limit, "", sentence)])

    def to_parameters(self) -> dict[str, Any]:
        return {
            "boxes": self.boxes,
            "max_delay": self.max_delay,
            "load": self.load,
            "max_load": self.max_load,
            "hop": self.hop,
        }


def _too_heavy(client: Overweight, max_load: Number) -> Reason:
    """Why no leaf can serve a client that stands for many."""
    sentence = (
        f"{client.client_id} stands for {client.weight:,} clients; a leaf that it may use serves at most "
        f"{client.largest:,} at load factor {max_load}"
    )
    return Reason("load", client.weight, client.largest, client.client_id, sentence)


def _late(unreached: Unreached) -> Reason:
    """Why no leaf can serve the clients of a group, told of one of them."""
    who = f"{unreached.client_id} at {unreached.site_id}"
    if unreached.nearest_us is None:
        sentence = f"{who} may use no leaf that serves clients"
    else:
        sentence = (
            f"{who} accepts {unreached.limit_us:,} us; the nearest leaf that it may use takes {unreached.nearest_us:,}"
        )
    others = f", and {counted(unreached.clients - 1, 'other')} like it" if unreached.clients > 1 else ""
    needed = "a leaf" if unreached.nearest_us is None else unreached.nearest_us
    return Reason("latency", needed, unreached.limit_us, unreached.client_id, sentence + others)
