"""``federate``: which broker each client attaches to, and how brokers route what clients publish, at the least cost.

Y. Zhao, J. Wu: On the Construction of the Minimum Cost Content-Based Publish/Subscribe Overlays. 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.problems.federate.family import FAMILY as FAMILY
    from pubplan.problems.federate.family import solve as solve
    from pubplan.problems.federate.family import verify as verify
    from pubplan.problems.federate.measures import Measures as Measures
    from pubplan.problems.federate.measures import measures_of as measures_of
    from pubplan.problems.federate.plan import ATTACHMENTS as ATTACHMENTS
    from pubplan.problems.federate.plan import BROKERS as BROKERS
    from pubplan.problems.federate.plan import CHANNELS as CHANNELS
    from pubplan.problems.federate.plan import LINKS as LINKS
    from pubplan.problems.federate.plan import TREES as TREES
    from pubplan.problems.federate.problem import Problem as Problem
    from pubplan.problems.federate.request import Request as Request

_NAMES = {
    "family": (
        "FAMILY",
        "solve",
        "verify",
    ),
    "measures": (
        "Measures",
        "measures_of",
    ),
    "plan": (
        "ATTACHMENTS",
        "BROKERS",
        "CHANNELS",
        "LINKS",
        "TREES",
    ),
    "problem": ("Problem",),
    "request": ("Request",),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "ATTACHMENTS",
    "BROKERS",
    "CHANNELS",
    "FAMILY",
    "LINKS",
    "TREES",
    "Measures",
    "Problem",
    "Request",
    "measures_of",
    "solve",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
