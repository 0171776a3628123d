"""Gr*, and what is done for clients who find no room."""

from __future__ import annotations

import numpy as np

from pubplan.engine import stage
from pubplan.errors import InputError
from pubplan.problems.assign.field import by_value, transposed
from pubplan.problems.assign.ground import Ground
from pubplan.problems.assign.kernels.field import UNASSIGNED, State
from pubplan.problems.assign.kernels.greedy import assign_fewest_first
from pubplan.problems.assign.kernels.members import Members
from pubplan.problems.assign.kernels.rooms import make_room
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.text import counted
from pubplan.workload import Int64Array


def fewest_first(ground: Ground) -> tuple[State, int]:
    """The assignment of Gr*, and the step of the limits that it needed.

    Raises:
        InputError: clients of different weights do not fit.
    """
    field, state = ground.field, ground.start()
    members = by_value(field.groups, len(field.offsets) - 1)
    groups = transposed(field.candidates, field.offsets, field.num_brokers)
    with stage(ASSIGNING):
        step = assign_fewest_first(field, state, ground.limits, *members, *groups)
        assign_rest(ground, state, ground.limits[step])
    return state, step


def assign_rest(ground: Ground, state: State, limits: Int64Array) -> None:
    """Assign those who are nowhere yet by moving others, within ``limits`` if possible, else within the greatest.

    Raises:
        InputError: clients of different weights do not fit. Equal ones always do, where the flow of all groups fits.
    """
    for allowed in (limits, ground.limits[-1]):
        clients = np.flatnonzero(state.brokers == UNASSIGNED).astype(np.int32)
        if len(clients):
            members = Members.empty(ground.field.num_brokers, ground.field.num_clients)
            make_room(ground.field, state, allowed, members, clients)
    number = int((state.brokers == UNASSIGNED).sum())
    if number:
        raise InputError(
            f"No leaf has room for {counted(number, 'client')} of large weight. Groups of clients would fit if they "
            "were divided: raise the maximum load factor, or describe them by more clients of less weight."
        )
