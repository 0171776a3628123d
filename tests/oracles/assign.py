"""assign by the definitions: every assignment, every filter, one grid step after the other, no cleverness.

Spaces are tiny: a set of grid steps is a mask of bits, one per step, so every filter can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor, prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from pubplan import workload
from pubplan.problems.assign.problem import Problem

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Low and high corner, half-open."""

NO_PLAN = 2**60
"""What filters cost that do not contain what they must."""


@dataclass(frozen=True)
class Broker:
    """A broker: its parent or -1, the latency from there, and its share of all clients (0 where it has children)."""

    parent: int = -1
    latency: int = 0
    share: int = 1


@dataclass(frozen=True)
class Client:
    """A client: its site and rectangle, and what a workload may say of it besides."""

    site: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    limit: int = 0
    allowed: tuple[int, ...] | None = None
    weight: int = 1

    @property
    def box(self) -> Box:
        return self.low, self.high


@dataclass(frozen=True)
class Case:
    """A tiny instance with the question asked of it.

    Attributes:
        steps: the extent of the space, per attribute.
        latencies: from each site to every broker.
        cells: cells of the density per attribute, or nothing; ``messages`` are those of each cell, row by row.
        max_delay: a decimal, "none", or None where the limits of the clients count.
    """

    steps: tuple[int, ...]
    brokers: tuple[Broker, ...]
    latencies: tuple[tuple[int, ...], ...]
    clients: tuple[Client, ...]
    boxes: int = 1
    max_delay: str | None = "none"
    load: str = "1"
    max_load: str = "1"
    hop: str = "path"
    cells: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()

    @property
    def leaves(self) -> list[int]:
        parents = {broker.parent for broker in self.brokers}
        return [number for number in range(len(self.brokers)) if number not in parents]

    @property
    def total_weight(self) -> int:
        return sum(client.weight for client in self.clients)

    def problem(self, directory: Path, rename: Callable[[str], str] = lambda name: name) -> Problem:
        """Write the workload, and ask about it; renaming must keep the order of ids."""
        attributes = tuple(workload.Attribute(f"a{axis}", steps) for axis, steps in enumerate(self.steps))
        broker_ids = [rename(f"b{number}") for number in range(len(self.brokers))]
        has_limits = self.max_delay is None
        clients = {
            rename(f"c{number}"): workload.Client(
                rename(f"s{client.site}"),
                list(zip(client.low, client.high, strict=True)),
                client.limit if has_limits else None,
                None if client.allowed is None else [broker_ids[broker] for broker in client.allowed],
                client.weight,
            )
            for number, client in enumerate(self.clients)
        }
        brokers = {
            broker_ids[number]: workload.Broker(
                None if each.parent < 0 else broker_ids[each.parent], each.latency, each.share
            )
            for number, each in enumerate(self.brokers)
        }
        latencies = {
            rename(f"s{site}"): dict(zip(broker_ids, row, strict=True)) for site, row in enumerate(self.latencies)
        }
        written = workload.build_content_workload(
            directory / "workload",
            workload.Space(attributes, self.cells or None),
            clients,
            brokers,
            latencies,
            density=self.messages or None,
        )
        return Problem(written, self.boxes, self.max_delay, self.load, self.max_load, self.hop)

    @property
    def scale(self) -> int:
        """The volume of a cell of the density: measures are integers over it."""
        return prod(step // cell for step, cell in zip(self.steps, self.cells, strict=True)) if self.cells else 1


def path(case: Case, broker: int) -> list[int]:
    """The brokers from the publisher to a broker."""
    parent = case.brokers[broker].parent
    return [*(path(case, parent) if parent >= 0 else []), broker]


def latency(case: Case, site: int, leaf: int) -> int:
    """What a message takes to a client of a site by way of a leaf, all along or on the last hop."""
    last = case.latencies[site][leaf]
    return last if case.hop == "last" else last + sum(case.brokers[broker].latency for broker in path(case, leaf))


def limit(case: Case, client: Client) -> int | None:
    """The most that a message to a client may take."""
    if case.max_delay == "none":
        return None
    if case.max_delay is None:
        return client.limit
    shortest = min(latency(case, client.site, leaf) for leaf in case.leaves)
    return floor((1 + Fraction(case.max_delay)) * shortest)


def candidates(case: Case, client: Client) -> list[int]:
    """The leaves that may serve a client."""
    most = limit(case, client)
    near = [leaf for leaf in case.leaves if most is None or latency(case, client.site, leaf) <= most]
    return near if client.allowed is None else [leaf for leaf in near if leaf in client.allowed]


def capacity(case: Case, leaf: int, factor: str) -> int:
    """The weight that a leaf may serve at a load factor: at most all there is."""
    shares = sum(case.brokers[leaf].share for leaf in case.leaves)
    return min(case.total_weight, floor(Fraction(factor) * case.brokers[leaf].share * case.total_weight / shares))


def loads(case: Case, assignment: Sequence[int]) -> list[int]:
    """The weight that every broker serves."""
    served = [0] * len(case.brokers)
    for client, leaf in zip(case.clients, assignment, strict=True):
        served[leaf] += client.weight
    return served


def load_factor(case: Case, assignment: Sequence[int]) -> Fraction | None:
    """The greatest load in terms of shares; None where a leaf without a share serves somebody."""
    served, shares = loads(case, assignment), sum(case.brokers[leaf].share for leaf in case.leaves)
    if any(served[leaf] and not case.brokers[leaf].share for leaf in case.leaves):
        return None
    used = [leaf for leaf in case.leaves if served[leaf]]
    return max(
        (Fraction(served[leaf] * shares, case.brokers[leaf].share * case.total_weight) for leaf in used),
        default=Fraction(0),
    )


def assignments(case: Case) -> Iterator[tuple[int, ...]]:
    """All ways to give every client one of its candidates."""
    return product(*(candidates(case, client) for client in case.clients))


def least_load_factor(case: Case) -> Fraction | None:
    """The least load factor that any assignment reaches; None where there is none."""
    factors = (load_factor(case, assignment) for assignment in assignments(case))
    return min((factor for factor in factors if factor is not None), default=None)


def keeps_loads(case: Case, assignment: Sequence[int]) -> bool:
    """Whether no leaf serves more than it may at ``max_load``."""
    served = loads(case, assignment)
    return all(served[leaf] <= capacity(case, leaf, case.max_load) for leaf in case.leaves)


def steps_of(case: Case) -> list[tuple[int, ...]]:
    """All grid steps of the space, row by row."""
    return list(product(*map(range, case.steps)))


def mask(case: Case, boxes: Iterable[Box]) -> int:
    """The grid steps inside any of these boxes."""
    inside = 0
    for number, step in enumerate(steps_of(case)):
        if any(all(start <= x < end for start, x, end in zip(low, step, high, strict=True)) for low, high in boxes):
            inside |= 1 << number
    return inside


def step_measure(case: Case, step: tuple[int, ...]) -> int:
    """What a grid step counts: 1, or the messages of its cell."""
    if not case.cells:
        return 1
    number = 0
    for x, size, cells in zip(step, case.steps, case.cells, strict=True):
        number = number * cells + x // (size // cells)
    return case.messages[number]


def measure(case: Case, boxes: Iterable[Box]) -> int:
    """The measure of a union of boxes."""
    inside = mask(case, boxes)
    return sum(step_measure(case, step) for number, step in enumerate(steps_of(case)) if inside >> number & 1)


@cache
def _measures(case: Case) -> npt.NDArray[np.int64]:
    """The measure of every set of grid steps."""
    totals = np.zeros(1, dtype=np.int64)
    for step in steps_of(case):
        totals = np.concatenate([totals, totals + step_measure(case, step)])
    return totals


@cache
def _is_filter(steps: tuple[int, ...], boxes: int) -> npt.NDArray[np.bool_]:
    """Which sets of grid steps are unions of at most this many boxes."""
    case = Case(steps, (), (), ())
    sides = [[(low, high) for high in range(size + 1) for low in range(high)] for size in steps]
    single = np.array([mask(case, [tuple(zip(*box, strict=True))]) for box in product(*sides)], dtype=np.int64)
    unions = np.zeros(1, dtype=np.int64)
    for _ in range(boxes):
        unions = np.unique(np.concatenate([unions, np.bitwise_or.outer(unions, single).ravel()]))
    is_filter = np.zeros(1 << prod(steps), dtype=bool)
    is_filter[unions] = True
    return is_filter


def _least_inside(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For every set the least value of its subsets."""
    least = values.copy()
    bit = 1
    while bit < len(least):
        pairs = least.reshape(-1, 2, bit)
        np.minimum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        bit *= 2
    return least


def least_bandwidth(case: Case, assignment: Sequence[int]) -> int:
    """The least sum of all filters' measures for an assignment.

    A filter of a leaf is any union of boxes that contains what its clients want. It need not be the smallest one: a
    rectangle may lie in two boxes together, and of two filters of a leaf the larger one may suit its parent better. So
    every filter is tried: the cost of a broker's subtree is known for each filter that the broker may have, and a
    parent with a certain filter takes for each child the cheapest filter inside its own.
    """
    needs = [0] * len(case.brokers)
    for leaf in set(assignment):
        needs[leaf] = mask(
            case, [client.box for client, home in zip(case.clients, assignment, strict=True) if home == leaf]
        )
    sets = np.arange(1 << prod(case.steps))

    def costs(broker: int) -> npt.NDArray[np.int64]:
        """The cost of a subtree for every filter of its root."""
        total = _measures(case).copy()
        children = [child for child, other in enumerate(case.brokers) if other.parent == broker]
        for child in children:
            total = np.minimum(NO_PLAN, total + _least_inside(costs(child)))
        is_valid = _is_filter(case.steps, case.boxes) & (sets & needs[broker] == needs[broker])
        return np.where(is_valid, total, NO_PLAN)

    return sum(int(costs(broker).min()) for broker, each in enumerate(case.brokers) if each.parent < 0)


@cache
def best_bandwidth(case: Case) -> int | None:
    """The least bandwidth of all plans; None where no assignment keeps the limits."""
    totals: dict[frozenset[tuple[int, Box]], int] = {}
    for assignment in assignments(case):
        if keeps_loads(case, assignment):
            needs = frozenset((leaf, client.box) for client, leaf in zip(case.clients, assignment, strict=True))
            if needs not in totals:
                totals[needs] = least_bandwidth(case, assignment)
    return min(totals.values(), default=None)


def broken(case: Case, assignment: Sequence[int], filters: Sequence[Sequence[Box]]) -> set[str]:
    """The promises that a plan breaks: "leaf", "latency", "load", "inside", "nesting", "boxes"."""
    if any(leaf not in case.leaves for leaf in assignment):
        return {"leaf"}
    faults = set()
    served = list(zip(case.clients, assignment, strict=True))
    unions = [mask(case, boxes) for boxes in filters]
    if any(leaf not in candidates(case, client) for client, leaf in served):
        faults.add("latency")
    if not keeps_loads(case, assignment):
        faults.add("load")
    if any(mask(case, [client.box]) & ~unions[leaf] for client, leaf in served):
        faults.add("inside")
    if any(each.parent >= 0 and unions[broker] & ~unions[each.parent] for broker, each in enumerate(case.brokers)):
        faults.add("nesting")
    if any(len(boxes) > case.boxes for boxes in filters):
        faults.add("boxes")
    return faults


TREES = (
    (-1,),
    (-1, -1),
    (-1, -1, -1),
    (-1, 0, 0),
    (-1, -1, 0, 0, 1),
    (-1, 0, 0, 0),
    (-1, -1, 0, 0),
    (-1, 0, 1, 1),
)
"""The parents of brokers: one to three levels, with leaves at the same depth or not."""

SPACES = ((4, 3), (12,), (2, 3, 2), (2, 5), (3, 3), (6, 2))


def cases(max_clients: int = 5) -> st.SearchStrategy[Case]:
    """Small instances: one to three levels, one to three attributes, with and without densities, limits, weights and
    lists of allowed leaves; about half of them have clients that only one leaf can serve.
    """

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        steps = draw(st.sampled_from(SPACES))
        parents = draw(st.sampled_from(TREES))
        leaves = [number for number in range(len(parents)) if number not in parents]
        shares = [draw(st.integers(1, 3)) if number in leaves else 0 for number in range(len(parents))]
        brokers = tuple(
            Broker(parent, draw(st.integers(0, 4)), share) for parent, share in zip(parents, shares, strict=True)
        )
        num_sites = draw(st.integers(1, 3))
        latencies = tuple(tuple(draw(st.integers(0, 9)) for _ in brokers) for _ in range(num_sites))
        sides = [st.sampled_from([(low, high) for high in range(size + 1) for low in range(high)]) for size in steps]
        has_lists, has_weights = draw(st.booleans()), draw(st.booleans())
        subsets = st.sets(st.sampled_from(leaves), min_size=1).map(lambda some: tuple(sorted(some)))
        clients = []
        for _ in range(draw(st.integers(1, max_clients))):
            low, high = zip(*(draw(side) for side in sides), strict=True)
            allowed = draw(subsets) if has_lists else None
            weight = draw(st.integers(1, 3)) if has_weights else 1
            clients.append(
                Client(draw(st.integers(0, num_sites - 1)), low, high, draw(st.integers(3, 16)), allowed, weight)
            )
        cells: tuple[int, ...] = ()
        if draw(st.booleans()):
            cells = tuple(
                draw(st.sampled_from([cell for cell in range(1, size + 1) if size % cell == 0])) for size in steps
            )
        messages = tuple(draw(st.integers(0, 4)) for _ in range(prod(cells))) if cells else ()
        return Case(
            steps,
            brokers,
            latencies,
            tuple(clients),
            boxes=draw(st.integers(1, 3)),
            max_delay=draw(st.sampled_from(["none", "0", "0.25", "1", None])),
            load="1",
            max_load=draw(st.sampled_from(["1", "1.5", "2", "3", "4"])),
            hop=draw(st.sampled_from(["path", "last"])),
            cells=cells,
            messages=messages,
        )

    return build()
