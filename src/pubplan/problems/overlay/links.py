"""What a method hands over: links in the order in which they were chosen, and how nodes were divided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubplan.problems.overlay.division import Division
from pubplan.workload import Int32Array

PHASES = ("greedy", "ring", "part", "combine", "repair")
"""When a link was chosen: by a greedy choice among all nodes, for a topic's ring, within a part, between parts, or to
take load from a node.
"""

GREEDY, RING, PART, COMBINE, REPAIR = range(len(PHASES))


@dataclass(frozen=True)
class Overlay:
    """Links, and how they were found.

    Attributes:
        links: rows of node, other and topics joined when the link was chosen.
        phases: when each was chosen.
        work: steps that it took.
        division: how nodes were divided, if they were.
        is_representative: which nodes stood for their part.
        coverage: how many of a part did for each topic, if not all.
    """

    links: Int32Array
    phases: npt.NDArray[np.int8]
    work: int
    division: Division | None = None
    is_representative: npt.NDArray[np.bool_] | None = None
    coverage: int | None = None


def in_one_phase(links: Int32Array, phase: int, work: int) -> Overlay:
    """An overlay whose links were all chosen in the same way."""
    return Overlay(links, np.full(len(links), phase, dtype=np.int8), work)
