"""What a plan costs and carries, read from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pubplan.engine import exact_dot, exact_sum
from pubplan.errors import InputError
from pubplan.planning import Plan
from pubplan.problems.federate.plan import (
    ATTACHMENTS,
    ATTACHMENTS_SCHEMA,
    BROKERS,
    BROKERS_SCHEMA,
    CHANNELS,
    CHANNELS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
)
from pubplan.problems.federate.problem import DOLLAR_SCALE
from pubplan.text import MICROS
from pubplan.workload import Int32Array

MICRO_SCALE = DOLLAR_SCALE // MICROS


@dataclass(frozen=True)
class Measures:
    """What is known of a plan from its tables.

    Attributes:
        access: prices times messages, between clients and brokers.
        core: prices times messages, between brokers.
        message_bytes: the size of a message.
        messages: per window, those that somebody wants.
        forwarded: per window, messages over links between brokers.
        links: pairs of brokers that exchange messages.
        channels: how many there are; ``live_channels`` of them carry messages.
        clients, loads, capacities: by broker; a capacity of 0 is no limit.

    >>> exchange = pubplan.generate.generate(pubplan.generate.content_exchange(40, 4), "exchange", replace=True)
    >>> problem = pubplan.federate.Problem(exchange, channels=10)
    >>> measures = pubplan.federate.measures_of(pubplan.federate.solve(problem, "greedy-packing").plan)
    >>> measures.brokers, measures.channels
    (4, 10)
    """

    access: int
    core: int
    message_bytes: int
    messages: int
    forwarded: int
    links: int
    channels: int
    live_channels: int
    clients: tuple[int, ...]
    loads: tuple[int, ...]
    capacities: tuple[int, ...]

    @property
    def brokers(self) -> int:
        return len(self.clients)

    @property
    def used_brokers(self) -> int:
        """Brokers with clients."""
        return sum(number > 0 for number in self.clients)

    @property
    def bill(self) -> list[Fraction]:
        """What access and core cost, in micro-dollars."""
        return [self.micros(part) for part in (self.access, self.core)]

    @property
    def fullest(self) -> int | None:
        """The broker with the largest share of its capacity in use; None where no broker has a limit."""
        limited = [broker for broker, capacity in enumerate(self.capacities) if capacity]
        return max(limited, key=lambda broker: Fraction(self.loads[broker], self.capacities[broker]), default=None)

    def micros(self, cost: int) -> Fraction:
        """Prices times messages as micro-dollars."""
        return Fraction(cost * self.message_bytes, MICRO_SCALE)

    def dollars(self, cost: int) -> float:
        """The same as dollars."""
        return cost * self.message_bytes / DOLLAR_SCALE

    def to_dict(self) -> dict[str, Any]:
        """As JSON, money in dollars."""
        return {
            "clients": sum(self.clients),
            "brokers": self.brokers,
            "used_brokers": self.used_brokers,
            "channels": self.channels,
            "live_channels": self.live_channels,
            "message_bytes": self.message_bytes,
            "messages": self.messages,
            "forwarded": self.forwarded,
            "links": self.links,
            "access_cost": self.dollars(self.access),
            "core_cost": self.dollars(self.core),
            "clients_per_broker": list(self.clients),
            "loads": list(self.loads),
            "capacities": list(self.capacities),
        }


def measures_of(plan: Plan) -> Measures:
    """What a plan costs and carries; its workload is not needed.

    Raises:
        InputError: a table is damaged.

    >>> exchange = pubplan.generate.generate(pubplan.generate.content_exchange(40, 4), "exchange", replace=True)
    >>> plan = pubplan.federate.solve(pubplan.federate.Problem(exchange, channels=10), "greedy-packing").plan
    >>> sum(pubplan.federate.measures_of(plan).clients)
    40
    """
    links, brokers = plan.decisions(LINKS, LINKS_SCHEMA), plan.decisions(BROKERS, BROKERS_SCHEMA)
    channels = plan.decisions(CHANNELS, CHANNELS_SCHEMA)
    ends = np.concatenate([links["broker"].to_numpy(), links["other"].to_numpy()])
    if len(ends) and not 0 <= ends.min() <= ends.max() < brokers.num_rows:
        raise InputError(f"{plan.path}: the decisions '{LINKS}' are damaged: they name brokers that do not exist.")
    message_bytes = plan.record["parameters"]["message_bytes"]
    core = exact_dot(links["messages"].to_numpy(), links["price"].to_numpy())
    total = plan.exact.fraction * DOLLAR_SCALE / message_bytes
    numbers, first_rows = np.unique(channels["channel"].to_numpy(), return_index=True)
    messages = channels["messages"].to_numpy()[first_rows]
    pairs = {tuple(sorted(pair)) for pair in zip(links["broker"].to_pylist(), links["other"].to_pylist(), strict=True)}
    return Measures(
        int(total) - core,
        core,
        message_bytes,
        exact_sum(messages),
        exact_sum(links["messages"].to_numpy()),
        len(pairs),
        len(numbers),
        int(np.count_nonzero(messages)),
        *(tuple(brokers[name].to_pylist()) for name in ("clients", "load", "capacity")),
    )


def attached_brokers(plan: Plan, num_brokers: int) -> Int32Array:
    """The broker of every client.

    Raises:
        InputError: the table is damaged.
    """
    blocks = [
        plan.decisions_block(ATTACHMENTS, block, ATTACHMENTS_SCHEMA)["broker"].to_numpy()
        for block in range(plan.num_decision_blocks(ATTACHMENTS))
    ]
    brokers = np.concatenate([np.empty(0, np.int32), *blocks])
    if len(brokers) and not 0 <= brokers.min() <= brokers.max() < num_brokers:
        raise InputError(
            f"{plan.path}: the decisions '{ATTACHMENTS}' are damaged: they name brokers that do not exist."
        )
    return brokers
