"""Few rectangles that are far apart, and the least measure of a filter that contains them."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int64Array

UNSOLVED = -1
"""The answer of a search that takes too long."""


@kernel
def farthest_rectangles(lows: Int64Array, highs: Int64Array, number: int) -> Int64Array:
    """The largest rectangle, then again and again the one that would enlarge each of those chosen so far the most.

    A rectangle enlarges another by the volume of their common bounding box minus that of the other; what lies inside
    a chosen one is never chosen.
    """
    num_rectangles, num_dimensions = lows.shape
    enlargements = np.empty(num_rectangles, dtype=np.int64)
    for rectangle in range(num_rectangles):
        volume = 1
        for axis in range(num_dimensions):
            volume *= highs[rectangle, axis] - lows[rectangle, axis]
        enlargements[rectangle] = volume
    chosen = np.empty(min(number, num_rectangles), dtype=np.int64)
    for rank in range(len(chosen)):
        last = np.argmax(enlargements)
        if enlargements[last] <= 0:
            return chosen[:rank]
        chosen[rank] = last
        for rectangle in range(num_rectangles):
            common = volume = 1
            for axis in range(num_dimensions):
                low = min(lows[rectangle, axis], lows[last, axis])
                common *= max(highs[rectangle, axis], highs[last, axis]) - low
                volume *= highs[last, axis] - lows[last, axis]
            if rank == 0 or common - volume < enlargements[rectangle]:
                enlargements[rectangle] = common - volume
    return chosen


@kernel
def _sum_below(sums: Int64Array, strides: Int64Array, low: Int64Array, high: Int64Array) -> int:
    """The sum of the cells of a box, given the sums of all cells below every corner of the grid."""
    total = 0
    for corner in range(1 << len(strides)):
        position, sign = 0, 1
        for axis in range(len(strides)):
            if corner >> axis & 1:
                position += low[axis] * strides[axis]
                sign = -sign
            else:
                position += high[axis] * strides[axis]
        total += sign * sums[position]
    return total


@kernel
def _sum_of_union(
    sums: Int64Array,
    strides: Int64Array,
    lows: Int64Array,
    highs: Int64Array,
    number: int,
    low: Int64Array,
    high: Int64Array,
) -> int:
    """The sum of the cells inside any of the first boxes: inclusion and exclusion over their intersections."""
    total = 0
    for subset in range(1, 1 << number):
        sign = -1
        is_first, is_empty = True, False
        for box in range(number):
            if subset >> box & 1:
                sign = -sign
                for axis in range(len(strides)):
                    if is_first or lows[box, axis] > low[axis]:
                        low[axis] = lows[box, axis]
                    if is_first or highs[box, axis] < high[axis]:
                        high[axis] = highs[box, axis]
                    is_empty |= low[axis] >= high[axis]
                is_first = False
        if not is_empty:
            total += sign * _sum_below(sums, strides, low, high)
    return total


@kernel
def least_cover(
    atoms: Int64Array, sums: Int64Array, strides: Int64Array, num_boxes: int, max_search_nodes: int
) -> tuple[int, int]:
    """The least measure that boxes add to witnesses, if every atom is inside one box; and the search nodes it took.

    Depth first: the next atom that no box contains goes into each box in turn, or into a new one, the cheapest way
    first. What boxes add only grows on the way, so whatever reaches the best answer so far is not followed.

    Args:
        atoms: cells of a grid, as the number of their low line per axis.
        sums: for every corner of the grid, the measure of all cells below it that no witness contains, end to end.
        strides: how far corners are apart in ``sums``, per axis.

    Returns:
        the least measure, or UNSOLVED after too many search nodes.
    """
    num_atoms, num_dimensions = atoms.shape
    lows = np.empty((num_boxes, num_dimensions), dtype=np.int64)
    highs = np.empty((num_boxes, num_dimensions), dtype=np.int64)
    low, high = np.empty(num_dimensions, dtype=np.int64), np.empty(num_dimensions, dtype=np.int64)
    # Per level of the search: the atom that is placed, the boxes before, and the ways to place it, the cheapest first.
    atom_of = np.zeros(num_atoms + 1, dtype=np.int64)
    saved_low = np.empty((num_atoms + 1, num_dimensions), dtype=np.int64)
    saved_high = np.empty((num_atoms + 1, num_dimensions), dtype=np.int64)
    used_at = np.zeros(num_atoms + 1, dtype=np.int64)
    way_at = np.zeros(num_atoms + 1, dtype=np.int64)
    num_ways = np.zeros(num_atoms + 1, dtype=np.int64)
    boxes_of = np.empty((num_atoms + 1, num_boxes), dtype=np.int64)
    costs_of = np.empty((num_atoms + 1, num_boxes), dtype=np.int64)
    best = np.iinfo(np.int64).max
    level, used, search_nodes, is_entered, cost = 0, 0, 0, True, 0
    next_atom = 0
    while level >= 0:
        if is_entered:
            search_nodes += 1
            if search_nodes > max_search_nodes:
                return UNSOLVED, search_nodes
            atom = next_atom
            while atom < num_atoms:
                is_inside = False
                for box in range(used):
                    inside = True
                    for axis in range(num_dimensions):
                        inside &= lows[box, axis] <= atoms[atom, axis] < highs[box, axis]
                    is_inside |= inside
                if not is_inside:
                    break
                atom += 1
            atom_of[level], used_at[level], way_at[level] = atom, used, 0
            num_ways[level] = 0
            if atom == num_atoms:
                best = min(best, cost)
            else:
                for box in range(min(used + 1, num_boxes)):
                    for axis in range(num_dimensions):
                        saved_low[level, axis], saved_high[level, axis] = lows[box, axis], highs[box, axis]
                        at = atoms[atom, axis]
                        lows[box, axis] = at if box == used else min(at, lows[box, axis])
                        highs[box, axis] = at + 1 if box == used else max(at + 1, highs[box, axis])
                    way_cost = _sum_of_union(sums, strides, lows, highs, max(used, box + 1), low, high)
                    for axis in range(num_dimensions):
                        lows[box, axis], highs[box, axis] = saved_low[level, axis], saved_high[level, axis]
                    slot = num_ways[level]
                    while slot > 0 and costs_of[level, slot - 1] > way_cost:
                        costs_of[level, slot], boxes_of[level, slot] = (
                            costs_of[level, slot - 1],
                            boxes_of[level, slot - 1],
                        )
                        slot -= 1
                    costs_of[level, slot], boxes_of[level, slot] = way_cost, box
                    num_ways[level] += 1
        else:
            # Back from a way: the box is as it was before.
            box = boxes_of[level, way_at[level]]
            used = used_at[level]
            for axis in range(num_dimensions):
                lows[box, axis], highs[box, axis] = saved_low[level, axis], saved_high[level, axis]
            way_at[level] += 1
        way = way_at[level]
        if way < num_ways[level] and costs_of[level, way] < best:
            box, atom, cost = boxes_of[level, way], atom_of[level], costs_of[level, way]
            for axis in range(num_dimensions):
                saved_low[level, axis], saved_high[level, axis] = lows[box, axis], highs[box, axis]
                at = atoms[atom, axis]
                lows[box, axis] = at if box == used else min(at, lows[box, axis])
                highs[box, axis] = at + 1 if box == used else max(at + 1, highs[box, axis])
            used = max(used, box + 1)
            next_atom = atom + 1
            level += 1
            is_entered = True
        else:
            level -= 1
            is_entered = False
    return best, search_nodes
