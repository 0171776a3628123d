"""From one fleet to another: what the bill changes by, and which pairs have to move."""

from __future__ import annotations

from typing import Any

import numpy as np

from pubplan.engine import map_blocks
from pubplan.errors import InputError
from pubplan.planning import Explanation, Plan
from pubplan.problems.provision.catalogue import MICROS
from pubplan.problems.provision.plan import PLACEMENTS, VMS, VMS_SCHEMA, chosen_type, placed_pairs
from pubplan.text import split_changes
from pubplan.workload import Int64Array

MAX_MATCHED_PAIRS = 2**22
"""Up to this many pairs of an old and a new VM, VMs are matched as well as possible; beyond, greedily."""

_PART_LABELS = {"vm_cost": "  VMs", "incoming_cost": "  bytes in", "outgoing_cost": "  bytes out"}
_COST_COLUMNS = {"vms": "vm_cost", "incoming": "incoming_cost", "outgoing": "outgoing_cost", "total": "cost"}


def compare_fleets(old: Plan, new: Plan) -> Explanation | None:
    """The price difference by part, and how many pairs are kept, moved, added and dropped; None for the same plan.

    VM numbers mean nothing, so each VM is taken for the one of the other plan with which it has the most pairs in
    common, over all VMs together: a plan whose VMs are only renumbered moves nothing. Pairs are compared where both
    plans are for the same workload.

    Raises:
        InputError: a table is damaged.
    """
    if old.digest == new.digest:
        return None
    before, after = chosen_type(old), chosen_type(new)
    facts: dict[str, Any] = {
        "vm_type": {"old": before["type"], "new": after["type"]},
        "vms": {"old": before["vms"], "new": after["vms"]},
        "cost": {
            part: {
                "old": before[name] / MICROS,
                "new": after[name] / MICROS,
                "change": (after[name] - before[name]) / MICROS,
            }
            for part, name in _COST_COLUMNS.items()
        },
        "pairs": _compare_pairs(old, new) if old.record["workload"] == new.record["workload"] else None,
    }
    return Explanation(facts, tuple(_sentences(facts, before, after)))


def _sentences(facts: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    fleets = [f"{fleet['vms']:,} x {fleet['type']}" for fleet in (before, after)]
    lines = [f"fleet: {fleets[0]} -> {fleets[1]}"] if fleets[0] != fleets[1] else [f"fleet: {fleets[0]}, as before"]
    *parts, together = split_changes(*([fleet[name] for name in _PART_LABELS] for fleet in (before, after)))
    for label, (old, new, change) in zip(("cost", *_PART_LABELS.values()), (together, *parts), strict=True):
        lines.append(f"{label}: {old} -> {new} ({change})")
    pairs = facts["pairs"]
    if pairs is None:
        return [*lines, "pairs: not compared, the plans are for different workloads"]
    listed = ", ".join(f"{pairs[name]:,} {name}" for name in ("kept", "moved", "added", "dropped"))
    return [*lines, f"pairs: {listed}"]


def _compare_pairs(old: Plan, new: Plan) -> dict[str, int]:
    num_blocks = {plan.num_decision_blocks(PLACEMENTS) for plan in (old, new)}
    if len(num_blocks) != 1:
        raise InputError(f"{old.path} and {new.path} are for one workload, but their placements differ in blocks.")
    num_old, num_new = (plan.decisions(VMS, VMS_SCHEMA).num_rows for plan in (old, new))

    def look(block: int) -> tuple[int, int, Int64Array, Int64Array]:
        """Pairs of the old and of the new plan, and how many of both are on which VM in which plan."""
        first, second = placed_pairs(old, block), placed_pairs(new, block)
        if len(first[0]) != len(second[0]):
            raise InputError(f"{old.path} and {new.path} have other subscribers in block {block} of their placements.")
        left, right = _keys(*first[:2]), _keys(*second[:2])
        _, at_left, at_right = np.intersect1d(left, right, assume_unique=True, return_indices=True)
        both = first[2][at_left].astype(np.int64) * max(1, num_new) + second[2][at_right]
        return len(left), len(right), *np.unique(both, return_counts=True)

    totals = np.zeros(2, dtype=np.int64)
    overlaps: dict[int, int] = {}
    for num_left, num_right, cells, counts in map_blocks(look, num_blocks.pop()):
        totals += (num_left, num_right)
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            overlaps[cell] = overlaps.get(cell, 0) + count
    common = sum(overlaps.values())
    kept = _best_match(overlaps, num_old, num_new)
    return {
        "kept": kept,
        "moved": common - kept,
        "added": int(totals[1]) - common,
        "dropped": int(totals[0]) - common,
    }


def _keys(offsets: Int64Array, topics: np.ndarray) -> Int64Array:
    """A number for each pair of a block: its subscriber and its topic."""
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    keys: Int64Array = (owners << 32) + topics
    return keys


def _best_match(overlaps: dict[int, int], num_old: int, num_new: int) -> int:
    """How many pairs stay where they are if VMs are matched one to one, for the most pairs."""
    if not overlaps:
        return 0
    cells, counts = np.array(list(overlaps)), np.array(list(overlaps.values()))
    rows, columns = np.divmod(cells, max(1, num_new))
    if num_old * num_new <= MAX_MATCHED_PAIRS:
        from scipy.optimize import linear_sum_assignment

        table = np.zeros((num_old, num_new), dtype=np.int64)
        table[rows, columns] = counts
        return int(table[linear_sum_assignment(table, maximize=True)].sum())
    kept, used = 0, (np.zeros(num_old, dtype=bool), np.zeros(num_new, dtype=bool))
    for cell in np.lexsort((cells, -counts)):
        row, column = rows[cell], columns[cell]
        if not used[0][row] and not used[1][column]:
            used[0][row] = used[1][column] = True
            kept += int(counts[cell])
    return kept
