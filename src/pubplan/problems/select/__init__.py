"""``select``: most satisfied subscribers under a capacity (B3M and F-B3M).

V. Setty, G. Kreitz, G. Urdaneta, R. Vitenberg, M. van Steen: Maximizing the Number of Satisfied Subscribers in Pub/Sub
Systems Under Capacity Constraints. INFOCOM 2014, doi 10.1109/INFOCOM.2014.6848205.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.problems.select.curve import Curve as Curve
    from pubplan.problems.select.curve import curve_of as curve_of
    from pubplan.problems.select.curve import least_capacity as least_capacity
    from pubplan.problems.select.family import FAMILY as FAMILY
    from pubplan.problems.select.family import solve as solve
    from pubplan.problems.select.family import verify as verify
    from pubplan.problems.select.plan import SERVED as SERVED
    from pubplan.problems.select.problem import OBJECTIVES as OBJECTIVES
    from pubplan.problems.select.problem import Problem as Problem
    from pubplan.problems.select.request import Request as Request
    from pubplan.problems.select.whatif import Case as Case
    from pubplan.problems.select.whatif import what_if as what_if

_NAMES = {
    "family": (
        "FAMILY",
        "solve",
        "verify",
    ),
    "plan": ("SERVED",),
    "problem": (
        "OBJECTIVES",
        "Problem",
    ),
    "request": ("Request",),
    "curve": (
        "Curve",
        "curve_of",
        "least_capacity",
    ),
    "whatif": ("Case", "what_if"),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "FAMILY",
    "OBJECTIVES",
    "SERVED",
    "Case",
    "Curve",
    "Problem",
    "Request",
    "curve_of",
    "least_capacity",
    "solve",
    "verify",
    "what_if",
]


def __dir__() -> list[str]:
    return __all__
