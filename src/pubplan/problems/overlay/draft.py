"""From an overlay to the draft of a plan."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pubplan.engine import block_range
from pubplan.errors import Reason
from pubplan.planning import BlockTable, Draft, Exact
from pubplan.problems.overlay.conquer import degrees_of
from pubplan.problems.overlay.division import NO_PART, Division
from pubplan.problems.overlay.links import PHASES, Overlay
from pubplan.problems.overlay.plan import (
    DIVISION,
    DIVISION_SCHEMA,
    FORWARDING,
    FORWARDING_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    NODES,
    NODES_SCHEMA,
    TOPICS,
    TOPICS_SCHEMA,
    TRAJECTORY_SCHEMA,
)
from pubplan.problems.overlay.problem import Problem
from pubplan.problems.overlay.trees import Trees, trees_of
from pubplan.workload import Int32Array


def draft_of(problem: Problem, overlay: Overlay) -> Draft:
    """A draft with the overlay's links, a tree per topic, and who is linked how often."""
    order = np.lexsort((overlay.links[:, 1], overlay.links[:, 0]))
    links = overlay.links[order]
    degrees = degrees_of(links, problem.num_nodes)
    trees = trees_of(problem, links)
    names = problem.workload.subscriber_ids()
    decisions = {
        LINKS: _links(links, trees, names),
        FORWARDING: _forwarding(problem, trees.parents),
        NODES: _nodes(problem, overlay, degrees, names),
        TOPICS: _topics(problem, trees),
        DIVISION: _division(overlay),
    }
    chosen = [overlay.links[:, column] for column in range(3)]
    phases = pa.array(PHASES).take(pa.array(overlay.phases))
    columns = [chosen[0].astype(np.int64), chosen[1].astype(np.int64), chosen[2], phases]
    trajectory = pa.table(columns, schema=TRAJECTORY_SCHEMA)
    return Draft(decisions, Exact(int(degrees.max(initial=0))), trajectory, _busiest(links, degrees, trees, names))


def _links(links: Int32Array, trees: Trees, names: pa.Array) -> pa.Table:
    node, other = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
    columns = [node, names.take(pa.array(node)), other, names.take(pa.array(other)), trees.common, trees.used]
    return pa.table(columns, schema=LINKS_SCHEMA)


def _forwarding(problem: Problem, parents: Int32Array) -> BlockTable:
    workload, num_nodes = problem.workload, problem.num_nodes
    starts = problem.rows.offsets

    def make(block: int) -> pa.Table:
        first, last = block_range(block, num_nodes)
        topics = workload.interests_block(block, "topics")["topics"].combine_chunks()
        offsets = pa.array((starts[first : last + 1] - starts[first]).astype(np.int32))
        kind = FORWARDING_SCHEMA.field("parents").type
        forwarders = pa.ListArray.from_arrays(offsets, pa.array(parents[starts[first] : starts[last]]), type=kind)
        return pa.Table.from_arrays([np.arange(first, last), topics, forwarders], schema=FORWARDING_SCHEMA)

    return BlockTable(len(workload.interests_blocks), make)


def _nodes(problem: Problem, overlay: Overlay, degrees: Int32Array, names: pa.Array) -> pa.Table:
    num_nodes, division = problem.num_nodes, overlay.division
    parts = np.full(num_nodes, NO_PART, dtype=np.int32) if division is None else division.parts
    stood = np.zeros(num_nodes, dtype=np.bool_) if overlay.is_representative is None else overlay.is_representative
    sizes = np.diff(problem.rows.offsets).astype(np.int32)
    columns = [np.arange(num_nodes), names, sizes, degrees, parts, stood]
    return pa.table([pa.array(column) for column in columns], schema=NODES_SCHEMA)


def _topics(problem: Problem, trees: Trees) -> pa.Table:
    topic_ids = problem.workload.topics("topic_id")["topic_id"].combine_chunks()
    numbers = np.arange(problem.num_topics, dtype=np.int32)
    columns = [
        numbers,
        topic_ids,
        problem.members,
        trees.edges,
        trees.roots.astype(np.int64),
        trees.depths,
        trees.diameters,
    ]
    return pa.table(columns, schema=TOPICS_SCHEMA)


def _division(overlay: Overlay) -> pa.Table:
    division, coverage = overlay.division, overlay.coverage
    if division is None:
        return DIVISION_SCHEMA.empty_table()
    stood = np.zeros(len(division.parts), dtype=np.bool_)
    if overlay.is_representative is not None:
        stood = overlay.is_representative
    row = {
        "eta": division.eta,
        "coverage": coverage or 0,
        "parts": division.num_parts,
        "bulk": len(division.parts) - division.num_light,
        "light": division.num_light,
        "representatives": int(np.count_nonzero(stood)),
        "known": len(division.parts) if coverage is None else most_known(division, stood),
    }
    return pa.Table.from_pylist([row], schema=DIVISION_SCHEMA)


def most_known(division: Division, stood: np.ndarray) -> int:
    """How many nodes one has to know at most: its part, and if it takes part in the combination, all others who do."""
    is_light = division.parts != NO_PART
    sizes = np.bincount(division.parts[is_light], minlength=division.num_parts)
    of_parts = np.bincount(division.parts[is_light & stood], minlength=division.num_parts)
    met = int(np.count_nonzero(~is_light)) + int(of_parts.sum())
    by_representatives = (sizes + met - of_parts)[of_parts > 0]
    bulk = met if np.count_nonzero(~is_light) else 0
    return max(int(sizes.max(initial=0)), int(by_representatives.max(initial=0)), bulk)


def _busiest(links: Int32Array, degrees: Int32Array, trees: Trees, names: pa.Array) -> tuple[Reason, ...]:
    """What one link less at a busiest node would have to be made up for."""
    if not len(links):
        return ()
    node = int(np.argmax(degrees))
    least = int(trees.used[(links[:, 0] == node) | (links[:, 1] == node)].min())
    topics = "1 topic" if least == 1 else f"{least} topics"
    where = f"node {names[node].as_py()!r}, whose least used link carries {topics}"
    return (Reason("links per node", int(degrees[node]), int(degrees[node]) - 1, where),)
