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

from pubplan.errors import Reason
from pubplan.planning import Plan, wrong_columns
from pubplan.problems.overlay.plan import DIVISION, NODES, TRAJECTORY_SCHEMA
from pubplan.problems.overlay.verify_entries import Edges, Entries, same
from pubplan.workload import Int64Array

_BULK_SHARE = 5
_RINGS = "ring-per-topic"


def wrong_division(plan: Plan, entries: Entries) -> Iterator[Reason]:
    """Nodes above eta are in no part, the others in parts of the same size; representatives cover their part."""
    rows, nodes, asked = plan.decisions(DIVISION).to_pylist(), plan.decisions(NODES), plan.record["parameters"]
    if nodes.num_rows != entries.num_nodes:
        return
    parts, is_representative = nodes["part"].to_numpy(), nodes["representative"].to_numpy(zero_copy_only=False)
    is_divided = "parts" in asked
    if len(rows) != int(is_divided):
        yield Reason("rows of the division", int(is_divided), len(rows), DIVISION)
        return
    if not is_divided:
        if np.any(parts != -1) or is_representative.any():
            yield Reason("parts without a division", "none", "some", NODES)
        return
    stated = rows[0]
    eta = _eta(asked, entries)
    is_bulk = np.diff(entries.offsets) > eta
    num_light = int(np.count_nonzero(~is_bulk))
    least, most = (1, max(1, num_light)) if asked["parts"] is None else 2 * (max(1, min(asked["parts"], num_light)),)
    if stated["eta"] != eta:
        yield Reason("eta as recomputed", eta, stated["eta"], DIVISION)
    if not least <= stated["parts"] <= most:
        yield Reason("number of parts", least if least == most else f"{least} to {most}", stated["parts"], DIVISION)
        return
    if np.any((parts == -1) != is_bulk) or np.any(parts >= stated["parts"]) or np.any(parts < -1):
        yield Reason("parts as eta says", eta, "others", f"{NODES}.part")
        return
    sizes = np.bincount(parts[~is_bulk], minlength=stated["parts"])
    if int(np.ptp(sizes)) > 1:
        yield Reason("parts of the same size", int(sizes.min()), int(sizes.max()), f"{NODES}.part")
    coverage = asked.get("coverage", 0)
    if not isinstance(coverage, int):
        yield Reason("coverage asked for", "a whole number", str(coverage), "parameters")
        return
    expected = {
        "coverage": coverage,
        "bulk": int(is_bulk.sum()),
        "light": num_light,
        "representatives": int(is_representative.sum()),
        "known": _most_known(parts, is_representative, sizes) if coverage else entries.num_nodes,
    }
    yield from (
        Reason(f"{name} as recomputed", value, stated[name], DIVISION)
        for name, value in expected.items()
        if stated[name] != value
    )
    yield from _wrong_representatives(entries, parts, is_representative, coverage)


def _eta(asked: Mapping[str, Any], entries: Entries) -> int:
    """What was asked for; else the least with which at most a fifth of all nodes have more topics. Where nothing can be
    asked for no node is bulk: none has more topics than there are.
    """
    if "eta" not in asked:
        return entries.num_topics
    if asked["eta"] is not None:
        return int(asked["eta"])
    num_above = entries.num_nodes - np.cumsum(np.bincount(np.diff(entries.offsets), minlength=1))
    return int(np.argmax(num_above <= entries.num_nodes // _BULK_SHARE))


def _most_known(parts: Int64Array, is_representative: npt.NDArray[np.bool_], sizes: Int64Array) -> int:
    """The most nodes that one has to know: its part, or all who combine parts, or both."""
    num_bulk = int(np.count_nonzero(parts == -1))
    of_parts = np.bincount(parts[(parts >= 0) & is_representative], minlength=len(sizes))
    num_combining = num_bulk + int(of_parts.sum())
    by_representatives = (sizes + num_combining - of_parts)[of_parts > 0]
    return max(int(sizes.max(initial=0)), int(by_representatives.max(initial=0)), num_combining if num_bulk else 0)


def _wrong_representatives(
    entries: Entries, parts: Int64Array, is_representative: npt.NDArray[np.bool_], coverage: int
) -> Iterator[Reason]:
    """A part has for each topic that is wanted elsewhere too as many representatives as asked for, or all it has."""
    may_represent = (parts >= 0) & (coverage > 0)
    strange = int(np.count_nonzero(is_representative & ~may_represent))
    if strange:
        yield Reason("only nodes of parts represent them", 0, strange, f"{NODES}.representative")
    nodes = entries.nodes
    is_light = parts[nodes] >= 0
    keys = parts[nodes].astype(np.int64) * entries.num_topics + entries.topics
    present, in_part = np.unique(keys[is_light], return_counts=True)
    represented, chosen = np.unique(keys[is_light & is_representative[nodes]], return_counts=True)
    have = np.zeros_like(in_part)
    have[np.searchsorted(present, represented)] = chosen
    is_wanted = in_part < entries.members[present % entries.num_topics] if len(present) else present > 0
    short = int(np.count_nonzero(is_wanted & (have < np.minimum(in_part, min(coverage, entries.num_nodes)))))
    if short:
        yield Reason("topics of parts represented", 0, short, f"{NODES}.representative")


def wrong_trajectory(
    plan: Plan, entries: Entries, node: Int64Array, other: Int64Array, edges: Edges
) -> Iterator[Reason]:
    """The order of choice has the links of the plan; each joined what it says, in a phase that fits its nodes."""
    trajectory = plan.trajectory()
    assert trajectory is not None  # as the family's plans have one
    trouble = wrong_columns("trajectory", trajectory, TRAJECTORY_SCHEMA)
    if trouble:
        yield from trouble
        return
    order = np.lexsort((trajectory["other"].to_numpy(), trajectory["node"].to_numpy()))
    ordered = trajectory.take(pa.array(order))
    wrong = list(same("trajectory", {"node": node, "other": other}, ordered))
    yield from wrong
    if not wrong:
        yield from same("trajectory", {"joined": _replayed(entries, edges, order)}, trajectory)
        yield from _wrong_phases(plan, trajectory, entries.num_nodes)


def _replayed(entries: Entries, edges: Edges, order: Int64Array) -> Int64Array:
    """How many topics each link joins when links are added in the order of choice.

    A link joins a topic if no way led from one of its nodes to the other before, within the topic. These are the edges
    of the spanning forest of least weight, if an edge weighs what its link's rank in the order is.

    Args:
        order: the rank in the order of choice of every link.
    """
    num_entries = len(entries.topics)
    if not len(edges.links):
        return np.zeros(len(order), dtype=np.int64)
    weights = (order[edges.links] + 1).astype(np.float64)  # 0 would be no edge
    graph = sparse.csr_array((weights, (edges.mine, edges.its)), shape=(num_entries, num_entries))
    forest = minimum_spanning_tree(graph)
    joined: Int64Array = np.bincount(forest.data.astype(np.int64) - 1, minlength=len(order))
    return joined


def _wrong_phases(plan: Plan, trajectory: pa.Table, num_nodes: int) -> Iterator[Reason]:
    """Without a division all links are of one phase. With one, links within a part were chosen there; others combine
    parts, by bulk nodes and representatives where there are such, after all parts; and a repair may choose any.

    A table of nodes without a row for each of them is said to be wrong elsewhere.
    """
    asked, phases = plan.record["parameters"], np.array(trajectory["phase"].to_pylist(), dtype=object)
    if "parts" not in asked:
        expected = "ring" if plan.method == _RINGS else "greedy"
        wrong = int(np.count_nonzero(phases != expected))
        if wrong:
            yield Reason(f"links chosen in the phase {expected}", len(phases), len(phases) - wrong, "trajectory")
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
        yield Reason("parts are combined after all of them", "part, then combine", "another order", "trajectory")
    wrong = int(np.count_nonzero(~fits))
    if wrong:
        yield Reason("phases fit the nodes of their links", 0, wrong, "trajectory")
