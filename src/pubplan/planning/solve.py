"""From a problem to a plan that was verified before anybody sees it."""

from __future__ import annotations

import dataclasses
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubplan.engine import (
    Keeper,
    MemoryMeter,
    Timings,
    check_free,
    listening,
    stage,
    whole_directory,
    working_in,
    write_json,
)
from pubplan.errors import Reason, VerificationFailed
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import PLAN, RUN, Plan, write_plan
from pubplan.planning.registry import Bound, Family, Method
from pubplan.planning.values import Exact, Problem
from pubplan.planning.verify import verify_plan

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Result:
    """A plan with what is known about it."""

    problem: Problem
    plan: Plan

    @property
    def objective(self) -> float:
        return float(self.plan.record["objective"])

    @property
    def exact(self) -> Exact:
        return self.plan.exact

    @property
    def bound(self) -> float | None:
        value: float | None = self.plan.record["bound"]
        return value

    @property
    def gap(self) -> float | None:
        value: float | None = self.plan.record["gap"]
        return value

    @property
    def bounds(self) -> Mapping[str, float]:
        value: Mapping[str, float] = self.plan.record["bounds"]
        return value

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return tuple(Reason(**reason) for reason in self.plan.record["reasons"])


def solve_problem(
    family: Family,
    problem: Problem,
    method: str | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    bound: str | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    verify: bool = True,
    spark: SparkSession | None = None,
) -> Result:
    """Plan, bound, verify, and only then write.

    Args:
        parameters: the method's own.
        out: the plan directory; None is a temporary one that lives as long as the result.
        verify: False writes the plan unverified, and says so in it.

    Raises:
        InputError: an option is wrong, or ``out`` exists.
        NotApplicable: the method cannot answer this problem.
        Infeasible: no plan keeps the limits.
        VerificationFailed: the plan breaks a promise; nothing is written.
    """
    chosen = family.method_for(problem, method)
    own: Any = make_parameters(chosen.parameters, parameters or {}, f"method {chosen.name}")
    bounds = family.bounds_for(problem, bound)
    keeper = Keeper() if out is None else None
    target = keeper.path / "plan" if keeper is not None else Path(out or "")
    check_free(target, marker=PLAN, replace=replace)

    timings = Timings()
    staging = whole_directory(target, marker=PLAN, replace=replace)
    with MemoryMeter() as meter, listening(timings), staging as draft_at:
        plan = plan_into(draft_at, family, problem, chosen, own, seed, bounds, spark)
        if verify:
            verdict = verify_plan(family, problem, plan, spark)
            if not verdict.ok:
                raise VerificationFailed(f"The plan of {chosen.name} was not written: it fails.", verdict.violations)
        record = {**plan.record, "verified": verify}
        write_json(draft_at / PLAN, record)
        write_json(draft_at / RUN, _run(problem, timings, meter, spark))
    return Result(problem, dataclasses.replace(plan, path=target, record=record, keeper=keeper))


def plan_into(
    directory: Path,
    family: Family,
    problem: Problem,
    method: Method,
    parameters: Any,
    seed: int,
    bounds: Iterable[Bound],
    spark: SparkSession | None,
) -> Plan:
    """Run a method with its parameters, bound what it gives, and write an unverified plan into ``directory``."""
    with working_in(directory):
        with stage(f"planning with {method.name}"):
            draft = method.run(problem, parameters, seed, spark)
        certificates = draft.certificates
        with stage("bounding"):
            for wanted in bounds:
                if all(certificate.name != wanted.name for certificate in certificates):
                    certificates += wanted.run(problem, draft, spark)
        draft = family.finish(problem, draft, certificates)
        with stage("writing"):
            return write_plan(
                directory, family.name, problem, method, asdict(parameters), seed, draft, certificates, spark
            )


@cache
def _versions() -> dict[str, str]:
    packages = ("pubplan", "numba", "numpy", "pyarrow", "pyspark")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _run(problem: Problem, timings: Timings, meter: MemoryMeter, spark: SparkSession | None) -> dict[str, Any]:
    return {
        "workload": str(problem.workload.path),
        "seconds": {stage: round(seconds, 3) for stage, seconds in timings.seconds.items()},
        "peak_memory_bytes": meter.peak_bytes,
        "spark": None if spark is None else spark.conf.get("spark.master", "unknown"),
        "versions": _versions(),
        "platform": sys.platform,
    }
