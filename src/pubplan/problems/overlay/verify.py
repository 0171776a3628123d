"""Recomputes a plan from the tables on disk, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
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
)
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.verify_bounds import wrong_bounds
from pubplan.problems.overlay.verify_choices import wrong_division, wrong_trajectory
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
        *wrong_division(plan, entries),
        *wrong_trajectory(plan, entries, node, other, edges),
    ]
    most = int(degrees.max(initial=0))
    if not violations:
        violations = [
            *wrong_trees(plan, entries, edges),
            *wrong_bounds(plan, entries, most, spark),
        ]
    return Verdict(Exact(most), tuple(violations))


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
