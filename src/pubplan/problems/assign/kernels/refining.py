"""Rounds of steps that improve an assignment; every step leaves the total measure as it is or makes it smaller."""

from __future__ import annotations

import math
from typing import NamedTuple

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, State, Tree
from pubplan.problems.assign.kernels.filters import Filters
from pubplan.problems.assign.kernels.members import Members
from pubplan.problems.assign.kernels.randomness import draw_below
from pubplan.problems.assign.kernels.ruin import NOISE_STEPS, ruin_and_recreate
from pubplan.problems.assign.kernels.strips import push_side
from pubplan.problems.assign.kernels.trail import Trail
from pubplan.workload import Int64Array

MAX_EMPTIED = 4
"""How many leaves a step empties at most; the number is drawn at random."""


UNIFORM_ONE_IN = 4
"""One step in this many empties leaves of which all are as likely."""


class Refinement(NamedTuple):
    """An assignment that is being improved.

    Attributes:
        leaves: all leaves.
        limits: how much load each broker may have.
        generator: the state of the random numbers.
        seen: scratch by rectangle, all -1 between steps.
    """

    field: Field
    tree: Tree
    state: State
    members: Members
    trail: Trail
    leaves: Int64Array
    limits: Int64Array
    generator: Int64Array
    seen: Int64Array


@kernel
def push_sides(refinement: Refinement, max_steps: int) -> tuple[int, int]:
    """Push every side of every box of every leaf inwards, the leaves in random order.

    Returns:
        How many steps that took, and by how much the total measure fell.
    """
    field, tree, state, members, trail, leaves, limits, generator, seen = refinement
    order = leaves.copy()
    for index in range(len(order) - 1, 0, -1):
        other = draw_below(generator, index + 1)
        order[index], order[other] = order[other], order[index]
    num_steps, gain = 0, 0
    num_sides = field.boxes.shape[1]
    for leaf in order:
        for slot in range(state.filters.boxes.shape[1]):
            for side in range(num_sides):
                if slot >= state.filters.sizes[leaf]:  # a cut may have dropped boxes
                    continue
                if num_steps == max_steps:
                    return num_steps, gain
                gain += push_side(field, tree, state, members, trail, limits, seen, leaf, slot, side)
                num_steps += 1
    return num_steps, gain


@kernel
def random_leaf(filters: Filters, leaves: Int64Array, generator: Int64Array) -> int:
    """A leaf drawn at random: now and then all are alike, else by the square roots of what their filters measure.

    By their measures themselves, a few leaves whose large filters nothing can make smaller would take all steps.
    """
    leaf = leaves[draw_below(generator, len(leaves))]
    if draw_below(generator, UNIFORM_ONE_IN) == 0:
        return int(leaf)
    total = 0.0
    for each in leaves:
        total += math.sqrt(filters.measures[each])
    left = total * (draw_below(generator, NOISE_STEPS) / NOISE_STEPS)
    for each in leaves:
        left -= math.sqrt(filters.measures[each])
        if left < 0:
            return int(each)
    return int(leaf)


@kernel
def empty_leaves(refinement: Refinement, num_steps: int) -> int:
    """Empty leaves drawn at random and fill them anew, ``num_steps`` times; returns by how much the total fell."""
    field, tree, state, members, trail, leaves, limits, generator, seen = refinement
    gain = 0
    for _ in range(num_steps):
        leaf = random_leaf(state.filters, leaves, generator)
        num_leaves = 1 + draw_below(generator, MAX_EMPTIED)
        gain += ruin_and_recreate(field, tree, state, members, trail, limits, generator, seen, num_leaves, leaf)
    return gain
