"""provision by the definitions: plain Python, all covers, all fleets, no cleverness."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from hypothesis import strategies as st

import pubplan
from pubplan.planning import Plan, Verdict
from pubplan.problems.provision import Problem, VmType
from pubplan.problems.provision.catalogue import Tariff, Tier

WINDOW = 8
"""Seconds: so that a line of one bit per second carries one byte per window."""

PERIOD = WINDOW * 10**8
"""Seconds over which tiers count traffic: so that of every GB a window has ten bytes."""

TENTHS = 10
"""Prices are in tenths of a micro-dollar: of a VM and window, and of a byte."""

Tiers = tuple[tuple[int | None, int], ...]
Portion = tuple[int, int, int]
Placements = list[list[tuple[int, int]]]


@dataclass(frozen=True)
class Machine:
    """A VM type: the bytes that its line carries in a window, its rent, and tiers of (tens of bytes, price)."""

    name: str
    line: int
    rent: int
    incoming: Tiers = ((None, 10),)
    outgoing: Tiers = ((None, 10),)

    @property
    def vm_type(self) -> VmType:
        tariff = Tariff(PERIOD, *(_tiers(tiers) for tiers in (self.incoming, self.outgoing)))
        return VmType(self.name, 3600 * self.rent // (TENTHS * WINDOW), self.line, tariff)


def _tiers(tiers: Tiers) -> tuple[Tier, ...]:
    return tuple(Tier(tens, price * 10**9 // TENTHS) for tens, price in tiers)


@cache
def transfer_price(tiers: Tiers, num_bytes: int) -> int:
    """Every byte at the price of the tier that it falls into, in micro-dollars, rounded up once."""
    total = 0
    for byte in range(num_bytes):
        total += next(price for tens, price in tiers if tens is None or byte < 10 * tens)
    return math.ceil(Fraction(total, TENTHS))


@dataclass(frozen=True)
class Case:
    """An instance as plain values; topics and subscribers are in id order.

    ``message_bytes``, if it is not None, stands in for ``sizes``.
    """

    asked_rates: Mapping[str, int]
    interests: Mapping[str, tuple[str, ...]]
    threshold: int | Literal["all"]
    machines: tuple[Machine, ...]
    sizes: Mapping[str, int]
    message_bytes: int | None = 1
    thresholds: Mapping[str, int] | None = None
    peak_factor: str = "1"
    headroom: str = "0%"
    rate_factor: str = "1"

    @property
    def topics(self) -> list[str]:
        return sorted(self.asked_rates)

    @property
    def rates(self) -> dict[str, int]:
        return {topic: math.ceil(rate * Fraction(self.rate_factor)) for topic, rate in self.asked_rates.items()}

    def size(self, topic: str) -> int:
        return self.sizes[topic] if self.message_bytes is None else self.message_bytes

    @property
    def streams(self) -> list[int]:
        return [self.rates[topic] * self.size(topic) for topic in self.topics]

    def limit(self, machine: Machine) -> int:
        share = 1 - Fraction(self.headroom.rstrip("%")) / 100
        return math.floor(machine.line * share / Fraction(self.peak_factor))

    def usable(self, machine: Machine) -> list[str]:
        """The topics that bring something and fit a VM with one subscriber."""
        limit = self.limit(machine)
        named = zip(self.topics, self.streams, strict=True)
        return [topic for topic, stream in named if self.rates[topic] > 0 and 2 * stream <= limit]

    def needed(self, subscriber: str) -> int:
        everything = sum(self.rates[topic] for topic in self.interests[subscriber])
        if self.thresholds is not None:
            return min(self.thresholds[subscriber], everything)
        return everything if self.threshold == "all" else min(self.threshold, everything)

    def cost(self, machine: Machine, num_vms: int, incoming: int, outgoing: int) -> int:
        """Micro-dollars: rent, bytes in and bytes out, each rounded up once."""
        rent = math.ceil(Fraction(num_vms * machine.rent, TENTHS))
        return rent + transfer_price(machine.incoming, incoming) + transfer_price(machine.outgoing, outgoing)

    def problem(self, directory: Path, rename: Callable[[str], str] = lambda name: name, **options: object) -> Problem:
        """The case as a workload on disk, its ids changed by a function, and the question about it."""

        def named(values: Mapping[str, int]) -> dict[str, int]:
            return {rename(name): value for name, value in values.items()}

        workload = pubplan.build_workload(
            directory / "workload",
            named(self.asked_rates),
            {rename(subscriber): [rename(topic) for topic in wanted] for subscriber, wanted in self.interests.items()},
            thresholds=None if self.thresholds is None else named(self.thresholds),
            message_bytes=named(self.sizes),
        )
        return Problem(
            workload,
            [machine.vm_type for machine in self.machines],
            None if self.thresholds is not None else self.threshold,
            peak_factor=self.peak_factor,
            headroom=self.headroom,
            window_seconds=WINDOW,
            message_bytes=self.message_bytes,
            rate_factor=self.rate_factor,
            **options,
        )


def tiers() -> st.SearchStrategy[Tiers]:
    """One price, or two with a border at 10, 20 or 30 bytes; prices may rise with volume."""
    price = st.integers(0, 25)
    return st.tuples(st.tuples(st.none(), price)) | st.tuples(
        st.tuples(st.integers(1, 3), price), st.tuples(st.none(), price)
    )


def machines(name: str) -> st.SearchStrategy[Machine]:
    return st.builds(
        Machine,
        name=st.just(name),
        line=st.integers(8, 90),
        rent=st.integers(0, 800),
        incoming=tiers(),
        outgoing=tiers(),
    )


def cases(max_topics: int = 4, max_subscribers: int = 4) -> st.SearchStrategy[Case]:
    """Small instances, odd ones included: rates, sizes and thresholds of 0, no interests, VMs that are too small."""

    thresholds = st.integers(0, 20)

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        topics = [f"t{number}" for number in range(draw(st.integers(1, max_topics)))]
        interests = {
            f"s{number}": tuple(topic for topic in topics if draw(st.integers(0, 3)))
            for number in range(draw(st.integers(1, max_subscribers)))
        }
        rented = [draw(machines("large"))]
        if draw(st.booleans()):
            rented.append(draw(machines("other")))
        return Case(
            {topic: draw(st.integers(0, 9)) for topic in topics},
            interests,
            draw(st.integers(0, 22).map(lambda number: number if number <= 20 else "all")),
            tuple(rented),
            {topic: draw(st.integers(0, 3)) for topic in topics},
            draw(st.integers(1, 3)),
            draw(st.none() | st.fixed_dictionaries(dict.fromkeys(interests, thresholds))),
            draw(st.sampled_from(["1", "1", "1.5"])),
            draw(st.sampled_from(["0%", "0%", "12.5%"])),
            draw(st.sampled_from(["1", "1", "1.3"])),
        )

    return build()


def variant(case: Case, name: str) -> Case:
    """``uniform``: all messages have the same size; ``sized``: each topic has a size."""
    return case if name == "uniform" else replace(case, message_bytes=None)


# The best there is


def covers(case: Case, subscriber: str, usable: Iterable[str]) -> list[tuple[str, ...]]:
    """Every set of usable topics that is enough and has none to spare: more pairs never cost less."""
    topics = [topic for topic in case.interests[subscriber] if topic in set(usable)]
    needed, rates = case.needed(subscriber), case.rates
    enough = []
    for size in range(len(topics) + 1):
        for chosen in combinations(topics, size):
            total = sum(rates[topic] for topic in chosen)
            if total >= needed and all(total - rates[topic] < needed for topic in chosen):
                enough.append(chosen)
    return enough


def best_cost(case: Case) -> int | None:
    """The least cost over all VM types, covers and fleets; None where a subscriber cannot be satisfied."""
    return _best_cost(repr(case), _Hidden(case))


class _Hidden:
    """A case that takes no part in a cache's key."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@cache
def _best_cost(key: str, hidden: _Hidden) -> int | None:
    case = hidden.case
    costs = [best_cost_of(case, machine) for machine in case.machines]
    return min((cost for cost in costs if cost is not None), default=None)


def best_cost_of(case: Case, machine: Machine) -> int | None:
    """The least cost of a fleet of one VM type. What a fleet costs depends only on how many pairs of each topic are on
    which VM, so covers are tried by their numbers of pairs, and VMs by their loads.
    """
    usable, topics, streams = case.usable(machine), case.topics, case.streams
    reached = {(0,) * len(topics)}
    for subscriber in case.interests:
        possible = [tuple(int(topic in chosen) for topic in topics) for chosen in covers(case, subscriber, usable)]
        reached = {tuple(map(sum, zip(counts, one, strict=True))) for counts in reached for one in possible}
    least = _least_incoming(tuple(streams), case.limit(machine))
    return min(
        (
            case.cost(machine, num_vms, incoming, sum(n * s for n, s in zip(counts, streams, strict=True)))
            for counts in reached
            for num_vms, incoming in least(counts).items()
        ),
        default=None,
    )


def _least_incoming(streams: tuple[int, ...], limit: int) -> Callable[[tuple[int, ...]], dict[int, int]]:
    """For numbers of pairs by topic, the least incoming bytes by number of VMs, over all ways to share them out."""

    @cache
    def least(left: tuple[int, ...]) -> dict[int, int]:
        if not any(left):
            return {0: 0}
        first = next(topic for topic, number in enumerate(left) if number)
        by_vms: dict[int, int] = {}
        for load in product(*(range(int(topic == first), number + 1) for topic, number in enumerate(left))):
            on_it = [(number, stream) for number, stream in zip(load, streams, strict=True) if number]
            if sum((number + 1) * stream for number, stream in on_it) > limit:
                continue
            received = sum(stream for _, stream in on_it)
            rest = tuple(all_of - here for all_of, here in zip(left, load, strict=True))
            for num_vms, incoming in least(rest).items():
                total = received + incoming
                by_vms[num_vms + 1] = min(by_vms.get(num_vms + 1, total), total)
        return by_vms

    return least


# Stage 1, subscriber by subscriber


def first_cover(case: Case, subscriber: str, usable: Sequence[str]) -> list[str]:
    """RSP: the first topics, in order, until it is enough."""
    missing, chosen = case.needed(subscriber), []
    for topic in case.interests[subscriber]:
        if missing > 0 and topic in usable:
            chosen.append(topic)
            missing -= case.rates[topic]
    return chosen


def shuffle(topics: Sequence[int], uniforms: Sequence[float]) -> list[int]:
    """Take one of the topics that are left, as a number below 1 says, and put the first one that is left in its gap."""
    left, order = list(topics), []
    for uniform in uniforms:
        number = int(uniform * len(left))
        order.append(left[number])
        left[number] = left[0]
        left = left[1:]
    return order


TIE_SIGNS = {"largest": -1, "smallest": 1, "first": 0}


def greedy_cover(case: Case, subscriber: str, usable: Sequence[str], ties: str = "largest") -> list[str]:
    """GSP: the topic with the most benefit per cost, until it is enough; Algorithm 1 and 2 with sizes."""
    missing, chosen = case.needed(subscriber), []
    waiting = [topic for topic in case.interests[subscriber] if topic in usable]
    sign = TIE_SIGNS[ties]

    def ratio(topic: str, missing: int) -> Fraction | float:
        rate, size = case.rates[topic], case.size(topic)
        return min(Fraction(1), Fraction(rate, missing)) / (2 * rate * size) if size else math.inf

    while missing > 0 and waiting:
        best = min(waiting, key=lambda topic: (-ratio(topic, missing), sign * case.rates[topic], topic))
        waiting.remove(best)
        chosen.append(best)
        missing -= case.rates[best]
    return sorted(chosen)


def least_cover_cost(case: Case, subscriber: str, usable: Sequence[str], cost: Mapping[str, int]) -> int:
    """The least cost of a cover, with a cost for each topic."""
    return min(sum(cost[topic] for topic in chosen) for chosen in covers(case, subscriber, usable))


def mandatory(case: Case, subscriber: str, usable: Sequence[str]) -> list[str]:
    """The topics without which it would not be enough."""
    every = [set(chosen) for chosen in covers(case, subscriber, usable)]
    return sorted(set.intersection(*every)) if every else []


# Stage 2: tables of (topic, VM, pairs) in the order of packing


def first_fit(pairs: Iterable[int], streams: Sequence[int], limit: int) -> list[int]:
    """FFBinPacking: every pair on the first VM that can take it; the first of a topic also brings the stream in."""
    vms: list[dict[int, int]] = []
    placed = []
    for topic in pairs:
        vm = 0
        while vm < len(vms) and used(_with(vms[vm], topic), streams) > limit:
            vm += 1
        if vm == len(vms):
            vms.append({})
        vms[vm] = _with(vms[vm], topic)
        placed.append(vm)
    return placed


def _with(load: Mapping[int, int], topic: int) -> dict[int, int]:
    return {**load, topic: load.get(topic, 0) + 1}


def used(load: Mapping[int, int], streams: Sequence[int]) -> int:
    """What a VM receives and sends that has this many pairs of each topic."""
    return sum((number + 1) * streams[topic] for topic, number in load.items())


def custom_pack(
    topics: Iterable[int],
    streams: Sequence[int],
    counts: Sequence[int],
    limit: int,
    steps: str,
    prices: tuple[Fraction, Fraction],
) -> list[Portion]:
    """CustomBinPacking with the paper's steps (d) and (e) if they are named; ``prices`` are of a VM and of a byte.

    Pairs that do not fit the VM deployed last are distributed over existing VMs with (d) only. A byte that costs
    nothing still counts where VMs cost the same.
    """
    rent, per_byte = prices[0], prices[1] or Fraction(1, 10**30)
    vms: list[dict[int, int]] = []
    portions: list[Portion] = []

    def free(vm: int) -> int:
        return limit - used(vms[vm], streams)

    def put(topic: int, vm: int, number: int) -> None:
        vms[vm][topic] = number
        portions.append((topic, vm, number))

    for topic in topics:
        stream, left = streams[topic], counts[topic]
        if vms and (left + 1) * stream <= free(len(vms) - 1):
            put(topic, len(vms) - 1, left)
            continue
        order = sorted(range(len(vms)), key=lambda vm: (-free(vm), vm)) if "d" in steps else []
        shares, rest = [], left
        for vm in order:
            takes = _takes(free(vm), stream, rest)
            if takes:
                shares.append((vm, takes))
                rest -= takes
        per_vm = _takes(limit, stream, left)
        more, all_new = math.ceil(Fraction(rest, per_vm)), math.ceil(Fraction(left, per_vm))
        if "e" in steps and shares:
            distributed = more * rent + (len(shares) + more) * stream * per_byte
            if all_new * (rent + stream * per_byte) <= distributed:
                shares, rest = [], left
        for vm, takes in shares:
            put(topic, vm, takes)
        while rest:
            vms.append({})
            takes = min(rest, per_vm)
            put(topic, len(vms) - 1, takes)
            rest -= takes
    return portions


def _takes(free: int, stream: int, left: int) -> int:
    """How many of ``left`` pairs of a topic a VM takes that does not carry it yet."""
    return max(number for number in range(left + 1) if number == 0 or (number + 1) * stream <= free)


def level_pack(
    topics: Iterable[int], streams: Sequence[int], counts: Sequence[int], limit: int, num_vms: int
) -> list[Portion]:
    """Topics whole on the VM with the most free capacity; what fits nowhere is split at the end, and opens VMs."""
    loads = [0] * num_vms
    portions: list[Portion] = []
    late = []

    def freest() -> int:
        return min(range(len(loads)), key=lambda vm: (loads[vm], vm))

    for topic in topics:
        stream, left = streams[topic], counts[topic]
        while left:
            takes = _takes(limit, stream, left)
            if loads[freest()] + (takes + 1) * stream <= limit:
                vm = freest()
                loads[vm] += (takes + 1) * stream
                portions.append((topic, vm, takes))
            else:
                late.append((topic, takes))
            left -= takes
    for topic, number in late:
        stream, left = streams[topic], number
        while left:
            takes = _takes(limit - loads[freest()], stream, left)
            if not takes:
                loads.append(0)
                continue
            vm = freest()
            loads[vm] += (takes + 1) * stream
            portions.append((topic, vm, takes))
            left -= takes
    return portions


# Plans of one block as plain values

PLACED = "decisions/placements/00000.parquet"


def placements_of(plan: Plan) -> Placements:
    """For every subscriber the topics that it is sent, each with its VM."""
    rows = plan.decisions_block("placements", 0).to_pylist()
    return [list(zip(row["topics"], row["vms"], strict=True)) for row in rows]


def stated_for(case: Case, plan: Plan, placements: Placements, num_vms: int | None = None) -> dict[str, Any]:
    """What a plan would say of other placements on VMs of the same type: tables and record, as ``forge`` takes them."""
    rows = plan.decisions("types").to_pylist()
    chosen = next(row for row in rows if row["chosen"])
    machine = next(machine for machine in case.machines if machine.name == chosen["type"])
    num_vms = plan.decisions("vms").num_rows if num_vms is None else num_vms
    loads = Counter(pair for row in placements for pair in row)
    streams, price = case.streams, case.cost(machine, 1, 0, 0)
    vms = []
    for vm in range(num_vms):
        load = {topic: number for (topic, other), number in loads.items() if other == vm}
        incoming = sum(streams[topic] for topic in load)
        outgoing = sum(streams[topic] * number for topic, number in load.items())
        counts = (incoming + outgoing, incoming, outgoing, len(load), sum(load.values()))
        vms.append((vm, machine.name, *counts, price))
    incoming, outgoing = sum(row[3] for row in vms), sum(row[4] for row in vms)
    costs = (
        case.cost(machine, num_vms, 0, 0),
        transfer_price(machine.incoming, incoming),
        transfer_price(machine.outgoing, outgoing),
    )
    numbers = dict(zip(("vm_cost", "incoming_cost", "outgoing_cost"), costs, strict=True))
    chosen |= {"vms": num_vms, "incoming": incoming, "outgoing": outgoing, **numbers, "cost": sum(costs)}
    split = [topic for topic in range(len(streams)) if sum(other == topic for other, _ in loads) > 1]
    splits = [(topic, case.topics[topic], vm, n) for (topic, vm), n in sorted(loads.items()) if topic in split]
    lists = [(number, [topic for topic, _ in row], [vm for _, vm in row]) for number, row in enumerate(placements)]
    return {
        "record": {"objective": sum(costs) / 10**6, "exact": {"value": sum(costs), "scale": 10**6}},
        "tables": {
            PLACED: rows_into(lists),
            "decisions/vms.parquet": rows_into(vms),
            "decisions/splits.parquet": rows_into(splits),
            "decisions/types.parquet": rows_into([tuple(row.values()) for row in rows]),
        },
    }


def faults(verdict: Verdict) -> set[str]:
    """What a verdict says is wrong."""
    return {violation.fault for violation in verdict.violations}


def rows_into(rows: Iterable[tuple[object, ...]]) -> Callable[[pa.Table], pa.Table]:
    """Replaces the rows of a table."""
    given = list(rows)

    def change(table: pa.Table) -> pa.Table:
        columns = [[row[column] for row in given] for column in range(table.num_columns)]
        return pa.table(columns, schema=table.schema)

    return change
