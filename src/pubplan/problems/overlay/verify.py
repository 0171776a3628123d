"""Recomputes a plan from the tables on disk, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse.csgraph import connected_components

from pubplan.errors import Reason
from pubplan.planning import Exact, Plan, Verdict, wrong_columns
from pubplan.problems.overlay.plan import (
    DIVISION,
    DIVISION_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    NODES,
    NODES_SCHEMA,
    TOPICS,
    TOPICS_SCHEMA,
    TRAJECTORY_SCHEMA,
)
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.verify_bounds import wrong_bounds
from pubplan.problems.overlay.verify_entries import Edges, Entries, edges_of, graph_of, read_entries, same
from pubplan.problems.overlay.verify_trees import wrong_trees
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that every topic is connected by links between its nodes, and recompute degrees, trees and diameters.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    entries = read_entries(problem)
    violations = _wrong_tables(plan)
    if not violations:
        violations = _wrong_links(problem, plan)
    if violations:
        return Verdict(plan.exact, tuple(violations))
    links = plan.decisions(LINKS)
    node, other = links["node"].to_numpy(), links["other"].to_numpy()
    edges = edges_of(entries, node, other)
    degrees = np.bincount(np.concatenate([node, other]), minlength=entries.num_nodes)
    violations = [
        *unconnected(entries, edges),
        *_wrong_nodes(problem, plan, entries, degrees),
        *_wrong_topics(problem, plan, entries, edges),
        *_wrong_division(plan, entries),
        *_wrong_trajectory(plan, entries, node, other, edges),
    ]
    if not violations:
        violations = [
            *wrong_trees(plan, entries, edges),
            *wrong_bounds(plan, entries, spark),
        ]
    return Verdict(Exact(int(degrees.max(initial=0))), tuple(violations))


def _wrong_tables(plan: Plan) -> list[Reason]:
    """Tables have the columns they should."""
    found = []
    for name, schema in (
        (LINKS, LINKS_SCHEMA),
        (NODES, NODES_SCHEMA),
        (TOPICS, TOPICS_SCHEMA),
        (DIVISION, DIVISION_SCHEMA),
    ):
        found += wrong_columns(name, plan.decisions(name), schema)
    return found


def _wrong_links(problem: Problem, plan: Plan) -> list[Reason]:
    """Links are between different nodes that exist, each listed once, ascending, under their names."""
    links = plan.decisions(LINKS)
    node, other = links["node"].to_numpy(), links["other"].to_numpy()
    both = np.concatenate([node, other])
    outside = int(np.count_nonzero((both < 0) | (both >= problem.num_nodes)))
    if outside:
        return [Reason("nodes of links exist", 0, outside, LINKS)]
    found = []
    turned = int(np.count_nonzero(node >= other))
    if turned:
        found.append(Reason("links lead from a node to a larger one", 0, turned, LINKS))
    repeated = int(np.count_nonzero(np.diff(node * problem.num_nodes + other) <= 0))
    if repeated:
        found.append(Reason("links listed once, ascending", 0, repeated, LINKS))
    names = problem.workload.subscriber_ids()
    for numbers, column in ((node, "node_id"), (other, "other_id")):
        if not pa.chunked_array([names.take(pa.array(numbers))]).equals(links[column]):
            found.append(Reason("names of nodes", "those of the workload", "others", f"{LINKS}.{column}"))
    return found


def unconnected(entries: Entries, edges: Edges) -> list[Reason]:
    """Every topic's nodes are connected by links between them."""
    num_entries = len(entries.topics)
    if num_entries == 0:
        return []
    _, labels = connected_components(graph_of(num_entries, edges.mine, edges.its), directed=False)
    first_of = np.unique(labels, return_index=True)[1]
    components = np.bincount(entries.topics[first_of], minlength=entries.num_topics)
    split = np.flatnonzero(components > 1)
    if not len(split):
        return []
    return [Reason("topics connected", 0, len(split), f"topic {split[0]} is in {components[split[0]]} components")]


def _wrong_nodes(problem: Problem, plan: Plan, entries: Entries, degrees: Int64Array) -> Iterator[Reason]:
    table = plan.decisions(NODES)
    expected = {"node": np.arange(entries.num_nodes), "topics": np.diff(entries.offsets), "degree": degrees}
    yield from same(NODES, expected, table)
    if not pa.chunked_array([problem.workload.subscriber_ids()]).equals(table["node_id"]):
        yield Reason("names of nodes", "those of the workload", "others", f"{NODES}.node_id")


def _wrong_topics(problem: Problem, plan: Plan, entries: Entries, edges: Edges) -> Iterator[Reason]:
    table = plan.decisions(TOPICS)
    inside = np.bincount(entries.topics[edges.mine], minlength=entries.num_topics)
    expected = {"topic": np.arange(entries.num_topics), "nodes": entries.members, "links": inside}
    yield from same(TOPICS, expected, table)
    if not problem.workload.topics("topic_id")["topic_id"].equals(table["topic_id"]):
        yield Reason("names of topics", "those of the workload", "others", f"{TOPICS}.topic_id")
    common = np.bincount(edges.links, minlength=plan.decisions(LINKS).num_rows)
    yield from same(LINKS, {"topics": common}, plan.decisions(LINKS))


def _wrong_division(plan: Plan, entries: Entries) -> Iterator[Reason]:
    """Nodes above eta are in no part, the others in parts of the same size; representatives cover their part."""
    rows, nodes = plan.decisions(DIVISION).to_pylist(), plan.decisions(NODES)
    if nodes.num_rows != entries.num_nodes:
        return
    parts, stood = nodes["part"].to_numpy(), nodes["representative"].to_numpy(zero_copy_only=False)
    if len(rows) != 1:
        if rows or np.any(parts != -1) or stood.any():
            yield Reason("one division, or none", "parts in one row", f"{len(rows)} rows", DIVISION)
        return
    told = rows[0]
    is_bulk = np.diff(entries.offsets) > told["eta"]
    if np.any((parts == -1) != is_bulk) or np.any(parts >= max(1, told["parts"])) or np.any(parts < -1):
        yield Reason("parts as eta says", told["eta"], "others", f"{NODES}.part")
        return
    sizes = np.bincount(parts[~is_bulk], minlength=told["parts"])
    if int(np.ptp(sizes)) > 1:
        yield Reason("parts of the same size", int(sizes.min()), int(sizes.max()), f"{NODES}.part")
    of_parts = np.bincount(parts[~is_bulk & stood], minlength=told["parts"])
    met = int(is_bulk.sum()) + int(of_parts.sum())
    known = entries.num_nodes
    if told["coverage"]:
        takes_part = (sizes + met - of_parts)[of_parts > 0]
        known = max(int(sizes.max()), int(takes_part.max(initial=0)), met if is_bulk.any() else 0)
    expected = {
        "bulk": int(is_bulk.sum()),
        "light": int((~is_bulk).sum()),
        "representatives": int(stood.sum()),
        "known": known,
    }
    yield from (
        Reason(f"{name} as recomputed", value, told[name], DIVISION)
        for name, value in expected.items()
        if told[name] != value
    )
    if told["coverage"]:
        yield from _uncovered(entries, parts, stood, told["coverage"])


def _uncovered(entries: Entries, parts: Int64Array, stood: npt.NDArray[np.bool_], coverage: int) -> Iterator[Reason]:
    """A part has for each topic that is wanted elsewhere too as many representatives as asked for, or all it has."""
    nodes = entries.nodes
    is_light = parts[nodes] >= 0
    keys = parts[nodes].astype(np.int64) * entries.num_topics + entries.topics
    present, own = np.unique(keys[is_light], return_counts=True)
    represented, chosen = np.unique(keys[is_light & stood[nodes]], return_counts=True)
    have = np.zeros_like(own)
    have[np.searchsorted(present, represented)] = chosen
    is_wanted = own < entries.members[present % entries.num_topics]
    short = int(np.count_nonzero(is_wanted & (have < np.minimum(own, coverage))))
    if short:
        yield Reason("topics of parts represented", 0, short, f"{NODES}.representative")


def _wrong_trajectory(
    plan: Plan, entries: Entries, node: Int64Array, other: Int64Array, edges: Edges
) -> Iterator[Reason]:
    """The order of choice has the links of the plan, which together join all that was to be joined."""
    trajectory = plan.trajectory()
    if trajectory is None or not trajectory.schema.equals(TRAJECTORY_SCHEMA):
        yield Reason("columns", ", ".join(TRAJECTORY_SCHEMA.names), "others", "trajectory")
        return
    order = np.lexsort((trajectory["other"].to_numpy(), trajectory["node"].to_numpy()))
    ordered = trajectory.take(pa.array(order))
    yield from same("trajectory", {"node": node, "other": other}, ordered)
    if ordered.num_rows == len(node):
        common = np.bincount(edges.links, minlength=len(node))
        joined = ordered["joined"].to_numpy()
        wrong = int(np.count_nonzero((joined < 0) | (joined > common)))
        if wrong:
            yield Reason("links join some of their topics", 0, wrong, "trajectory")
        joins = int(np.maximum(entries.members - 1, 0).sum())
        if joined.sum() != joins:
            yield Reason("joins in all", joins, int(joined.sum()), "trajectory")
