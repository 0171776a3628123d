"""``assign``: which broker serves which content subscriber, within latency and load limits, with the least bandwidth.

A. Yu, P. K. Agarwal, J. Yang: Subscriber Assignment for Wide-Area Content-Based Publish/Subscribe. ICDE 2011, pages 267
to 278; extended in IEEE TKDE 24(10), 2012, doi 10.1109/TKDE.2012.65.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.problems.assign.family import FAMILY as FAMILY
    from pubplan.problems.assign.family import solve as solve
    from pubplan.problems.assign.family import verify as verify
    from pubplan.problems.assign.measures import Measures as Measures
    from pubplan.problems.assign.measures import copies as copies
    from pubplan.problems.assign.measures import measures_of as measures_of
    from pubplan.problems.assign.plan import ASSIGNMENTS as ASSIGNMENTS
    from pubplan.problems.assign.plan import BROKERS as BROKERS
    from pubplan.problems.assign.plan import FILTERS as FILTERS
    from pubplan.problems.assign.problem import Problem as Problem
    from pubplan.problems.assign.request import Request as Request

_NAMES = {
    "family": (
        "FAMILY",
        "solve",
        "verify",
    ),
    "measures": (
        "Measures",
        "copies",
        "measures_of",
    ),
    "plan": (
        "ASSIGNMENTS",
        "BROKERS",
        "FILTERS",
    ),
    "problem": ("Problem",),
    "request": ("Request",),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "ASSIGNMENTS",
    "BROKERS",
    "FAMILY",
    "FILTERS",
    "Measures",
    "Problem",
    "Request",
    "copies",
    "measures_of",
    "solve",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
