"""The nearest leaf of every client, wherever its rectangle lies."""

from __future__ import annotations

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import UNASSIGNED, Field, State
from pubplan.workload import Int64Array


@kernel
def assign_nearest(field: Field, latencies: Int64Array, limits: Int64Array, state: State) -> int:
    """Assign clients in their order to the candidate with the least latency that has room, else without.

    Equal latencies: the smallest number. Filters are left empty.

    Args:
        latencies: beside ``field.candidates``.
        limits: by broker, how much load it may have.

    Returns:
        How many clients found no room.
    """
    num_without_room = 0
    for client in range(len(field.rectangles)):
        group, weight = field.groups[client], field.weights[client]
        best, nearest = UNASSIGNED, UNASSIGNED
        best_latency, nearest_latency = 0, 0
        for entry in range(field.offsets[group], field.offsets[group + 1]):
            leaf, latency = field.candidates[entry], latencies[entry]
            if nearest < 0 or latency < nearest_latency:
                nearest, nearest_latency = leaf, latency
            if state.loads[leaf] + weight <= limits[leaf] and (best < 0 or latency < best_latency):
                best, best_latency = leaf, latency
        if best < 0:
            best = nearest
            num_without_room += 1
        state.brokers[client] = best
        state.loads[best] += weight
    return num_without_room
