"""From an overlay to the draft of a plan."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.engine import block_range
from pubplan.errors import Reason
from pubplan.planning import BlockTable, Draft, Exact
from pubplan.problems.overlay.division import NO_PART, Division
from pubplan.problems.overlay.entries import degrees_of
from pubplan.problems.overlay.kernels.components import Links
from pubplan.problems.overlay.overlay import PHASES, Overlay
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
from pubplan.text import counted
from pubplan.workload import Int32Array


def draft_of(problem: Problem, overlay: Overlay) -> Draft:
    """A draft with the overlay's links, a tree per topic, and the degree of every node.

    The links must connect every topic.
    """
    links = overlay.links.take(np.lexsort((overlay.links.others, overlay.links.nodes)))
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
    return Draft(
        decisions, Exact(int(degrees.max(initial=0))), _trajectory(overlay), _busiest(links, degrees, trees, names)
    )


def _trajectory(overlay: Overlay) -> pa.Table:
    nodes, others = overlay.links.nodes.astype(np.int64), overlay.links.others.astype(np.int64)
    phases = pa.array(PHASES).take(pa.array(overlay.phases))
    return pa.table([nodes, others, overlay.links.contributions, phases], schema=TRAJECTORY_SCHEMA)


def _links(links: Links, trees: Trees, names: pa.Array) -> pa.Table:
    node, other = links.nodes.astype(np.int64), links.others.astype(np.int64)
    columns = [node, names.take(pa.array(node)), other, names.take(pa.array(other)), trees.common, trees.used]
    return pa.table(columns, schema=LINKS_SCHEMA)


def _forwarding(problem: Problem, parents: Int32Array) -> BlockTable:
    workload, num_nodes = problem.workload, problem.num_nodes
    starts = problem.instance.topics_by_node.offsets

    def make(block: int) -> pa.Table:
        first, last = block_range(block, num_nodes)
        topics = workload.interests_block(block, "topics")["topics"].combine_chunks()
        offsets = pa.array((starts[first : last + 1] - starts[first]).astype(np.int32))
        kind = FORWARDING_SCHEMA.field("parents").type
        forwarders = pa.ListArray.from_arrays(offsets, pa.array(parents[starts[first] : starts[last]]), type=kind)
        return pa.Table.from_arrays([np.arange(first, last), topics, forwarders], schema=FORWARDING_SCHEMA)

    return BlockTable(workload.num_blocks, make)


def _nodes(problem: Problem, overlay: Overlay, degrees: Int32Array, names: pa.Array) -> pa.Table:
    num_nodes, division = problem.num_nodes, overlay.division
    parts = np.full(num_nodes, NO_PART, dtype=np.int32) if division is None else division.parts
    num_topics = np.diff(problem.instance.topics_by_node.offsets).astype(np.int32)
    columns = [np.arange(num_nodes), names, num_topics, degrees, parts, _representatives(overlay, num_nodes)]
    return pa.table([pa.array(column) for column in columns], schema=NODES_SCHEMA)


def _representatives(overlay: Overlay, num_nodes: int) -> npt.NDArray[np.bool_]:
    """Which nodes are representatives: none where there are no parts."""
    return np.zeros(num_nodes, dtype=np.bool_) if overlay.is_representative is None else overlay.is_representative


def _topics(problem: Problem, trees: Trees) -> pa.Table:
    topic_ids = problem.workload.topics("topic_id")["topic_id"].combine_chunks()
    numbers = np.arange(problem.num_topics, dtype=np.int32)
    columns = [
        numbers,
        topic_ids,
        problem.instance.topic_sizes,
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
    is_representative = _representatives(overlay, len(division.parts))
    row = {
        "eta": division.eta,
        "coverage": coverage or 0,
        "parts": division.num_parts,
        "bulk": len(division.parts) - division.num_light,
        "light": division.num_light,
        "representatives": int(np.count_nonzero(is_representative)),
        "known": len(division.parts) if coverage is None else most_known(division, is_representative),
    }
    return pa.Table.from_pylist([row], schema=DIVISION_SCHEMA)


def most_known(division: Division, is_representative: npt.NDArray[np.bool_]) -> int:
    """How many nodes one node has to know at most: its part, and if it combines parts, all others that do.

    Bulk nodes and representatives combine parts.
    """
    is_light = division.parts != NO_PART
    num_bulk = int(np.count_nonzero(~is_light))
    part_sizes = np.bincount(division.parts[is_light], minlength=division.num_parts)
    num_representing = np.bincount(division.parts[is_light & is_representative], minlength=division.num_parts)
    num_combining = num_bulk + int(num_representing.sum())
    by_representatives = (part_sizes + num_combining - num_representing)[num_representing > 0]
    by_bulk = num_combining if num_bulk else 0
    return max(int(part_sizes.max(initial=0)), int(by_representatives.max(initial=0)), by_bulk)


def _busiest(links: Links, degrees: Int32Array, trees: Trees, names: pa.Array) -> tuple[Reason, ...]:
    """Why the busiest node does not simply have a link less."""
    if not links.num_links:
        return ()
    node = int(np.argmax(degrees))
    degree, name = int(degrees[node]), f"node {names[node].as_py()!r}"
    least_used = int(trees.used[(links.nodes == node) | (links.others == node)].min())
    consequence = "its least used link carries no topic"
    if least_used:
        consequence = f"without its least used link, {counted(least_used, 'topic')} would need another path"
    sentence = f"{name} has the most links, {degree:,}; {consequence}"
    return (Reason("links per node", degree, degree - 1, name, sentence),)
