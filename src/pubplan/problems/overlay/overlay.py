"""What a method hands over: links in the order in which they were chosen, and how nodes were divided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubplan.problems.overlay.division import Division
from pubplan.problems.overlay.kernels.components import Links

PHASES = ("greedy", "ring", "part", "combine", "repair")
"""When a link was chosen: by a greedy choice among all nodes, for a topic's ring, within a part, between parts, or to
take load from a node.
"""

GREEDY, RING, PART, COMBINE, REPAIR = range(len(PHASES))


@dataclass(frozen=True)
class Overlay:
    """Links, and how they were chosen.

    Attributes:
        links: in the order of choice.
        phases: when each was chosen, as an index of PHASES.
        work: steps that it took.
        division: how nodes were divided, if they were.
        is_representative: for every node whether it represents its part, if nodes were divided.
        coverage: how many representatives a part has for each topic; None if all nodes combine the parts.
    """

    links: Links
    phases: npt.NDArray[np.int8]
    work: int
    division: Division | None = None
    is_representative: npt.NDArray[np.bool_] | None = None
    coverage: int | None = None


def overlay_of_phase(links: Links, phase: int, work: int) -> Overlay:
    """An overlay whose links were all chosen in the same phase."""
    return Overlay(links, np.full(links.num_links, phase, dtype=np.int8), work)
