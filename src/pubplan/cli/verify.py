"""``pubplan verify``: does a plan keep its promises?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Conf, Json, Master, PlanPath, Quiet


def verify(
    plan: PlanPath,
    workload: Annotated[Path, typer.Option("--workload", metavar="DIR", help="The workload it was made for.")],
    again: Annotated[
        bool,
        typer.Option("--replan", help="Also run the plan's method again, with its parameters and seed, and compare."),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Recompute a plan from its workload and compare it with what it says. Exit code 4 if it fails, 5 if stale."""
    from dataclasses import replace

    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.errors import VerificationFailed
    from pubplan.planning import check_answers, check_fresh, read_plan, replan, verify_plan
    from pubplan.problems import family_named, problem_of
    from pubplan.report.frame import number_down, number_up
    from pubplan.workload import read_workload

    opened, read = read_workload(workload), read_plan(plan)
    check_fresh(read, opened)
    problem, family = problem_of(read, opened), family_named(read.family)
    check_answers(family, problem, read)
    with showing_progress(quiet), maybe_spark(master, conf, len(opened.interests_blocks)) as spark:
        opened.check(spark)
        verdict = verify_plan(family, problem, read, spark)
        if again and verdict.ok:
            verdict = replace(verdict, violations=replan(family, problem, read, spark))
    if not verdict.ok and not json:
        raise VerificationFailed(f"{plan} fails:", verdict.violations)
    shown = number_down if problem.sense == "max" else number_up
    text = f"{plan} keeps its promises: {shown(float(verdict.objective))} {problem.unit}, as it says."
    if again:
        text += f" {read.method} makes the same plan again."
    answer(verdict.to_dict(), text, json)
    if not verdict.ok:
        raise typer.Exit(4)
