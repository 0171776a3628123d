"""``federate`` by the definitions, and by trying everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

from hypothesis import strategies as st

from pubplan.problems.federate.problem import Problem
from pubplan.workload import Attribute, Broker, Client, ContentWorkload, Space, build_content_workload

Edge = tuple[int, int]


@dataclass(frozen=True)
class Publisher:
    """A client: its site, its rectangle as ranges, what it publishes by cell, and the brokers that it may use."""

    site: int
    box: tuple[tuple[int, int], ...]
    publishes: tuple[tuple[int, int], ...] = ()
    allowed: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Case:
    """A small instance. ``links`` are prices between brokers, metric; ``cuts`` the ranges per attribute."""

    steps: tuple[int, ...]
    cells: tuple[int, ...]
    clients: tuple[Publisher, ...]
    prices: tuple[tuple[int, ...], ...]
    links: tuple[tuple[int, ...], ...]
    capacities: tuple[int, ...]
    cuts: tuple[int, ...]
    routing: str = "spanning"
    cost: str = "shared"

    @property
    def num_brokers(self) -> int:
        return len(self.links)

    def problem(self, directory: Path, rename: Callable[[str], str] = str) -> Problem:
        channels = "x".join(map(str, self.cuts)) if len(self.cuts) > 1 else self.cuts[0]
        return Problem(
            self.workload(directory, rename), channels=channels, routing=self.routing, cost=self.cost, message_bytes=1
        )

    def workload(self, directory: Path, rename: Callable[[str], str] = str) -> ContentWorkload:
        names = [rename(f"b{number}") for number in range(self.num_brokers)]
        sites = [rename(f"s{number}") for number in range(len(self.prices))]
        brokers = {
            name: Broker(share=1, capacity=capacity) for name, capacity in zip(names, self.capacities, strict=True)
        }
        clients = {
            rename(f"c{number}"): Client(
                sites[client.site],
                list(client.box),
                allowed=None if client.allowed is None else [names[broker] for broker in client.allowed],
                publishes=dict(client.publishes),
            )
            for number, client in enumerate(self.clients)
        }
        density = [0] * prod(self.cells)
        for client in self.clients:
            for cell, count in client.publishes:
                density[cell] += count
        space = Space(tuple(Attribute(name, steps) for name, steps in zip("xyz", self.steps, strict=False)), self.cells)
        return build_content_workload(
            directory,
            space,
            clients,
            brokers,
            {site: dict.fromkeys(names, 1) for site in sites},
            density=density,
            prices={site: dict(zip(names, row, strict=True)) for site, row in zip(sites, self.prices, strict=True)},
            links={name: dict(zip(names, row, strict=True)) for name, row in zip(names, self.links, strict=True)},
            replace=True,
        )


def channel_of(case: Case, cell: int) -> int:
    """The channel of a cell: by width, ranges are as equal as whole cells allow."""
    number = 0
    rest, positions = cell, []
    for cells in reversed(case.cells):
        rest, position = divmod(rest, cells)
        positions.append(position)
    for position, cells, cuts in zip(reversed(positions), case.cells, case.cuts, strict=True):
        (step,) = (k for k in range(cuts) if k * cells // cuts <= position < (k + 1) * cells // cuts)
        number = number * cuts + step
    return number


def cells_of(case: Case) -> Iterator[tuple[int, tuple[int, ...]]]:
    yield from enumerate(product(*map(range, case.cells)))


def wants(case: Case, client: Publisher) -> set[int]:
    """The channels with a cell that the rectangle of a client touches."""
    wanted = set()
    for number, cell in cells_of(case):
        touched = True
        for position, (low, high), steps, cells in zip(cell, client.box, case.steps, case.cells, strict=True):
            width = steps // cells
            touched &= position * width < high and low < (position + 1) * width
        if touched:
            wanted.add(channel_of(case, number))
    return wanted


@cache
def sent(case: Case) -> tuple[tuple[int, ...], ...]:
    """By client and channel, messages that somebody else wants."""
    wanted = [wants(case, client) for client in case.clients]
    rows = []
    for number, client in enumerate(case.clients):
        row = [0] * prod(case.cuts)
        for cell, count in client.publishes:
            channel = channel_of(case, cell)
            if any(channel in other for position, other in enumerate(wanted) if position != number):
                row[channel] += count
        rows.append(tuple(row))
    return tuple(rows)


@cache
def demand(case: Case, client: int) -> int:
    """What a client sends, and what others send that it wants."""
    total = sum(sent(case)[client])
    for channel in wants(case, case.clients[client]):
        total += sum(row[channel] for number, row in enumerate(sent(case)) if number != client)
    return total


def spanning(links: Sequence[Sequence[int]], nodes: Sequence[int]) -> int:
    """The weight of a minimum spanning tree, by adding the nearest node each time."""
    inside, left, weight = list(nodes[:1]), set(nodes[1:]), 0
    while left:
        price, nearest = min((links[a][b], b) for a in inside for b in left)
        weight += price
        inside.append(nearest)
        left.remove(nearest)
    return weight


@cache
def tree_weight(case: Case, nodes: frozenset[int]) -> int:
    """What connecting brokers weighs; a Steiner tree is the best spanning tree of any brokers that include them."""
    if case.routing == "spanning":
        return spanning(case.links, sorted(nodes))
    others = [broker for broker in range(case.num_brokers) if broker not in nodes]
    supersets = product(*([(), (broker,)] for broker in others))
    return min(spanning(case.links, sorted([*nodes, *sum(more, ())])) for more in supersets)


def trees(number: int) -> Iterator[tuple[Edge, ...]]:
    """All trees on this many nodes, from their Prüfer sequences."""
    if number <= 2:
        yield () if number < 2 else ((0, 1),)
        return
    for sequence in product(range(number), repeat=number - 2):
        degrees = [1 + sequence.count(node) for node in range(number)]
        edges = []
        for node in sequence:
            leaf = degrees.index(1)
            edges.append((min(leaf, node), max(leaf, node)))
            degrees[leaf] -= 1
            degrees[node] -= 1
        edges.append(tuple(node for node in range(number) if degrees[node] == 1))  # type: ignore[arg-type]
        yield tuple(edges)


def path(edges: Sequence[Edge], start: int, end: int) -> list[Edge]:
    """The edges between two nodes of a tree."""
    waiting: list[tuple[int, int, list[Edge]]] = [(start, -1, [])]
    while waiting:
        node, before, way = waiting.pop()
        if node == end:
            return way
        for edge in edges:
            if node in edge:
                other = edge[0] + edge[1] - node
                if other != before:
                    waiting.append((other, node, [*way, edge]))
    raise AssertionError("not a tree")


def core_in_tree(case: Case, attached: Sequence[int], edges: Sequence[Edge]) -> int:
    """What traffic between brokers costs inside one tree: every message along the ways to all who want it."""
    total = 0
    for sender, row in enumerate(sent(case)):
        for channel, count in enumerate(row):
            ends = [
                attached[number]
                for number, client in enumerate(case.clients)
                if number != sender and channel in wants(case, client)
            ]
            ways = [path(edges, attached[sender], end) for end in ends]
            if case.cost == "replicating":
                used = [edge for way in ways for edge in way]
            else:
                used = list({edge for way in ways for edge in way})
            total += count * sum(case.links[a][b] for a, b in used)
    return total


def core_cost(case: Case, attached: Sequence[int]) -> int:
    """What traffic between brokers costs at least."""
    if case.routing == "acyclic":
        return min(core_in_tree(case, attached, edges) for edges in trees(case.num_brokers))
    total = 0
    for sender, row in enumerate(sent(case)):
        for channel, count in enumerate(row):
            if not count:
                continue
            wanting = [number for number, client in enumerate(case.clients) if channel in wants(case, client)]
            if case.cost == "replicating":
                total += count * sum(case.links[attached[sender]][attached[number]] for number in wanting)
            else:
                total += count * tree_weight(case, frozenset([attached[sender], *(attached[n] for n in wanting)]))
    return total


def access_cost(case: Case, attached: Sequence[int]) -> int:
    return sum(
        demand(case, number) * case.prices[case.clients[number].site][broker] for number, broker in enumerate(attached)
    )


def total_cost(case: Case, attached: Sequence[int]) -> int:
    return access_cost(case, attached) + core_cost(case, attached)


def keeps_capacities(case: Case, attached: Sequence[int]) -> bool:
    loads = [0] * case.num_brokers
    for number, broker in enumerate(attached):
        loads[broker] += demand(case, number)
    return all(not limit or load <= limit for load, limit in zip(loads, case.capacities, strict=True))


def attachments(case: Case) -> Iterator[tuple[int, ...]]:
    """All ways to attach every client to a broker that it may use, within capacities."""
    choices = [range(case.num_brokers) if client.allowed is None else client.allowed for client in case.clients]
    return (attached for attached in product(*choices) if keeps_capacities(case, attached))


@cache
def best_cost(case: Case) -> int | None:
    """The least cost of all plans; None where nobody fits."""
    return min((total_cost(case, attached) for attached in attachments(case)), default=None)


def closed(matrix: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    """The metric closure of a symmetric matrix."""
    number = len(matrix)
    for via in range(number):
        for a in range(number):
            for b in range(number):
                matrix[a][b] = min(matrix[a][b], matrix[a][via] + matrix[via][b])
    return tuple(map(tuple, matrix))


SPACES = (((6,), (6,)), ((12,), (4,)), ((4, 2), (2, 2)), ((4, 6), (4, 3)), ((5,), (1,)))


@st.composite
def cases(draw: st.DrawFn, max_clients: int = 5, max_brokers: int = 4, max_price: int = 9) -> Case:
    """Small instances: one or two attributes, ties, zeros, clients that publish nothing, and tight capacities."""
    steps, cells = draw(st.sampled_from(SPACES))
    cuts = tuple(draw(st.integers(1, min(3, number))) for number in cells)
    num_brokers, num_sites = draw(st.integers(1, max_brokers)), draw(st.integers(1, 3))
    prices = tuple(tuple(draw(st.integers(0, max_price)) for _ in range(num_brokers)) for _ in range(num_sites))
    matrix = [[0] * num_brokers for _ in range(num_brokers)]
    for a in range(num_brokers):
        for b in range(a):
            matrix[a][b] = matrix[b][a] = draw(st.integers(0, max_price))
    ranges = [st.sampled_from([(low, high) for high in range(size + 1) for low in range(high)]) for size in steps]
    has_lists = draw(st.booleans())
    clients = []
    for _ in range(draw(st.integers(1, max_clients))):
        published = draw(st.dictionaries(st.integers(0, prod(cells) - 1), st.integers(0, 5), max_size=3))
        allowed = draw(st.sets(st.integers(0, num_brokers - 1), min_size=1)) if has_lists else None
        clients.append(
            Publisher(
                draw(st.integers(0, num_sites - 1)),
                tuple(draw(some) for some in ranges),
                tuple(sorted(published.items())),
                None if allowed is None else tuple(sorted(allowed)),
            )
        )
    case = Case(steps, cells, tuple(clients), prices, closed(matrix), (0,) * num_brokers, cuts)
    if not draw(st.booleans()):
        return case
    total = sum(demand(case, number) for number in range(len(clients)))
    capacities = tuple(draw(st.integers(1, max(1, total))) for _ in range(num_brokers))
    return Case(steps, cells, tuple(clients), prices, case.links, capacities, cuts)
