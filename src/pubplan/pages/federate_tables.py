"""A plan of ``federate`` with its tables, and its workload where that is there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import pyarrow as pa

from pubplan.planning import Plan
from pubplan.problems.federate import BROKERS, CHANNELS, FAMILY, LINKS, Measures, measures_of
from pubplan.problems.federate.money import money_proven, money_up, split_money
from pubplan.text import MICROS
from pubplan.workload import ContentWorkload


@dataclass(frozen=True)
class Link:
    """Two brokers that exchange messages: how many there and back per window, and the price in micro-dollars per GB."""

    one: int
    other: int
    there: int
    back: int
    price: int

    @property
    def messages(self) -> int:
        return self.there + self.back


@dataclass(frozen=True)
class Tables:
    """A plan with its tables, read once; ``workload`` is None where it is not there."""

    plan: Plan
    measures: Measures
    brokers: pa.Table
    workload: ContentWorkload | None

    @classmethod
    def read(cls, plan: Plan, workload: ContentWorkload | None) -> Tables:
        """Raises InputError if a table is damaged."""
        return cls(plan, measures_of(plan), FAMILY.read_decisions(plan, BROKERS), workload)

    @cached_property
    def broker_ids(self) -> list[str]:
        ids: list[str] = self.brokers["broker_id"].to_pylist()
        return ids

    @cached_property
    def links(self) -> list[Link]:
        """Pairs of brokers with both directions together, those with most messages first."""
        pairs: dict[tuple[int, int], list[int]] = {}
        for row in FAMILY.read_decisions(self.plan, LINKS).to_pylist():
            one, other = row["broker"], row["other"]
            pair = pairs.setdefault((min(one, other), max(one, other)), [0, 0, row["price"]])
            pair[one > other] += row["messages"]
        links = [Link(one, other, *values) for (one, other), values in pairs.items()]
        return sorted(links, key=lambda link: (-link.messages, link.one, link.other))

    @cached_property
    def channels(self) -> list[dict[str, Any]]:
        """Every channel with its ranges: in values of the attributes, or without the workload in grid lines."""
        attributes = {} if self.workload is None else {each.name: each for each in self.workload.space.attributes}
        channels: dict[int, dict[str, Any]] = {}
        for row in FAMILY.read_decisions(self.plan, CHANNELS).to_pylist():
            channel = channels.setdefault(row["channel"], {**row, "ranges": []})
            ends = (row["low"], row["high"])
            if row["attribute"] in attributes:
                low, high = (f"{attributes[row['attribute']].value(line):f}" for line in ends)
            else:
                low, high = (f"grid line {line:,}" for line in ends)
            channel["ranges"].append(f"{row['attribute']} {low} to {high}")
        return list(channels.values())

    @property
    def total(self) -> Fraction:
        """What the plan costs per window, in micro-dollars."""
        return sum(self.measures.bill, Fraction(0))

    @property
    def bill(self) -> list[str]:
        """Access, core and both together, as dollars that add up."""
        return split_money(self.measures.bill)

    @property
    def whole_bill(self) -> tuple[int, int]:
        """Access and core in whole micro-dollars that add up to the total, rounded up."""
        access = math.floor(self.measures.bill[0])
        return access, math.ceil(self.total) - access

    @property
    def bound(self) -> str:
        """What no plan costs less than."""
        bound = self.plan.record["bound"]
        if bound is None:
            return "no bound"
        if self.plan.record["gap"] == 0:
            return money_up(self.total)
        return money_proven(Fraction(bound) * MICROS, self.total)

    @property
    def proven_micros(self) -> int:
        """The bound in whole micro-dollars: rounded down, but that of a plan that meets it as its cost is."""
        if self.plan.record["gap"] == 0:
            return sum(self.whole_bill)
        return math.floor(Fraction(self.plan.record["bound"]) * MICROS)

    def paid(self, link: Link) -> str:
        return money_up(self.measures.micros(link.messages * link.price))
