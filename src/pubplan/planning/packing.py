"""Room for clients of different sizes at brokers with capacities: a packing, or the proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.errors import Reason
from pubplan.kernels.packing import find_packing
from pubplan.text import counted
from pubplan.workload import Int32Array, Int64Array

MAX_PACKING_NODES = 200_000
"""How many clients are put somewhere, beyond one try for each, before a search for a packing gives up."""

MAX_PROVEN_CLIENTS = 64
"""Up to this many clients, a proof that they cannot be packed is looked for."""


@dataclass(frozen=True)
class Packing:
    """What a search for a packing came to.

    Attributes:
        brokers: of every client; None where none was found.
        is_impossible: whether there is none.
    """

    brokers: Int32Array | None
    is_impossible: bool


def search_packing(
    sizes: Int64Array, groups: Int32Array, offsets: Int64Array, candidates: Int32Array, capacities: Int64Array
) -> Packing:
    """Put clients whole at brokers within capacities, whatever that costs, by trying everything, the largest first.

    Args:
        groups: ``candidates[offsets[group] : offsets[group + 1]]`` are the brokers that clients of a group may use.
    """
    order = np.lexsort((groups, -sizes)).astype(np.int64)
    brokers = np.empty(len(sizes), dtype=np.int32)
    sizes, candidates = np.ascontiguousarray(sizes), np.ascontiguousarray(candidates)
    answer = find_packing(
        sizes, groups, offsets, candidates, capacities, order, brokers, len(sizes) + MAX_PACKING_NODES
    )
    return Packing(brokers if answer == 1 else None, answer == 0)


def packed_by_search(method: str, num_left: int) -> Reason:
    """Why an attachment is not the method's: its rule left clients without room, and any packing was taken."""
    sentence = (
        f"{method} left {counted(num_left, 'client')} without room; all clients are packed by a search that looks at "
        "room alone"
    )
    return Reason("room", num_left, 0, "", sentence)
