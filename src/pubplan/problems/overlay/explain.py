"""Why a link exists, why a node has its degree, how a topic gets to everybody."""

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
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SHOWN = 8
"""So many names are listed in a sentence."""


@dataclass(frozen=True)
class _Reading:
    """A plan and its workload, read as far as they are asked about."""

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

    def number(self, node_id: str) -> int:
        """Raises InputError if there is no such node."""
        place = int(pc.index(self.node_ids, node_id).as_py())
        if place < 0:
            raise InputError(f"{self.problem.workload.path} has no node {node_id!r}.")
        return place

    def names(self, topics: Int64Array) -> list[str]:
        names: list[str] = self.topic_ids.take(pa.array(topics)).to_pylist()
        return names

    def neighbours(self, node: int) -> Int64Array:
        """Places of a node's links."""
        return np.flatnonzero((self.ends == node).any(axis=1))

    def common(self, link: int) -> Int64Array:
        """The topics that the nodes of a link have in common."""
        rows = self.problem.rows
        one, other = (rows.row(int(node)) for node in self.ends[link])
        return np.intersect1d(one, other, assume_unique=True).astype(np.int64)

    def chosen(self, link: int) -> dict[str, Any]:
        """When a link was chosen, and what it then joined."""
        node, other = self.ends[link]
        is_it = (self.trajectory["node"].to_numpy() == node) & (self.trajectory["other"].to_numpy() == other)
        place = int(np.argmax(is_it))
        row = self.trajectory.slice(place, 1).to_pylist()[0]
        return {"step": place + 1, "phase": row["phase"], "joined": row["joined"]}

    def carried(self, link: int) -> Int64Array:
        """The topics whose trees use a link."""
        found = []
        one, other = (int(node) for node in self.ends[link])
        for node, neighbour in ((one, other), (other, one)):
            topics, parents = self.forwarding(node)
            found.append(topics[parents == neighbour])
        return np.sort(np.concatenate(found))

    def forwarding(self, node: int) -> tuple[Int64Array, Int64Array]:
        """The topics of a node, and from whom it gets each."""
        table = self._block(node >> BLOCK_SHIFT).slice(node & (BLOCK_ROWS - 1), 1)
        topics = topic_lists(table)[1].astype(np.int64)
        parents = table["parents"].combine_chunks().flatten().to_numpy()
        return topics, parents

    def _block(self, block: int) -> pa.Table:
        if block not in self._blocks:
            self._blocks[block] = self.plan.decisions_block(FORWARDING, block, FORWARDING_SCHEMA)
        return self._blocks[block]

    def cut_without(self, link: int) -> Int64Array:
        """The topics that would fall apart without a link."""
        topics = self.common(link)
        return np.array([topic for topic in topics if self._components(int(topic), link) > 1], dtype=np.int64)

    def _components(self, topic: int, without: int) -> int:
        members = self.problem.nodes_of(topic)
        place = np.full(self.problem.num_nodes, -1, dtype=np.int64)
        place[members] = np.arange(len(members))
        ends = place[np.delete(self.ends, without, axis=0)]
        ends = ends[(ends[:, 0] >= 0) & (ends[:, 1] >= 0)]
        ones = np.ones(len(ends), dtype=np.int8)
        graph = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(len(members), len(members)))
        return int(connected_components(graph, directed=False)[0])


def explain_link(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What a link carries, what it joined when it was chosen, and what would fall apart without it.

    Args:
        name: the ids of the two nodes with a comma between them.

    Raises:
        InputError: there are no such nodes, or no link between them.
    """
    reading = _Reading(problem, plan)
    one, other = _ends(reading, name)
    places = np.flatnonzero((reading.ends == sorted((one, other))).all(axis=1))
    ids = [reading.node_ids[node].as_py() for node in (one, other)]
    if not len(places):
        shared = np.intersect1d(problem.rows.row(one), problem.rows.row(other))
        raise InputError(f"{plan.path} has no link between {ids[0]!r} and {ids[1]!r}; they share {len(shared)} topics.")
    link = int(places[0])
    common, carried, cut = reading.common(link), reading.carried(link), reading.cut_without(link)
    chosen = reading.chosen(link)
    facts = {
        "nodes": ids,
        "common": reading.names(common),
        "carries": reading.names(carried),
        "needed_by": reading.names(cut),
        **chosen,
    }
    lines = [
        f"The link between {ids[0]} and {ids[1]} was chosen as number {chosen['step']:,} "
        f"({_PHASE_WORDS[chosen['phase']]}), when it joined {_count(chosen['joined'], 'topic')}.",
        f"Its nodes have {_count(len(common), 'topic')} in common: {_listed(facts['common'])}.",
        f"It carries {_count(len(carried), 'topic')}: {_listed(facts['carries'])}.",
        f"Without it, {_count(len(cut), 'topic')} would fall apart: {_listed(facts['needed_by'])}."
        if len(cut)
        else "Without it every topic would still be connected, by longer ways.",
    ]
    return Explanation(facts, tuple(lines))


def explain_node(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """A node's links with what each is for, and how few it could do with.

    Raises:
        InputError: there is no such node.
    """
    reading = _Reading(problem, plan)
    node = reading.number(name)
    row = plan.decisions(NODES).slice(node, 1).to_pylist()[0]
    links = []
    for link in reading.neighbours(node):
        other = int(reading.ends[link].sum() - node)
        links.append(
            {
                "neighbour": reading.node_ids[other].as_py(),
                "common": len(reading.common(int(link))),
                "carries": len(reading.carried(int(link))),
                "needed_by": len(reading.cut_without(int(link))),
                **reading.chosen(int(link)),
            }
        )
    links.sort(key=lambda found: (-found["carries"], found["neighbour"]))
    least = least_links(problem, node)
    _, parents = reading.forwarding(node)
    facts = {
        "node": name,
        "degree": row["degree"],
        "maximum": plan.exact.value,
        "topics": row["topics"],
        "root_of": int(np.count_nonzero(parents == node)),
        "at_least": least,
        "part": None if row["part"] < 0 else row["part"],
        "representative": row["representative"],
        "links": links,
    }
    return Explanation(facts, tuple(_node_sentences(facts)))


def _node_sentences(facts: dict[str, Any]) -> list[str]:
    degree, links = facts["degree"], facts["links"]
    lines = [
        f"{facts['node']} has {_count(degree, 'link')}; the busiest node has {facts['maximum']}.",
        f"It wants {_count(facts['topics'], 'topic')} and is the root of {_count(facts['root_of'], 'tree')}.",
    ]
    if facts["part"] is not None:
        stood = ", and it stood for the part when parts were combined" if facts["representative"] else ""
        lines.append(f"It was in part {facts['part']}{stood}.")
    if not links:
        return [*lines, "Nobody shares a topic with it, so it needs no link."]
    lines.append(f"With fewer than {_count(facts['at_least'], 'link')} it could not share all its topics.")
    lines += [
        f"  {found['neighbour']}: {found['carries']} of {found['common']} common topics go this way; "
        f"{found['needed_by']} would fall apart without it ({_PHASE_WORDS[found['phase']]})"
        for found in links
    ]
    spare = sum(found["needed_by"] == 0 for found in links)
    if spare:
        lines.append(f"{_count(spare, 'link').capitalize()} could be dropped alone without cutting a topic.")
    return lines


def explain_topic(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """How a topic gets from its root to everybody.

    Raises:
        InputError: there is no such topic.
    """
    reading = _Reading(problem, plan)
    topic = problem.workload.topic_number(name)
    row = plan.decisions(TOPICS).slice(topic, 1).to_pylist()[0]
    facts = {key: row[key] for key in ("nodes", "links", "depth", "diameter")}
    facts |= {"topic": name, "root": None if row["root"] < 0 else reading.node_ids[row["root"]].as_py()}
    if row["nodes"] < 2:
        return Explanation(facts, (f"{name} has {_count(row['nodes'], 'node')}: nothing has to be connected.",))
    diameter = "was not computed" if row["diameter"] < 0 else f"is {row['diameter']}"
    lines = (
        f"{name} has {_count(row['nodes'], 'node')}, and {_count(row['links'], 'link')} between them.",
        f"Its tree starts at {facts['root']} and is {_count(row['depth'], 'link')} deep; the largest distance between "
        f"two of its nodes {diameter}.",
    )
    return Explanation(facts, lines)


def least_links(problem: Problem, node: int) -> int:
    """How many neighbours a node needs at least to share all topics that it shares with anybody."""
    shared, overlaps = 0, np.zeros(problem.num_nodes, dtype=np.int64)
    for topic in problem.rows.row(node):
        members = problem.nodes_of(int(topic))
        overlaps[members] += 1
        shared += len(members) > 1
    overlaps[node] = 0
    reached = np.concatenate([[0], np.cumsum(np.sort(overlaps)[::-1])])
    return int(np.argmax(reached >= shared))


def _ends(reading: _Reading, name: str) -> tuple[int, int]:
    """The two nodes that a text names; ids may themselves have commas."""
    parts = name.split(",")
    if len(parts) < 2:
        raise InputError(f"Name a link by its two nodes with a comma between them, not {name!r}.")
    for cut in range(1, len(parts)):
        ids = ",".join(parts[:cut]), ",".join(parts[cut:])
        if len(parts) == 2 or all(pc.index(reading.node_ids, node_id).as_py() >= 0 for node_id in ids):
            return reading.number(ids[0]), reading.number(ids[1])
    raise InputError(f"{reading.problem.workload.path} has no two nodes that {name!r} could name.")


_PHASE_WORDS = {
    "greedy": "greedily among all nodes",
    "ring": "for the ring of a topic",
    "part": "within a part",
    "combine": "to combine parts",
    "repair": "to take load from a busy node",
}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "none"
