"""From a problem to a plan that was verified before it is written."""

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

import pyarrow as pa

from pubplan.engine import COMPILING, PLANNING, MemoryMeter, Timings, observed_by, stage, stores_below, time_limited
from pubplan.errors import InputError, NotApplicable, Reason, VerificationFailed
from pubplan.files import OwnedDirectory, atomic_directory, check_free, write_json
from pubplan.planning.parameters import make_parameters
from pubplan.planning.plan import PLAN, RUN, Plan, headline, write_plan
from pubplan.planning.registry import Bound, D, Family, Method, P
from pubplan.planning.request import TIME_LIMIT
from pubplan.planning.values import Exact, Problem
from pubplan.planning.verify import verify_plan
from pubplan.text import duration, html_table, percent_up

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True, repr=False)
class Result:
    """A plan with what is known about it."""

    problem: Problem
    plan: Plan

    def __repr__(self) -> str:
        return f"Result({headline(self.plan.record)})"

    def _repr_html_(self) -> str:
        """The same as a small table, for notebooks."""
        record = self.plan.record
        rows = {
            "plan": f"{record['family']} by {record['method']}",
            record["unit"]: f"{record['objective']:,.6g}",
            "bound": "none" if record["bound"] is None else f"{record['bound']:,.6g}",
            "gap": "unknown" if record["gap"] is None else percent_up(record["gap"]),
            "binding": "; ".join(map(str, self.reasons)) or "nothing",
            "verified": "yes" if record["verified"] else "no",
        }
        return html_table(rows.items())

    @property
    def objective(self) -> float:
        """What the plan achieves, in the problem's unit."""
        return float(self.plan.record["objective"])

    @property
    def exact(self) -> Exact:
        """The objective as an integer over a scale."""
        return self.plan.exact

    @property
    def bound(self) -> float | None:
        """What no plan can beat; None if no bound was asked for."""
        value: float | None = self.plan.record["bound"]
        return value

    @property
    def gap(self) -> float | None:
        """The distance between objective and bound, over the bound; None without a bound."""
        value: float | None = self.plan.record["gap"]
        return value

    @property
    def bounds(self) -> Mapping[str, float]:
        """All bounds by name; ``bound`` is the tightest."""
        value: Mapping[str, float] = self.plan.record["bounds"]
        return value

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What is binding, or worth knowing of how the plan was made."""
        return tuple(Reason(**reason) for reason in self.plan.record["reasons"])


def solve_problem(
    family: Family[P, D],
    problem: P,
    method: str | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    bound: str | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    verify: bool = True,
    time_limit: float | None = None,
    spark: SparkSession | None = None,
) -> Result:
    """Plan, bound, verify, and only then write.

    Args:
        problem: what is asked.
        method: its name; None is the default one for the problem.
        parameters: of the method.
        seed: of every random choice.
        bound: the name of the bound to prove the answer with, or ``"none"``; None is the default one.
        out: the plan directory; None is a temporary one that lives as long as the result.
        replace: overwrite the plan at ``out``.
        verify: False writes the plan unverified, and says so in it.
        time_limit: seconds after which the method stops with the best plan so far, which then depends on the machine,
            and says so; bounding and verifying come after that.
        spark: a session to run passes over the workload on; None runs them in this process.

    Raises:
        InputError: an option is wrong, or ``out`` exists.
        NotApplicable: the method cannot answer this problem, or cannot stop early.
        Infeasible: no plan keeps the limits.
        VerificationFailed: the plan breaks a promise; nothing is written.

    >>> pubplan.select.solve(problem)
    Result(select by greedy-fb3m, 3 subscribers, bound 3.4054, gap 11.91 %)
    """
    problem.check()
    chosen = family.method_for(problem, method)
    limited = _time_limited(family, chosen, parameters or {}, time_limit)
    checked: Any = make_parameters(chosen.parameters, limited, f"method {chosen.name}")
    bounds = family.bounds_for(problem, bound)
    keeper = OwnedDirectory() if out is None else None
    target = keeper.path / "plan" if keeper is not None else Path(out or "")
    check_free(target, marker=PLAN, replace=replace)

    from pubplan.kernels import compile_seconds

    pa.array([])  # imports pandas, which is not to count as planning
    timings, compiled_before = Timings(excluded=compile_seconds), compile_seconds()
    staging = atomic_directory(target, marker=PLAN, replace=replace)
    with MemoryMeter() as meter, observed_by(timings), staging as draft_at:
        plan = plan_into(draft_at, family, problem, chosen, checked, seed, bounds, spark, time_limit)
        if verify:
            verdict = verify_plan(family, problem, plan, spark)
            if not verdict.ok:
                raise VerificationFailed(f"The plan of {chosen.name} was not written: it fails.", verdict.violations)
        record = {**plan.record, "verified": verify}
        write_json(draft_at / PLAN, record)
        timings.seconds[COMPILING] = compile_seconds() - compiled_before
        write_json(draft_at / RUN, _run(problem, timings, meter, spark))
    return Result(problem, dataclasses.replace(plan, path=target, record=record, keeper=keeper))


def plan_into(
    directory: Path,
    family: Family[P, D],
    problem: P,
    method: Method[P, D, Any],
    parameters: Any,
    seed: int,
    bounds: Iterable[Bound[P, D]],
    spark: SparkSession | None,
    time_limit: float | None = None,
) -> Plan:
    """Run a method with its parameters, bound what it gives, and write an unverified plan into ``directory``."""
    with stores_below(directory):
        with stage(f"planning with {method.name}", key=PLANNING), time_limited(time_limit) as deadline:
            draft = method.run(problem, parameters, seed, spark)
        if time_limit is not None:
            stopped = _stopped(method, time_limit) if deadline is not None and deadline.has_stopped else ()
            draft = dataclasses.replace(draft, deterministic=False, reasons=(*draft.reasons, *stopped))
        certificates = draft.certificates
        with stage("bounding"):
            for wanted in bounds:
                if all(certificate.name != wanted.name for certificate in certificates):
                    certificates += wanted.run(problem, draft, spark)
        if family.complete is not None:
            draft = family.complete(problem, draft, certificates)
        with stage("writing"):
            return write_plan(
                directory, family.name, problem, method, asdict(parameters), seed, draft, certificates, spark
            )


def _time_limited(
    family: Family[P, D], method: Method[P, D, Any], parameters: Mapping[str, Any], time_limit: float | None
) -> Mapping[str, Any]:
    """The parameters of a method that is to stop after a number of seconds: some count the time themselves."""
    if time_limit is None:
        return parameters
    if not time_limit > 0:
        raise InputError(f"The time limit must be longer than 0 seconds, not {time_limit:g}.")
    if not method.stops_early:
        raise NotApplicable(f"{method.name} cannot stop early, so it takes no time limit. {family.early_stopping}")
    return {TIME_LIMIT: time_limit, **parameters} if _counts_time(method) else parameters


def _counts_time(method: Method[Any, Any, Any]) -> bool:
    return TIME_LIMIT in {field.name for field in dataclasses.fields(method.parameters)}


def _stopped(method: Method[Any, Any, Any], time_limit: float) -> tuple[Reason, ...]:
    """Why a plan may be worse than without a limit; methods that count time themselves say so themselves."""
    if _counts_time(method):
        return ()
    sentence = f"{method.name} was stopped by its time limit of {duration(time_limit)}, with the best plan so far"
    return (Reason("time limit", "more time", f"{time_limit:g} s", method.name, sentence),)


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
