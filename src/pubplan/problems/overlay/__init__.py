"""``overlay``: topic-connected overlays in which no node has many neighbours (MinMax-TCO).

C. Chen, R. Vitenberg, H.-A. Jacobsen: Scaling Construction of Low Fan-out Overlays for Topic-based Publish/Subscribe
Systems. ICDCS 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.problems.overlay.family import FAMILY as FAMILY
    from pubplan.problems.overlay.family import solve as solve
    from pubplan.problems.overlay.family import verify as verify
    from pubplan.problems.overlay.measures import Measures as Measures
    from pubplan.problems.overlay.measures import measures_of as measures_of
    from pubplan.problems.overlay.plan import DIVISION as DIVISION
    from pubplan.problems.overlay.plan import FORWARDING as FORWARDING
    from pubplan.problems.overlay.plan import LINKS as LINKS
    from pubplan.problems.overlay.plan import NODES as NODES
    from pubplan.problems.overlay.plan import TOPICS as TOPICS
    from pubplan.problems.overlay.problem import Problem as Problem
    from pubplan.problems.overlay.request import Request as Request

_NAMES = {
    "family": (
        "FAMILY",
        "solve",
        "verify",
    ),
    "plan": (
        "DIVISION",
        "FORWARDING",
        "LINKS",
        "NODES",
        "TOPICS",
    ),
    "problem": ("Problem",),
    "request": ("Request",),
    "measures": (
        "Measures",
        "measures_of",
    ),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "DIVISION",
    "FAMILY",
    "FORWARDING",
    "LINKS",
    "NODES",
    "TOPICS",
    "Measures",
    "Problem",
    "Request",
    "measures_of",
    "solve",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
