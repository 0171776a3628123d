"""pubplan: the planner for publish/subscribe deployments.

>>> import pubplan
>>> workload = pubplan.read_workload("workload/")                              # doctest: +SKIP
>>> problem = pubplan.select.Problem(workload, capacity="10%", threshold=27)   # doctest: +SKIP
>>> result = pubplan.select.solve(problem, method="greedy-fb3m")               # doctest: +SKIP
>>> result.objective, result.bound, result.gap                                 # doctest: +SKIP
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from pubplan.lazy import loader
from pubplan.problems import FAMILIES

if TYPE_CHECKING:
    from pubplan import generate as generate
    from pubplan.api import describe as describe
    from pubplan.api import diff as diff
    from pubplan.api import explain as explain
    from pubplan.api import export as export
    from pubplan.api import ingest as ingest
    from pubplan.api import ingest_content as ingest_content
    from pubplan.api import report as report
    from pubplan.engine import spark_session as spark_session
    from pubplan.planning import read_plan as read_plan
    from pubplan.problems import assign as assign
    from pubplan.problems import federate as federate
    from pubplan.problems import overlay as overlay
    from pubplan.problems import provision as provision
    from pubplan.problems import select as select
    from pubplan.workload import build_content_workload as build_content_workload
    from pubplan.workload import build_workload as build_workload
    from pubplan.workload import read_workload as read_workload
    from pubplan.workload import workload_from_tables as workload_from_tables

__version__ = "0.1.0"

_NAMES = {
    "": ("generate",),
    "api": ("describe", "diff", "explain", "export", "ingest", "ingest_content", "report"),
    "engine": ("spark_session",),
    "planning": ("read_plan",),
    "problems": FAMILIES,
    "workload": ("build_content_workload", "build_workload", "read_workload", "workload_from_tables"),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

for _family in FAMILIES:  # so that ``import pubplan.select`` finds the package; its own names are loaded late
    sys.modules[f"{__name__}.{_family}"] = import_module(f"pubplan.problems.{_family}")

__all__ = ["__version__", *(name for names in _NAMES.values() for name in names)]  # noqa: PLE0604


def __dir__() -> list[str]:
    return __all__
