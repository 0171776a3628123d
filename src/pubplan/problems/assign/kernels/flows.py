"""Clients sent where a flow of their groups goes."""

from __future__ import annotations

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, State
from pubplan.workload import Int32Array, Int64Array


@kernel
def follow_flows(field: Field, flows: Int64Array, clients: Int32Array, state: State) -> None:
    """Assign clients, in the given order, to the first candidate of their group that has flow left for them.

    A client who weighs more than is left anywhere stays ``UNASSIGNED``. Filters are left empty.

    Args:
        flows: beside ``field.candidates``, how much of the group's weight goes there; is used up.
    """
    for client in clients:
        group, weight = field.groups[client], field.weights[client]
        for entry in range(field.offsets[group], field.offsets[group + 1]):
            if flows[entry] >= weight:
                leaf = field.candidates[entry]
                flows[entry] -= weight
                state.brokers[client] = leaf
                state.loads[leaf] += weight
                break
