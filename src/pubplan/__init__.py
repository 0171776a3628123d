"""pubplan: the planner for publish/subscribe deployments.

>>> import pubplan
>>> workload = pubplan.read_workload("workload/")                              # doctest: +SKIP
>>> problem = pubplan.select.Problem(workload, capacity="10%", threshold=27)   # doctest: +SKIP
>>> result = pubplan.select.solve(problem, method="greedy-fb3m")               # doctest: +SKIP
>>> result.objective, result.bound, result.gap                                 # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubplan import generate as generate
    from pubplan.engine import spark_session as spark_session
    from pubplan.planning import read_plan as read_plan
    from pubplan.problems import overlay as overlay
    from pubplan.problems import provision as provision
    from pubplan.problems import select as select
    from pubplan.workload import build_workload as build_workload
    from pubplan.workload import read_workload as read_workload

__version__ = "0.1.0"

_PUBLIC = {
    "build_workload": "pubplan.workload",
    "generate": "pubplan",
    "overlay": "pubplan.problems",
    "provision": "pubplan.problems",
    "read_plan": "pubplan.planning",
    "read_workload": "pubplan.workload",
    "select": "pubplan.problems",
    "spark_session": "pubplan.engine",
}

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing pubplan costs nothing."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'pubplan' has no attribute '{name}'")
    home = _PUBLIC[name]
    try:
        return import_module(f"{home}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{home}.{name}":
            raise
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
