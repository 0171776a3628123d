"""Gr*, and what is done for clients who find no room."""

from __future__ import annotations

import numpy as np

from pubplan.engine import stage
from pubplan.errors import NotApplicable, Reason
from pubplan.planning.packing import packed_by_search, search_packing
from pubplan.problems.assign.assignment import loads_of
from pubplan.problems.assign.field import by_value, transposed
from pubplan.problems.assign.ground import Ground
from pubplan.problems.assign.kernels.field import UNASSIGNED, State
from pubplan.problems.assign.kernels.greedy import assign_fewest_first
from pubplan.problems.assign.kernels.members import Members
from pubplan.problems.assign.kernels.rooms import make_room
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.problems.assign.tighten import tighten
from pubplan.text import counted
from pubplan.workload import Int64Array


def fewest_first(ground: Ground) -> tuple[State, int, tuple[Reason, ...]]:
    """The assignment of Gr*, the step of the limits that it needed, and why it is another one.

    Raises:
        NotApplicable: clients of different weights found no room.
    """
    field, state = ground.field, ground.start()
    members = by_value(field.groups, len(field.offsets) - 1)
    groups = transposed(field.candidates, field.offsets, field.num_brokers)
    with stage(ASSIGNING):
        step = assign_fewest_first(field, state, ground.limits, *members, *groups)
        reasons = assign_rest(ground, state, ground.limits[step], "gr-star")
    return state, step, reasons


def assign_rest(ground: Ground, state: State, limits: Int64Array, method: str) -> tuple[Reason, ...]:
    """Assign those who are nowhere yet by moving others, within ``limits`` if possible, else within the greatest.

    Where clients of different weights are left even so, all are packed anew by a search that looks at room alone; the
    reasons say so. Equal ones always fit, where the flow of all groups fits.

    Raises:
        NotApplicable: no packing was found, although nothing proves that there is none.
    """
    for allowed in (limits, ground.limits[-1]):
        clients = np.flatnonzero(state.brokers == UNASSIGNED).astype(np.int32)
        if len(clients):
            members = Members.empty(ground.field.num_brokers, ground.field.num_clients)
            make_room(ground.field, state, allowed, members, clients)
    number = int((state.brokers == UNASSIGNED).sum())
    if not number:
        return ()
    field = ground.field
    packing = search_packing(field.weights, field.groups, field.offsets, field.candidates, ground.limits[-1])
    if packing.brokers is None:
        raise NotApplicable(
            f"{method} found no room for {counted(number, 'client')} of large weight, although nothing proves that "
            "there is none. Raise the maximum load factor, or describe them by more clients of less weight."
        )
    state.brokers[:] = packing.brokers
    state.loads[:] = loads_of(packing.brokers, field.weights, field.num_brokers)
    state.filters.sizes[:] = 0
    tighten(ground, state)
    return (packed_by_search(method, number),)
