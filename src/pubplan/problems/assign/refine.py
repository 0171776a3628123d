"""Improving an assignment: sides of boxes are pushed inwards, then leaves emptied and filled anew, in turns."""

from __future__ import annotations

import numpy as np

from pubplan.engine import is_time_over, random_stream, stage
from pubplan.problems.assign.ground import Ground
from pubplan.problems.assign.kernels.field import State
from pubplan.problems.assign.kernels.members import Members, link_all
from pubplan.problems.assign.kernels.refining import Refinement, empty_leaves, push_sides
from pubplan.problems.assign.kernels.trail import Trail
from pubplan.problems.assign.stages import REFINING
from pubplan.workload import Int64Array

EMPTIED_PER_LEAF = 4
"""How many steps of a round empty leaves, for each leaf there is."""

STEPS_AT_ONCE = 8
"""How many steps empty leaves before the time is looked at."""

MAX_IDLE_ROUNDS = 3
"""After how many rounds without any gain refining ends."""


def refine(ground: Ground, state: State, limits: Int64Array, seed: int, max_steps: int) -> int:
    """Improve an assignment in place within ``limits`` and its own loads, by at most ``max_steps`` steps.

    A step either pushes one side of one box inwards or empties leaves and fills them anew; none makes it worse. It
    ends early when the time is over.

    Returns:
        How many steps were made.
    """
    refinement = refinement_of(ground, state, limits, seed)
    num_emptied = EMPTIED_PER_LEAF * len(refinement.leaves)
    num_steps = num_idle = 0
    with stage(REFINING, max_steps) as advance:
        while num_steps < max_steps and num_idle < MAX_IDLE_ROUNDS and not is_time_over():
            pushed, gain = push_sides(refinement, max_steps - num_steps)
            num_steps += pushed
            advance(pushed)
            last = min(num_steps + num_emptied, max_steps)
            while num_steps < last and not is_time_over():
                emptied = min(STEPS_AT_ONCE, last - num_steps)
                gain += empty_leaves(refinement, emptied)
                num_steps += emptied
                advance(emptied)
            num_idle = 0 if gain else num_idle + 1
    return num_steps


def refinement_of(ground: Ground, state: State, limits: Int64Array, seed: int) -> Refinement:
    """An assignment with what it takes to improve it; loads stay within ``limits`` and its own loads."""
    field = ground.field
    members = Members.empty(field.num_brokers, field.num_clients)
    link_all(state.brokers, members)
    # Filters were tightened since costs were computed: none of them holds any more.
    state.costs.versions[:] += 1
    state.costs.shrunk_at[:] = state.costs.versions
    return Refinement(
        field=field,
        tree=ground.tree,
        state=state,
        members=members,
        trail=Trail.empty(field.num_clients, state.filters),
        leaves=np.flatnonzero(state.loads > 0).astype(np.int64),
        limits=np.maximum(limits, state.loads),
        generator=random_stream(seed, "assign/refined").integers(1, 2**32, size=1),
        seen=np.full(len(field.boxes), -1, dtype=np.int64),
    )
