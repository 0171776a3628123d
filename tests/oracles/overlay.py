"""overlay by the definitions: plain Python, every graph, one link after the other, no cleverness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import pubplan
from pubplan.planning import Plan
from pubplan.problems.overlay import LINKS, NODES, TOPICS, Problem

Link = tuple[int, int]
Interests = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Case:
    """Nodes by id with the topics they want; topics that no node wants may be listed too."""

    interests: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...] = ()

    @property
    def topics(self) -> list[str]:
        return sorted({topic for topics in self.interests.values() for topic in topics} | set(self.others))

    @property
    def sets(self) -> Interests:
        """What every node wants, by number."""
        return tuple(frozenset(self.interests[node]) for node in sorted(self.interests))

    def problem(self, directory: Path, rename: Callable[[str], str] = lambda name: name) -> Problem:
        rates = {rename(topic): 1 for topic in self.topics}
        interests = {rename(node): [rename(topic) for topic in topics] for node, topics in self.interests.items()}
        return Problem(pubplan.build_workload(directory / "workload", rates, interests))


def cases(max_nodes: int = 5, max_topics: int = 5) -> st.SearchStrategy[Case]:
    """Small instances: half of them with nodes without topics, topics with one node or none and nodes that are alike,
    half of them with at least four nodes of two topics or more each, which take a node with two links or more.
    """
    names = st.sampled_from([f"t{number}" for number in range(max_topics)])

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        is_dense = draw(st.booleans())
        num_nodes = draw(st.integers(4 if is_dense else 1, max_nodes))
        topics = st.lists(names, unique=True, min_size=2 if is_dense else 0).map(tuple)
        interests = {f"n{number}": draw(topics) for number in range(num_nodes)}
        return Case(interests, tuple(draw(st.lists(st.just("unwanted"), max_size=1))))

    return build()


def components(sets: Interests, topic: str, links: Iterable[Link]) -> list[set[int]]:
    """The nodes of a topic, in groups that links between them connect."""
    groups = [{node} for node, wanted in enumerate(sets) if topic in wanted]
    for link in links:
        touched = [group for group in groups if group & set(link)]
        if len(touched) == 2 and all(topic in sets[node] for node in link):
            groups = [group for group in groups if group not in touched] + [touched[0] | touched[1]]
    return groups


def topics_of(sets: Interests) -> list[str]:
    return sorted(frozenset().union(*sets))


def is_connected(sets: Interests, links: Sequence[Link]) -> bool:
    return all(len(components(sets, topic, links)) <= 1 for topic in topics_of(sets))


def degrees(num_nodes: int, links: Iterable[Link]) -> list[int]:
    counts = [0] * num_nodes
    for link in links:
        for node in link:
            counts[node] += 1
    return counts


@cache
def best_degree(sets: Interests) -> int:
    """The least maximum degree of all graphs that connect every topic."""
    useful = [(a, b) for a, b in combinations(range(len(sets)), 2) if sets[a] & sets[b]]
    best = max(degrees(len(sets), useful), default=0)
    for size in range(len(useful)):
        for links in combinations(useful, size):
            most = max(degrees(len(sets), links))
            if most < best and is_connected(sets, links):
                best = most
    return best


def contribution(sets: Interests, link: Link, links: Sequence[Link]) -> int:
    """How many topics a link would join."""
    joined = 0
    for topic in sets[link[0]] & sets[link[1]]:
        groups = components(sets, topic, links)
        joined += next(group for group in groups if link[0] in group) is not next(
            group for group in groups if link[1] in group
        )
    return joined


def joined_within(sets: Interests, links: Iterable[Link], caps: Sequence[int]) -> list[tuple[int, int, int]]:
    """The links (node, other, topics joined) that join something when it is their turn, and whose nodes have fewer
    than their caps then.
    """
    taken: list[tuple[int, int, int]] = []
    for link in links:
        before = [one[:2] for one in taken]
        counts, joined = degrees(len(sets), before), contribution(sets, link, before)
        if joined > 0 and all(counts[node] < caps[node] for node in link):
            taken.append((*link, joined))
    return taken


def served(sets: Interests, node: int, given: Sequence[Link], limit: int) -> list[tuple[int, int, int]]:
    """The links (node, other, topics joined) that a node gets until half of the nodes of each of its topics are
    connected with it, or it has ``limit`` links: to the node that helps in most of the topics that lack this.
    """
    links, chosen = list(given), []
    while degrees(len(sets), links)[node] < limit:
        counts = degrees(len(sets), links)
        outside = []  # per topic that lacks it, the nodes that are not connected with this one
        for topic in sets[node]:
            groups = components(sets, topic, links)
            inside = next(group for group in groups if node in group)
            if 2 * len(inside) < sum(map(len, groups)):
                outside.append(set().union(*groups) - inside)
        helping = [
            (-sum(other in nodes for nodes in outside), counts[other], other)
            for other in range(len(sets))
            if other != node and counts[other] < limit and any(other in nodes for nodes in outside)
        ]
        if not helping:
            break
        other = min(helping)[2]
        link = (min(node, other), max(node, other))
        chosen.append((*link, contribution(sets, link, links)))
        links.append(link)
    return chosen


def greedy(
    sets: Interests, given: Sequence[Link] = (), allowed: Iterable[int] | None = None
) -> list[tuple[int, int, int]]:
    """The rule of GM-M: links (node, other, topics joined) in the order of choice, without those that are given."""
    nodes = range(len(sets)) if allowed is None else sorted(allowed)
    links, chosen = list(given), []
    while True:
        counts = degrees(len(sets), links)
        helping = [(contribution(sets, link, links), link) for link in combinations(nodes, 2)]
        helping = [(joined, link) for joined, link in helping if joined]
        if not helping:
            return chosen
        within = [(joined, link) for joined, link in helping if all(counts[node] < max(counts) for node in link)]
        joined, link = min(
            within or helping, key=lambda one: (-one[0], max(counts[one[1][0]], counts[one[1][1]]), one[1])
        )
        links.append(link)
        chosen.append((*link, joined))


def completed(sets: Interests) -> list[tuple[int, int, int]]:
    """MinMax-ODA: links that join nothing complete every matching; only the others are returned."""
    links: list[Link] = []
    chosen = []
    while not is_connected(sets, links):
        counts = degrees(len(sets), links)
        unlinked = [link for link in combinations(range(len(sets)), 2) if link not in links]
        allowed = [(contribution(sets, link, links), link) for link in unlinked]
        within = [(joined, link) for joined, link in allowed if all(counts[node] < max(counts) for node in link)]
        joined, link = min(
            within or [one for one in allowed if one[0]],
            key=lambda one: (-one[0], max(counts[one[1][0]], counts[one[1][1]]), one[1]),
        )
        links.append(link)
        if joined:
            chosen.append((*link, joined))
    return chosen


def distance(sets: Interests, topic: str, links: Sequence[Link]) -> int:
    """The largest distance between two nodes of a topic by links between its nodes."""
    members = [node for node, wanted in enumerate(sets) if topic in wanted]
    longest = 0
    for start in members:
        seen, front = {start}, {start}
        steps = 0
        while front:
            front = {
                other
                for link in links
                for node, other in (link, link[::-1])
                if node in front and other in members and other not in seen
            }
            seen |= front
            steps += bool(front)
        longest = max(longest, steps)
    return longest


def joins_bound(sets: Interests) -> int:
    """The least degree whose best neighbours could bring all joins."""
    needed = sum(len([1 for wanted in sets if topic in wanted]) - 1 for topic in topics_of(sets))
    overlaps = [
        sorted((len(topics & others) for other, others in enumerate(sets) if other != node), reverse=True)
        for node, topics in enumerate(sets)
    ]
    degree = 0
    while sum(sum(best[:degree]) for best in overlaps) < 2 * needed:
        degree += 1
    return degree


def node_bound(sets: Interests) -> int:
    """The most neighbours that a node needs to share all topics that it shares."""
    most = 0
    for node, topics in enumerate(sets):
        others = sets[:node] + sets[node + 1 :]
        shared = topics & frozenset().union(*others)
        overlaps = sorted((len(topics & wanted) for wanted in others), reverse=True)
        needed = 0
        while sum(overlaps[:needed]) < len(shared):
            needed += 1
        most = max(most, needed)
    return most


def forced_bound(sets: Interests) -> int:
    """Topics of two nodes force a link; one more is needed for what those linked so do not share."""
    forced: list[set[int]] = [set() for _ in sets]
    for topic in topics_of(sets):
        members = [node for node, wanted in enumerate(sets) if topic in wanted]
        if len(members) == 2:
            for node in members:
                forced[node] |= set(members) - {node}
    most = 0
    for node, topics in enumerate(sets):
        shared = {topic for other, wanted in enumerate(sets) if other != node for topic in topics & wanted}
        covered = {topic for other in forced[node] for topic in sets[other]}
        most = max(most, len(forced[node]) + bool(shared - covered))
    return most


def links_of(plan: Plan) -> list[Link]:
    table = plan.decisions(LINKS)
    return list(zip(table["node"].to_pylist(), table["other"].to_pylist(), strict=True))


def changes_for(case: Case, plan: Plan, links: Sequence[Link]) -> dict[str, Any]:
    """Changes, as ``forge`` takes them, that put other links into a plan: with degrees, counts and objective as they
    follow from them, and trees left as they were. Links of the plan keep their order of choice and their phases.
    """
    sets, names = case.sets, sorted(case.interests)
    counts = degrees(len(sets), links)

    def table_of(rows: Sequence[tuple[object, ...]]) -> Callable[[pa.Table], pa.Table]:
        def change(table: pa.Table) -> pa.Table:
            return pa.Table.from_pylist(
                [dict(zip(table.column_names, row, strict=True)) for row in rows], schema=table.schema
            )

        return change

    def with_column(name: str, values: Sequence[object]) -> Callable[[pa.Table], pa.Table]:
        def change(table: pa.Table) -> pa.Table:
            column = table.schema.get_field_index(name)
            return table.set_column(column, table.schema.field(name), pa.array(values, table.schema.field(name).type))

        return change

    trees = {link: row["trees"] for link, row in zip(links_of(plan), plan.decisions(LINKS).to_pylist(), strict=True)}
    rows = [(a, names[a], b, names[b], len(sets[a] & sets[b]), trees.get((a, b), 0)) for a, b in links]
    inside = [sum(topic in sets[a] & sets[b] for a, b in links) for topic in case.topics]
    trajectory = plan.trajectory()
    assert trajectory is not None
    phases = {(row["node"], row["other"]): row["phase"] for row in trajectory.to_pylist()}
    order = [link for link in phases if link in links] + [link for link in links if link not in phases]
    exact = {"value": max(counts, default=0), "scale": 1}
    bound = plan.record["bound"]
    gap = None if not bound else abs(exact["value"] - bound) / bound
    return {
        "tables": {
            f"decisions/{LINKS}.parquet": table_of(rows),
            f"decisions/{NODES}.parquet": with_column("degree", counts),
            f"decisions/{TOPICS}.parquet": with_column("links", inside),
            "trajectory.parquet": table_of(
                [
                    (*link, contribution(sets, link, order[:step]), phases.get(link, "greedy"))
                    for step, link in enumerate(order)
                ]
            ),
        },
        "record": {"exact": exact, "objective": float(exact["value"]), "gap": gap if bound or exact["value"] else 0.0},
    }


def representatives(sets: Interests, part: Sequence[int], coverage: int) -> list[int]:
    """Nodes of a part, each time the first with most topics that still need some, until all have enough."""
    needed = {}
    for topic in topics_of(sets):
        inside = [node for node in part if topic in sets[node]]
        outside = [node for node, wanted in enumerate(sets) if topic in wanted and node not in part]
        needed[topic] = min(coverage, len(inside)) if outside else 0
    chosen: list[int] = []
    while any(needed.values()):
        helps = {node: sum(needed[topic] > 0 for topic in sets[node]) for node in sorted(part) if node not in chosen}
        best = max(helps, key=lambda node: (helps[node], -node))
        chosen.append(best)
        for topic in sets[best]:
            needed[topic] = max(0, needed[topic] - 1)
    return sorted(chosen)


def combined(sets: Interests, parts: Sequence[int], coverage: int | None) -> list[tuple[int, int, int]]:
    """Divide and conquer: the links of each part, then those between bulk nodes (part -1) and representatives, or all
    nodes, while each part counts as connected.
    """
    chosen: list[tuple[int, int, int]] = []
    combining = [node for node, part in enumerate(parts) if part < 0]
    groups = [
        [node for node, part in enumerate(parts) if part == number] for number in range(max(parts, default=-1) + 1)
    ]
    for group in groups:
        chosen += greedy(sets, allowed=group)
        combining += group if coverage is None else representatives(sets, group, coverage)
    counts = degrees(len(sets), [link[:2] for link in chosen])
    joined_already = [link for group in groups for link in combinations(sorted(set(group) & set(combining)), 2)]
    while True:
        links = joined_already + [link[:2] for link in chosen]
        helping = [(contribution(sets, link, links), link) for link in combinations(sorted(combining), 2)]
        helping = [(joined, link) for joined, link in helping if joined]
        if not helping:
            return chosen
        most = max(counts[node] for node in combining)
        within = [(joined, link) for joined, link in helping if all(counts[node] < most for node in link)]
        joined, link = min(
            within or helping, key=lambda one: (-one[0], max(counts[one[1][0]], counts[one[1][1]]), one[1])
        )
        chosen.append((*link, joined))
        for node in link:
            counts[node] += 1
