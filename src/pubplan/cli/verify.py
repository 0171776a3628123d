"""``pubplan verify``: does a plan keep its promises?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pubplan.cli.options import Conf, Json, Master, PlanPath, Quiet, WorkloadOption

if TYPE_CHECKING:
    from pubplan.api import OpenedPlan
    from pubplan.engine import SparkSession
    from pubplan.planning import Verdict


def verify(
    plan: PlanPath,
    workload: WorkloadOption = None,
    again: Annotated[
        bool,
        typer.Option("--replan", help="Also run the plan's method again, with its parameters and seed, and compare."),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Recompute a plan from its workload and compare it with what it says.

    Exit code 4 if it fails, 5 if it was made for another workload.
    """
    from dataclasses import replace

    from pubplan.api import open_plan, workload_of
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.errors import VerificationFailed
    from pubplan.planning import read_plan, replan
    from pubplan.text import number_down, number_up

    read = read_plan(plan)
    opened = open_plan(read, workload_of(read, workload))
    problem = opened.problem
    with showing_progress(quiet), maybe_spark(master, conf, opened.workload.num_blocks) as spark:
        opened.workload.check(spark)
        verdict = _verdict(opened, spark)
        if again and verdict.ok:
            verdict = replace(verdict, violations=replan(opened.family, problem, read, spark))
    if not verdict.ok and not json:
        raise VerificationFailed(f"{plan} fails:", verdict.violations)
    shown = number_down if problem.sense == "max" else number_up
    text = f"{plan} keeps its promises: {shown(float(verdict.objective))} {problem.unit}, as it says."
    if again:
        text += f" {read.method} makes the same plan again."
    answer(verdict.to_dict(), text, json)
    if not verdict.ok:
        raise typer.Exit(4)


def _verdict(opened: OpenedPlan, spark: SparkSession | None) -> Verdict:
    """The verdict; where the plan cannot be read because files were changed, these are the violations."""
    from pubplan.errors import InputError, Violation
    from pubplan.planning import Verdict, verify_plan

    try:
        return verify_plan(opened.family, opened.problem, opened.plan, spark)
    except InputError:
        changed = opened.plan.changed_files()
        if not changed:
            raise
        violations = [Violation("file changed since it was written", name) for name in changed]
        return Verdict(opened.plan.exact, tuple(violations))
