"""Recomputes how links were chosen: the division of nodes, and what each link joined in the order of choice.

What a division must look like follows from the parameters of the method: with ``parts`` nodes are divided, with
``eta`` those with more topics are bulk, with ``coverage`` parts have representatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from pubplan.errors import Violation
from pubplan.planning import Plan, wrong_columns, wrong_values
from pubplan.problems.overlay.plan import DIVISION, NODES, TRAJECTORY_SCHEMA
from pubplan.problems.overlay.verifier.entries import Edges, Entries
from pubplan.workload import Int64Array

_BULK_SHARE = 5
"""At most one node in this many is bulk."""

_RINGS = "ring-per-topic"


def wrong_division(plan: Plan, entries: Entries) -> Iterator[Violation]:
    """Nodes above eta are in no part, the others in parts of the same size; representatives cover their part."""
    rows, nodes, asked = plan.decisions(DIVISION).to_pylist(), plan.decisions(NODES), plan.record["parameters"]
    if nodes.num_rows != entries.num_nodes:
        return
    parts, is_representative = nodes["part"].to_numpy(), nodes["representative"].to_numpy(zero_copy_only=False)
    is_divided = "parts" in asked
    if len(rows) != int(is_divided):
        yield Violation("wrong number of divisions", DIVISION, stated=len(rows), expected=int(is_divided))
        return
    if not is_divided:
        if np.any(parts != -1) or is_representative.any():
            yield Violation("parts or representatives without a division", NODES)
        return
    stated = rows[0]
    eta = _eta(asked, entries)
    is_bulk = np.diff(entries.offsets) > eta
    num_light = int(np.count_nonzero(~is_bulk))
    fewest, most = 1, max(1, num_light)
    if asked["parts"] is not None:
        fewest = most = max(1, min(asked["parts"], num_light))
    if stated["eta"] != eta:
        yield Violation("wrong eta", DIVISION, stated=stated["eta"], expected=eta)
    if not fewest <= stated["parts"] <= most:
        expected_parts = fewest if fewest == most else f"{fewest} to {most}"
        yield Violation("wrong number of parts", DIVISION, stated=stated["parts"], expected=expected_parts)
        return
    misplaced = int(np.count_nonzero(((parts == -1) != is_bulk) | (parts >= stated["parts"]) | (parts < -1)))
    if misplaced:
        yield Violation("nodes in a part that does not exist or does not follow from eta", f"{NODES}.part", misplaced)
        return
    sizes = np.bincount(parts[~is_bulk], minlength=stated["parts"])
    if int(np.ptp(sizes)) > 1:
        smallest, largest = sizes.min(), sizes.max()
        yield Violation("parts whose sizes differ by more than 1", f"{NODES}.part", stated=f"{smallest} to {largest}")
    coverage = asked.get("coverage", 0)
    if not isinstance(coverage, int):
        yield Violation("wrong coverage", "parameters", stated=str(coverage), expected="a whole number")
        return
    expected = {
        "coverage": coverage,
        "bulk": int(is_bulk.sum()),
        "light": num_light,
        "representatives": int(is_representative.sum()),
        "known": _most_known(parts, is_representative, sizes) if coverage else entries.num_nodes,
    }
    yield from (
        Violation(f"wrong {name}", DIVISION, stated=stated[name], expected=value)
        for name, value in expected.items()
        if stated[name] != value
    )
    yield from _wrong_representatives(entries, parts, is_representative, coverage)


def _eta(asked: Mapping[str, Any], entries: Entries) -> int:
    """What was asked for; else the least with which at most a fifth of all nodes have more topics. Methods without this
    parameter have no bulk nodes: none has more topics than there are.
    """
    if "eta" not in asked:
        return entries.num_topics
    if asked["eta"] is not None:
        return int(asked["eta"])
    num_above = entries.num_nodes - np.cumsum(np.bincount(np.diff(entries.offsets), minlength=1))
    return int(np.argmax(num_above <= entries.num_nodes // _BULK_SHARE))


def _most_known(parts: Int64Array, is_representative: npt.NDArray[np.bool_], sizes: Int64Array) -> int:
    """The most nodes that one has to know: its part, or all that combine parts, or both."""
    num_bulk = int(np.count_nonzero(parts == -1))
    num_representing = np.bincount(parts[(parts >= 0) & is_representative], minlength=len(sizes))
    num_combining = num_bulk + int(num_representing.sum())
    by_representatives = (sizes + num_combining - num_representing)[num_representing > 0]
    return max(int(sizes.max(initial=0)), int(by_representatives.max(initial=0)), num_combining if num_bulk else 0)


def _wrong_representatives(
    entries: Entries, parts: Int64Array, is_representative: npt.NDArray[np.bool_], coverage: int
) -> Iterator[Violation]:
    """A part has for each topic that is wanted elsewhere too as many representatives as asked for, or all it has."""
    may_represent = (parts >= 0) & (coverage > 0)
    misplaced = int(np.count_nonzero(is_representative & ~may_represent))
    if misplaced:
        yield Violation("representatives that have no part to represent", f"{NODES}.representative", misplaced)
    nodes = entries.nodes
    is_light = parts[nodes] >= 0
    # A key for every topic of every part; how many nodes of the part have the topic, and how many of them represent it.
    keys = parts[nodes].astype(np.int64) * entries.num_topics + entries.topics
    present, num_nodes = np.unique(keys[is_light], return_counts=True)
    represented, counts = np.unique(keys[is_light & is_representative[nodes]], return_counts=True)
    num_representing = np.zeros_like(num_nodes)
    num_representing[np.searchsorted(present, represented)] = counts
    is_shared = num_nodes < entries.topic_sizes[present % entries.num_topics] if len(present) else present > 0
    needed = np.minimum(num_nodes, min(coverage, entries.num_nodes))
    uncovered = int(np.count_nonzero(is_shared & (num_representing < needed)))
    if uncovered:
        yield Violation("topics of parts with too few representatives", f"{NODES}.representative", uncovered)


def wrong_trajectory(
    plan: Plan, entries: Entries, node: Int64Array, other: Int64Array, edges: Edges
) -> Iterator[Violation]:
    """The order of choice has the links of the plan; each joined what it says, in a phase that fits its nodes."""
    trajectory = plan.trajectory()
    assert trajectory is not None  # as the family's plans have one
    violations = wrong_columns("trajectory", trajectory, TRAJECTORY_SCHEMA)
    if violations:
        yield from violations
        return
    order = np.lexsort((trajectory["other"].to_numpy(), trajectory["node"].to_numpy()))
    ordered = trajectory.take(pa.array(order))
    wrong = list(wrong_values("trajectory", {"node": node, "other": other}, ordered))
    yield from wrong
    if not wrong:
        yield from wrong_values("trajectory", {"joined": _replayed(entries, edges, order)}, trajectory)
        yield from _wrong_phases(plan, trajectory, entries.num_nodes)


def _replayed(entries: Entries, edges: Edges, order: Int64Array) -> Int64Array:
    """How many topics each link joins when links are added in the order of choice.

    A link joins a topic if no path led from one of its nodes to the other before, within the topic. These are the edges
    of the spanning forest of least weight, if an edge weighs what its link's rank in the order is.

    Args:
        order: the rank in the order of choice of every link.
    """
    num_entries = len(entries.topics)
    if not len(edges.links):
        return np.zeros(len(order), dtype=np.int64)
    weights = (order[edges.links] + 1).astype(np.float64)  # 0 would not be an edge
    graph = sparse.csr_array((weights, (edges.left, edges.right)), shape=(num_entries, num_entries))
    forest = minimum_spanning_tree(graph)
    joined: Int64Array = np.bincount(forest.data.astype(np.int64) - 1, minlength=len(order))
    return joined


def _wrong_phases(plan: Plan, trajectory: pa.Table, num_nodes: int) -> Iterator[Violation]:
    """Without a division all links are of one phase. With one, links within a part were chosen there; others combine
    parts, by bulk nodes and representatives where there are such, after all parts; and a repair may choose any.

    A table of nodes without a row for each of them is reported elsewhere.
    """
    asked, phases = plan.record["parameters"], np.array(trajectory["phase"].to_pylist(), dtype=object)
    if "parts" not in asked:
        expected = "ring" if plan.method == _RINGS else "greedy"
        wrong = int(np.count_nonzero(phases != expected))
        if wrong:
            yield Violation(f"links not chosen in the phase '{expected}'", "trajectory", cases=wrong)
        return
    nodes = plan.decisions(NODES)
    if nodes.num_rows != num_nodes:
        return
    parts, is_representative = nodes["part"].to_numpy(), nodes["representative"].to_numpy(zero_copy_only=False)
    may_combine = (parts == -1) | is_representative if "coverage" in asked else np.ones(len(parts), dtype=bool)
    ends = trajectory["node"].to_numpy(), trajectory["other"].to_numpy()
    is_inner = (parts[ends[0]] == parts[ends[1]]) & (parts[ends[0]] >= 0)
    is_part, is_combining = phases == "part", phases == "combine"
    fits = (is_part & is_inner) | (is_combining & ~is_inner & may_combine[ends[0]] & may_combine[ends[1]])
    if "effort" in asked:
        fits |= phases == "repair"
    elif np.any(np.diff(is_combining.astype(np.int8)) < 0):
        yield Violation("links of parts chosen after parts were combined", "trajectory")
    wrong = int(np.count_nonzero(~fits))
    if wrong:
        yield Violation("links in a phase that does not fit their nodes", "trajectory", cases=wrong)
