"""The question: which broker does each client attach to, and how do brokers route, at the least cost?

Clients publish messages and subscribe to rectangles of the content space. The space is cut into channels, in which
traffic is counted: a client receives what others publish in the channels that its rectangle touches. What nobody else
wants is not sent. Messages go from the client to its broker, along a tree of brokers to all brokers that have
subscribers of the channel, once over every link, and from there to every subscriber.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pubplan.engine import MAX_INT64
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Sense
from pubplan.problems.federate.channels import CUTS, check_channels
from pubplan.problems.federate.instance import Instance, Shortage
from pubplan.text import counted, listed
from pubplan.workload import CONTENT, DEFAULT_MESSAGE_BYTES, ContentWorkload, require_kind

ROUTINGS = ("spanning", "steiner", "acyclic")
COSTS = ("shared", "replicating")

MAX_MESSAGE_BYTES = 10**9

DOLLAR_SCALE = 10**15
"""Prices are micro-dollars per GB: a message of a byte at the price 1 costs 10^-15 dollars."""

MAX_REASONS = 10


@dataclass(frozen=True)
class Problem:
    """Attach every client to one broker within its capacity, and route between brokers, at the least cost.

    A problem is made without reading any table; ``instance`` reads what is asked of it, and ``check`` refuses what
    cannot be planned.

    Args:
        channels: into how many channels the content space is cut at most, or how many ranges along each attribute, such
            as ``10x5``.
        cut: ``width`` for ranges of equal width, ``traffic`` for ranges with about as many messages each.
        routing: how brokers forward the messages of a channel: along a minimum ``spanning`` tree of those that publish
            or want them, along a ``steiner`` tree, which may use other brokers on the way, or ``acyclic``: one tree of
            all brokers carries everything.
        cost: ``shared`` if a message crosses a link once for all subscribers behind it, ``replicating`` if every
            subscriber gets a copy of its own all the way.
        message_bytes: the size of a message.

    Raises:
        InputError: a value is unknown or out of range, or the workload lacks prices or publications.

    >>> exchange = pubplan.generate.generate(pubplan.generate.content_exchange(40, 4), "exchange", replace=True)
    >>> pubplan.federate.Problem(exchange, channels=10).unit
    'dollars per window'
    """

    workload: ContentWorkload
    channels: int | str = 50
    cut: Literal["width", "traffic"] = "width"
    routing: Literal["spanning", "steiner", "acyclic"] = "spanning"
    cost: Literal["shared", "replicating"] = "shared"
    message_bytes: int = DEFAULT_MESSAGE_BYTES
    instance: Instance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind(self.workload, CONTENT, "federate")
        object.__setattr__(self, "channels", check_channels(self.channels))
        for name, known in (("cut", CUTS), ("routing", ROUTINGS), ("cost", COSTS)):
            if getattr(self, name) not in known:
                raise InputError(f"The {name} is {', '.join(known[:-1])} or {known[-1]}, not {getattr(self, name)!r}.")
        size = self.message_bytes
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_MESSAGE_BYTES:
            raise InputError(f"The size of a message is 1 to {MAX_MESSAGE_BYTES:,} bytes, not {size!r}.")
        object.__setattr__(self, "instance", Instance(self.workload, self.channels, self.cut))

    @property
    def sense(self) -> Sense:
        return "min"

    @property
    def unit(self) -> str:
        return "dollars per window"

    def check(self) -> None:
        """Read clients, brokers and prices, and refuse what no plan can do.

        Raises:
            InputError: tables cannot be read, or hold what cannot be planned with.
            Infeasible: clients that fit no broker, or brokers that cannot take all clients together.
        """
        instance = self.instance
        instance.require_publications()
        largest = instance.largest_cost(self.cost)
        if largest > MAX_INT64 // 2:
            raise InputError(
                f"Messages times prices may reach {largest:,}, more than 64 bits hold. Count messages in thousands."
            )
        shortages = instance.shortages(MAX_REASONS)
        if shortages:
            raise Infeasible("Brokers cannot take all clients.", [_short(each) for each in shortages])

    def with_routing(self, routing: Literal["spanning", "steiner", "acyclic"]) -> Problem:
        """The same question with another routing; what was read of the workload stays read."""
        other = replace(self, routing=routing)
        object.__setattr__(other, "instance", self.instance)
        return other

    def to_parameters(self) -> dict[str, Any]:
        return {
            "channels": self.channels,
            "cut": self.cut,
            "routing": self.routing,
            "cost": self.cost,
            "message_bytes": self.message_bytes,
        }


def _short(shortage: Shortage) -> Reason:
    """Why some clients do not fit the brokers that they may use."""
    if shortage.client_id is not None:
        sentence = (
            f"{shortage.client_id} sends and receives {counted(shortage.demand, 'message')} per window; "
            f"no broker that it may use takes more than {shortage.capacity:,}"
        )
        return Reason("capacity", shortage.demand, shortage.capacity, shortage.client_id, sentence)
    if shortage.is_packing:
        sentence = (
            f"{counted(shortage.clients, 'client')} send and receive {counted(shortage.demand, 'message')} per window "
            f"and brokers take {shortage.capacity:,}, but no way to attach whole clients keeps every capacity"
        )
        return Reason("capacity", shortage.demand, shortage.capacity, "", sentence)
    who, brokers = counted(shortage.clients, "client"), "all brokers together take"
    if shortage.brokers is not None:
        who, brokers = f"{who} that may use no others", f"{listed(list(shortage.brokers), MAX_REASONS)} take"
    sentence = (
        f"{who} send and receive {counted(shortage.demand, 'message')} per window; {brokers} {shortage.capacity:,}"
    )
    return Reason("capacity", shortage.demand, shortage.capacity, "", sentence)
