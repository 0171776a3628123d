"""Plans of federate by hand: tables with all numbers as they follow from an attachment and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from oracles.federate import (
    Case,
    Edge,
    access_cost,
    cells_of,
    channel_of,
    demand,
    keeps_capacities,
    path,
    sent,
    spanning,
    trees,
    wants,
)
from pubplan.planning import Exact, Plan
from pubplan.problems.federate.plan import (
    ATTACHMENTS_SCHEMA,
    BROKERS_SCHEMA,
    CHANNELS_SCHEMA,
    LINKS_SCHEMA,
    TREES_SCHEMA,
)
from pubplan.problems.federate.problem import DOLLAR_SCALE

Tree = tuple[int, int, tuple[int, ...]]
"""Channel, origin and parents, as in a row of the table."""

Change = tuple[list[int], list[Tree]]


def decided(plan: Plan) -> Change:
    """The attachment and the trees of a plan."""
    attached = plan.decisions_block("attachments", 0)["broker"].to_pylist()
    rows = plan.decisions("trees").to_pylist()
    return attached, [(row["channel"], row["origin"], tuple(row["parents"])) for row in rows]


def edges_of(tree: Tree) -> list[Edge]:
    return [(min(a, b), max(a, b)) for a, b in enumerate(tree[2]) if b >= 0]


def _tree_for(rows: Sequence[Tree], channel: int, origin: int) -> Tree | None:
    for wanted in ((-1, -1), (channel, origin), (channel, -1)):
        for tree in rows:
            if tree[:2] == wanted:
                return tree
    return None


def flows(case: Case, attached: Sequence[int], rows: Sequence[Tree]) -> dict[Edge, int]:
    """Messages by link and direction: each along the ways to all who want it."""
    crossing: dict[Edge, int] = {}
    for sender, row in enumerate(sent(case)):
        for channel, count in enumerate(row):
            wanting = [n for n, client in enumerate(case.clients) if channel in wants(case, client) and n != sender]
            start = attached[sender]
            used: list[Edge] = []
            for end in (attached[number] for number in wanting):
                tree = _tree_for(rows, channel, start)
                way = [] if end == start else [(start, end)] if tree is None else path(edges_of(tree), start, end)
                at = start
                for edge in way:
                    following = edge[0] + edge[1] - at
                    used.append((at, following))
                    at = following
            for edge in used if case.cost == "replicating" else set(used):
                crossing[edge] = crossing.get(edge, 0) + count
    return {edge: count for edge, count in crossing.items() if count}


def changes_for(case: Case, attached: Sequence[int], rows: Sequence[Tree]) -> Mapping[str, Any]:
    """Another attachment and other trees for a plan, as ``forge`` takes them, with all numbers that follow."""
    crossing = flows(case, attached, rows)
    total = access_cost(case, attached) + sum(case.links[a][b] * count for (a, b), count in crossing.items())
    names = [f"b{number}" for number in range(case.num_brokers)]
    links = [(a, names[a], b, names[b], crossing[a, b], case.links[a][b]) for a, b in sorted(crossing)]
    brokers = []
    for broker, name in enumerate(names):
        here = [number for number, other in enumerate(attached) if other == broker]
        load = sum(demand(case, number) for number in here)
        published = sum(sum(sent(case)[number]) for number in here)
        forwarded = sum(count for (a, _), count in crossing.items() if a == broker)
        brokers.append((broker, name, len(here), load, case.capacities[broker], published, forwarded))
    tables = {
        "attachments/00000": (list(enumerate(attached)), ATTACHMENTS_SCHEMA),
        "links": (links, LINKS_SCHEMA),
        "trees": ([(channel, origin, list(parents)) for channel, origin, parents in rows], TREES_SCHEMA),
        "channels": (channel_rows(case), CHANNELS_SCHEMA),
        "brokers": (brokers, BROKERS_SCHEMA),
    }
    exact = Exact(total, DOLLAR_SCALE)
    return {
        "record": {"exact": exact.to_dict(), "objective": float(exact)},
        "tables": {
            f"decisions/{name}.parquet": lambda table, rows=rows, schema=schema: pa.Table.from_pylist(
                [dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema
            )
            for name, (rows, schema) in tables.items()
        },
    }


def channel_rows(case: Case) -> list[tuple[Any, ...]]:
    """The table of channels: the ranges that the cells of each cover."""
    rows = []
    cells_by_channel: dict[int, list[tuple[int, ...]]] = {}
    for number, cell in cells_of(case):
        cells_by_channel.setdefault(channel_of(case, number), []).append(cell)
    for channel in sorted(cells_by_channel):
        messages = sum(row[channel] for row in sent(case))
        subscribers = sum(channel in wants(case, client) for client in case.clients)
        for axis, (steps, cells) in enumerate(zip(case.steps, case.cells, strict=True)):
            width, along = steps // cells, [cell[axis] for cell in cells_by_channel[channel]]
            rows.append((channel, "xyz"[axis], min(along) * width, (max(along) + 1) * width, messages, subscribers))
    return rows


def at_a_forbidden_broker(case: Case, attached: list[int], rows: list[Tree]) -> Change | None:
    """A client at a broker that it may not use, or whose capacity it exceeds; with one tree for everything, which fits
    any attachment.
    """
    if case.routing != "acyclic" and case.cost == "shared":
        return None
    for number, client in enumerate(case.clients):
        for broker in range(case.num_brokers):
            moved = [broker if position == number else home for position, home in enumerate(attached)]
            is_allowed = client.allowed is None or broker in client.allowed
            if not is_allowed or not keeps_capacities(case, moved):
                return moved, rows
    return None


def at_no_broker(case: Case, attached: list[int], rows: list[Tree]) -> Mapping[str, Any]:
    """A client at a broker that does not exist."""

    def change(table: pa.Table) -> pa.Table:
        brokers = [*table["broker"].to_pylist()[:-1], case.num_brokers]
        return pa.table([table["client"], pa.array(brokers, pa.int32())], schema=table.schema)

    return {"tables": {"decisions/attachments/00000.parquet": change}}


def heavier_tree(case: Case, attached: list[int], rows: list[Tree]) -> Change | None:
    """A spanning tree that is not minimum, or for other routings a tree that leaves somebody out."""
    for position, (channel, origin, parents) in enumerate(rows):
        inside = [broker for broker, parent in enumerate(parents) if parent != -2]
        for edges in trees(len(inside)):
            ends = [(inside[a], inside[b]) for a, b in edges]
            if case.routing == "spanning" and sum(case.links[a][b] for a, b in ends) > spanning(case.links, inside):
                tree = (channel, origin, rooted(case, inside, ends))
                return attached, [*rows[:position], tree, *rows[position + 1 :]]
    return None


def rooted(case: Case, inside: Sequence[int], edges: Sequence[Edge]) -> tuple[int, ...]:
    """Parents of brokers in a tree with the smallest as its root."""
    parents = [-2] * case.num_brokers
    waiting = [(inside[0], -1)]
    while waiting:
        node, above = waiting.pop()
        parents[node] = above
        waiting += [(a + b - node, node) for a, b in edges if node in (a, b) and a + b - node != above]
    return tuple(parents)


def without_a_broker(case: Case, plan: Plan) -> Mapping[str, Any] | None:
    """A tree that leaves its last leaf out."""
    _, rows = decided(plan)
    for position, (channel, origin, parents) in enumerate(rows):
        leaves = [broker for broker, parent in enumerate(parents) if parent >= 0 and broker not in parents]
        if leaves:
            shorter = tuple(-2 if broker == leaves[-1] else parent for broker, parent in enumerate(parents))
            changed = [*rows[:position], (channel, origin, shorter), *rows[position + 1 :]]

            def change(table: pa.Table, changed: list[Tree] = changed) -> pa.Table:
                values = [dict(zip(table.schema.names, (a, b, list(c)), strict=True)) for a, b, c in changed]
                return pa.Table.from_pylist(values, schema=table.schema)

            return {"tables": {"decisions/trees.parquet": change}}
    return None
