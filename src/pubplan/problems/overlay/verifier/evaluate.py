"""Recomputes a plan from the tables on disk, with NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from scipy.sparse.csgraph import connected_components

from pubplan.errors import Violation
from pubplan.planning import Exact, Plan, Verdict, wrong_columns, wrong_values
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
from pubplan.problems.overlay.verifier.bounds import wrong_bounds
from pubplan.problems.overlay.verifier.choices import wrong_division, wrong_trajectory
from pubplan.problems.overlay.verifier.entries import Edges, Entries, edges_of, graph_of, read_entries
from pubplan.problems.overlay.verifier.trees import wrong_trees
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
    max_degree = int(degrees.max(initial=0))
    if not violations:  # trees and bounds are recomputed from what is right so far
        violations = [*wrong_trees(plan, entries, edges), *wrong_bounds(plan, entries, max_degree, spark)]
    return Verdict(Exact(max_degree), tuple(violations))


def _wrong_tables(plan: Plan) -> list[Violation]:
    """Tables whose columns are not those of their schema."""
    violations: list[Violation] = []
    for name, schema in (
        (LINKS, LINKS_SCHEMA),
        (NODES, NODES_SCHEMA),
        (TOPICS, TOPICS_SCHEMA),
        (DIVISION, DIVISION_SCHEMA),
    ):
        violations += wrong_columns(name, plan.decisions(name), schema)
    return violations


def _wrong_links(problem: Problem, plan: Plan) -> list[Violation]:
    """Links are between different nodes that exist, each listed once, ascending, with the ids of their nodes."""
    links = plan.decisions(LINKS)
    node, other = links["node"].to_numpy(), links["other"].to_numpy()
    both = np.concatenate([node, other])
    outside = int(np.count_nonzero((both < 0) | (both >= problem.num_nodes)))
    if outside:
        return [Violation("links to nodes that do not exist", LINKS, cases=outside)]
    violations: list[Violation] = []
    reversed_links = int(np.count_nonzero(node >= other))
    if reversed_links:
        violations.append(Violation("links whose first node is not the smaller one", LINKS, cases=reversed_links))
    unordered = int(np.count_nonzero(np.diff(node * problem.num_nodes + other) <= 0))
    if unordered:
        violations.append(Violation("links listed twice or out of order", LINKS, cases=unordered))
    ids = problem.workload.subscriber_ids()
    for numbers, column in ((node, "node_id"), (other, "other_id")):
        if not pa.chunked_array([ids.take(pa.array(numbers))]).equals(links[column]):
            violations.append(Violation("node ids other than the workload's", f"{LINKS}.{column}"))
    return violations


def unconnected(entries: Entries, edges: Edges) -> list[Violation]:
    """Topics whose nodes are not connected by links between them."""
    num_entries = len(entries.topics)
    if num_entries == 0:
        return []
    _, labels = connected_components(graph_of(num_entries, edges.left, edges.right), directed=False)
    first_entries = np.unique(labels, return_index=True)[1]  # one of every component
    num_components = np.bincount(entries.topics[first_entries], minlength=entries.num_topics)
    split = np.flatnonzero(num_components > 1)
    if not len(split):
        return []
    where = f"topic {split[0]} is in {num_components[split[0]]} components"
    return [Violation("topics not connected", where, cases=len(split))]


def _wrong_nodes(problem: Problem, plan: Plan, entries: Entries, degrees: Int64Array) -> Iterator[Violation]:
    table = plan.decisions(NODES)
    expected = {"node": np.arange(entries.num_nodes), "topics": np.diff(entries.offsets), "degree": degrees}
    yield from wrong_values(NODES, expected, table)
    if not pa.chunked_array([problem.workload.subscriber_ids()]).equals(table["node_id"]):
        yield Violation("node ids other than the workload's", f"{NODES}.node_id")


def _wrong_topics(problem: Problem, plan: Plan, entries: Entries, edges: Edges) -> Iterator[Violation]:
    table = plan.decisions(TOPICS)
    inside = np.bincount(entries.topics[edges.left], minlength=entries.num_topics)
    expected = {"topic": np.arange(entries.num_topics), "nodes": entries.topic_sizes, "links": inside}
    yield from wrong_values(TOPICS, expected, table)
    if not problem.workload.topics("topic_id")["topic_id"].equals(table["topic_id"]):
        yield Violation("topic ids other than the workload's", f"{TOPICS}.topic_id")
    common = np.bincount(edges.links, minlength=plan.decisions(LINKS).num_rows)
    yield from wrong_values(LINKS, {"topics": common}, plan.decisions(LINKS))
