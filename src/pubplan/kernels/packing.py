"""Packing things of different sizes whole into bins, by trying everything."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel

UNPACKED = -1
"""In the role of a bin: none."""


@kernel
def find_packing(
    sizes: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    candidates: npt.NDArray[np.int32],
    capacities: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    bins: npt.NDArray[np.int32],
    max_nodes: int,
) -> int:
    """Pack things within capacities, depth first in the order given.

    Things of one size and group that follow each other in the order are alike: a later one never takes an earlier
    candidate than the one before it, so that their permutations are not tried one by one.

    Args:
        groups: ``candidates[offsets[group] : offsets[group + 1]]`` are the bins that things of a group may go into.
        bins: of every thing; written.

    Returns:
        1 if ``bins`` holds a packing, 0 if there is none, -1 if ``max_nodes`` did not suffice to tell.
    """
    loads = np.zeros(len(capacities), dtype=np.int64)
    entries = np.full(len(order), -1, dtype=np.int64)  # by depth, the candidate that is tried; -1 for none yet
    depth, num_nodes = 0, 0
    bins[:] = UNPACKED
    while 0 <= depth < len(order):
        thing = order[depth]
        size, group = sizes[thing], groups[thing]
        entry = entries[depth]
        if entry >= 0:
            loads[candidates[entry]] -= size
            entry += 1
        else:
            entry = offsets[group]
            if depth > 0 and sizes[order[depth - 1]] == size and groups[order[depth - 1]] == group:
                entry = entries[depth - 1]
        while entry < offsets[group + 1] and size > capacities[candidates[entry]] - loads[candidates[entry]]:
            entry += 1
        if entry == offsets[group + 1]:
            entries[depth] = -1
            depth -= 1
            continue
        num_nodes += 1
        if num_nodes > max_nodes:
            return -1
        entries[depth] = entry
        loads[candidates[entry]] += size
        depth += 1
    if depth < 0:
        return 0
    for position in range(len(order)):
        bins[order[position]] = candidates[entries[position]]
    return 1
