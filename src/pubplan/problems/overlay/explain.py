"""Why a link exists, why a node has its degree, how a topic reaches its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pubplan.engine import BLOCK_ROWS, BLOCK_SHIFT
from pubplan.errors import InputError
from pubplan.planning import Explanation, Plan
from pubplan.problems.overlay.plan import FORWARDING, FORWARDING_SCHEMA, LINKS, NODES, TOPICS
from pubplan.problems.overlay.problem import Problem
from pubplan.text import counted, listed
from pubplan.workload import Int64Array, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_PHASE_WORDS = {
    "greedy": "greedily among all nodes",
    "ring": "for the ring of a topic",
    "part": "within a part",
    "combine": "to combine parts",
    "repair": "to take load from a busy node",
}


@dataclass(frozen=True)
class _PlanReader:
    """A plan and its workload, read as far as they are asked about; links are named by their row in the table."""

    problem: Problem
    plan: Plan
    _blocks: dict[int, pa.Table] = field(default_factory=dict)

    @cached_property
    def trajectory(self) -> pa.Table:
        """Raises InputError if the plan has lost it."""
        trajectory = self.plan.trajectory()
        if trajectory is None:
            raise InputError(f"{self.plan.path} has no trajectory: it does not say when links were chosen.")
        return trajectory

    @cached_property
    def node_ids(self) -> pa.Array:
        return self.problem.workload.subscriber_ids()

    @cached_property
    def topic_ids(self) -> pa.Array:
        return self.problem.workload.topics("topic_id")["topic_id"].combine_chunks()

    @cached_property
    def ends(self) -> Int64Array:
        """Node and other of every link."""
        links = self.plan.decisions(LINKS)
        ends: Int64Array = np.column_stack([links["node"].to_numpy(), links["other"].to_numpy()])
        return ends

    def node_number(self, node_id: str) -> int:
        """Raises InputError if there is no such node."""
        node = int(pc.index(self.node_ids, node_id).as_py())
        if node < 0:
            raise InputError(f"{self.problem.workload.path} has no node {node_id!r}.")
        return node

    def topic_names(self, topics: Int64Array) -> list[str]:
        names: list[str] = self.topic_ids.take(pa.array(topics)).to_pylist()
        return names

    def links_of(self, node: int) -> Int64Array:
        return np.flatnonzero((self.ends == node).any(axis=1))

    def common_topics(self, node: int, other: int) -> Int64Array:
        topics_by_node = self.problem.instance.topics_by_node
        common = np.intersect1d(topics_by_node.row(node), topics_by_node.row(other), assume_unique=True)
        return common.astype(np.int64)

    def topics_of_link(self, link: int) -> Int64Array:
        """The topics that the nodes of a link have in common."""
        node, other = self.ends[link]
        return self.common_topics(int(node), int(other))

    def choice_of(self, link: int) -> dict[str, Any]:
        """At which step and in which phase a link was chosen, and how many topics it then joined."""
        node, other = self.ends[link]
        is_link = (self.trajectory["node"].to_numpy() == node) & (self.trajectory["other"].to_numpy() == other)
        step = int(np.argmax(is_link))
        row = self.trajectory.slice(step, 1).to_pylist()[0]
        return {"step": step + 1, "phase": row["phase"], "joined": row["joined"]}

    def carried_topics(self, link: int) -> Int64Array:
        """The topics whose trees use a link."""
        carried = []
        node, other = (int(end) for end in self.ends[link])
        for receiver, sender in ((node, other), (other, node)):
            topics, parents = self.forwarding(receiver)
            carried.append(topics[parents == sender])
        return np.sort(np.concatenate(carried))

    def forwarding(self, node: int) -> tuple[Int64Array, Int64Array]:
        """The topics of a node, and the node from which it gets each."""
        table = self._block(node >> BLOCK_SHIFT).slice(node & (BLOCK_ROWS - 1), 1)
        topics = list_column(table, "topics")[1].astype(np.int64)
        parents = table["parents"].combine_chunks().flatten().to_numpy()
        return topics, parents

    def _block(self, block: int) -> pa.Table:
        if block not in self._blocks:
            self._blocks[block] = self.plan.decisions_block(FORWARDING, block, FORWARDING_SCHEMA)
        return self._blocks[block]

    def topics_cut_without(self, link: int) -> Int64Array:
        """The topics that would fall apart without a link."""
        topics = self.topics_of_link(link)
        return np.array([topic for topic in topics if self._num_components(int(topic), link) > 1], dtype=np.int64)

    def _num_components(self, topic: int, without: int) -> int:
        nodes = self.problem.instance.nodes_by_topic.row(topic)
        positions = np.full(self.problem.num_nodes, -1, dtype=np.int64)
        positions[nodes] = np.arange(len(nodes))
        ends = positions[np.delete(self.ends, without, axis=0)]
        ends = ends[(ends[:, 0] >= 0) & (ends[:, 1] >= 0)]
        ones = np.ones(len(ends), dtype=np.int8)
        graph = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
        return int(connected_components(graph, directed=False)[0])


def explain_link(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What a link carries, what it joined when it was chosen, and what would fall apart without it.

    Args:
        name: the ids of the two nodes with a comma between them.

    Raises:
        InputError: there are no such nodes, or no link between them.
    """
    reader = _PlanReader(problem, plan)
    node, other = _ends(reader, name)
    rows = np.flatnonzero((reader.ends == sorted((node, other))).all(axis=1))
    ids = [reader.node_ids[end].as_py() for end in (node, other)]
    if not len(rows):
        shared = counted(len(reader.common_topics(node, other)), "topic")
        raise InputError(f"{plan.path} has no link between {ids[0]!r} and {ids[1]!r}; they share {shared}.")
    link = int(rows[0])
    common, carried, cut = reader.topics_of_link(link), reader.carried_topics(link), reader.topics_cut_without(link)
    choice = reader.choice_of(link)
    facts = {
        "nodes": ids,
        "common": reader.topic_names(common),
        "carries": reader.topic_names(carried),
        "needed_by": reader.topic_names(cut),
        **choice,
    }
    lines = [
        f"The link between {ids[0]} and {ids[1]} was chosen as number {choice['step']:,} "
        f"({_PHASE_WORDS[choice['phase']]}), when it joined {counted(choice['joined'], 'topic')}.",
        f"Its nodes have {counted(len(common), 'topic')} in common: {listed(facts['common'])}.",
        f"It carries {counted(len(carried), 'topic')}: {listed(facts['carries'])}."
        if len(carried)
        else "It carries no topic.",
        f"Without it, {counted(len(cut), 'topic')} would fall apart: {listed(facts['needed_by'])}."
        if len(cut)
        else "Without it every topic would still be connected, by longer paths.",
    ]
    return Explanation(facts, tuple(lines))


def explain_node(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """A node's links with what each is for, and how many it needs at least.

    Raises:
        InputError: there is no such node.
    """
    reader = _PlanReader(problem, plan)
    node = reader.node_number(name)
    row = plan.decisions(NODES).slice(node, 1).to_pylist()[0]
    links = []
    for link in map(int, reader.links_of(node)):
        neighbour = int(reader.ends[link].sum() - node)
        links.append(
            {
                "neighbour": reader.node_ids[neighbour].as_py(),
                "common": len(reader.topics_of_link(link)),
                "carries": len(reader.carried_topics(link)),
                "needed_by": len(reader.topics_cut_without(link)),
                **reader.choice_of(link),
            }
        )
    links.sort(key=lambda facts: (-facts["carries"], facts["neighbour"]))
    _, parents = reader.forwarding(node)
    facts = {
        "node": name,
        "degree": row["degree"],
        "maximum": plan.exact.value,
        "topics": row["topics"],
        "root_of": int(np.count_nonzero(parents == node)),
        "at_least": least_links(problem, node),
        "part": None if row["part"] < 0 else row["part"],
        "representative": row["representative"],
        "links": links,
    }
    return Explanation(facts, tuple(_node_sentences(facts)))


def _node_sentences(facts: dict[str, Any]) -> list[str]:
    degree, links = facts["degree"], facts["links"]
    lines = [
        f"{facts['node']} has {counted(degree, 'link')}; the busiest node has {facts['maximum']}.",
        f"It wants {counted(facts['topics'], 'topic')} and is the root of {counted(facts['root_of'], 'tree')}.",
    ]
    if facts["part"] is not None:
        role = ", which it represented when parts were combined" if facts["representative"] else ""
        lines.append(f"It was in part {facts['part']}{role}.")
    if not links:
        return [*lines, "No other node shares a topic with it, so it needs no link."]
    if facts["at_least"] > 1:  # that a node needs one link to share a topic says nothing
        lines.append(f"With fewer than {counted(facts['at_least'], 'link')} it could not share all its topics.")
    lines += [
        f"  {link['neighbour']}: {link['carries']} of {counted(link['common'], 'common topic')} "
        f"{'goes' if link['carries'] == 1 else 'go'} this way; {link['needed_by']} would fall apart without it "
        f"({_PHASE_WORDS[link['phase']]})"
        for link in links
    ]
    num_spare = sum(link["needed_by"] == 0 for link in links)
    if num_spare:
        lines.append(f"{counted(num_spare, 'link')} could be dropped alone without cutting a topic.")
    return lines


def explain_topic(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """How a topic gets from its root to all its nodes.

    Raises:
        InputError: there is no such topic.
    """
    reader = _PlanReader(problem, plan)
    topic = problem.workload.topic_number(name)
    row = plan.decisions(TOPICS).slice(topic, 1).to_pylist()[0]
    facts = {key: row[key] for key in ("nodes", "links", "depth", "diameter")}
    facts |= {"topic": name, "root": None if row["root"] < 0 else reader.node_ids[row["root"]].as_py()}
    if row["nodes"] < 2:
        return Explanation(facts, (f"{name} has {counted(row['nodes'], 'node')}: nothing has to be connected.",))
    diameter = "was not computed" if row["diameter"] < 0 else f"is {row['diameter']}"
    lines = (
        f"{name} has {counted(row['nodes'], 'node')}, and {counted(row['links'], 'link')} between them.",
        f"Its tree starts at {facts['root']} and is {counted(row['depth'], 'link')} deep; the largest distance between "
        f"two of its nodes {diameter}.",
    )
    return Explanation(facts, lines)


def least_links(problem: Problem, node: int) -> int:
    """How many neighbours a node needs at least to share all topics that it shares with other nodes."""
    num_shared, overlaps = 0, np.zeros(problem.num_nodes, dtype=np.int64)
    for topic in problem.instance.topics_by_node.row(node):
        nodes = problem.instance.nodes_by_topic.row(int(topic))
        overlaps[nodes] += 1
        num_shared += len(nodes) > 1
    overlaps[node] = 0
    reached = np.concatenate([[0], np.cumsum(np.sort(overlaps)[::-1])])
    return int(np.argmax(reached >= num_shared))


def _ends(reader: _PlanReader, name: str) -> tuple[int, int]:
    """The two nodes that a text names; ids may themselves have commas."""
    pieces = name.split(",")
    if len(pieces) < 2:
        raise InputError(f"Name a link by its two nodes with a comma between them, not {name!r}.")
    for cut in range(1, len(pieces)):
        ids = ",".join(pieces[:cut]), ",".join(pieces[cut:])
        if len(pieces) == 2 or all(pc.index(reader.node_ids, node_id).as_py() >= 0 for node_id in ids):
            return reader.node_number(ids[0]), reader.node_number(ids[1])
    raise InputError(f"{reader.problem.workload.path} has no two nodes that {name!r} could name.")
