"""``pubplan select``: which topics to serve within a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Check, Conf, Json, Master, Out, Quiet, Replace, Seed, WorkloadPath

if TYPE_CHECKING:
    from pubplan.planning import Result

Capacity = Annotated[
    str | None,
    typer.Option("--capacity", help="A share of the total cost such as 10%, or a number of deliveries per window."),
]
Threshold = Annotated[int | None, typer.Option("--threshold", help="Events per window that satisfy a subscriber.")]
Objective = Annotated[
    str | None, typer.Option("--objective", help="fb3m (fractions of subscribers, the default) or b3m (whole ones).")
]
MethodName = Annotated[str | None, typer.Option("--method", help="See 'pubplan methods select'.")]
Bound = Annotated[str | None, typer.Option("--bound", help="paper, or none.")]
ParameterFile = Annotated[
    Path | None, typer.Option("--parameters", metavar="FILE", help="TOML file; its table [select] fills in options.")
]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Write the plan without checking it, and say so in it.")]


def select(
    workload: WorkloadPath,
    out: Out,
    capacity: Capacity = None,
    threshold: Threshold = None,
    objective: Objective = None,
    method: MethodName = None,
    bound: Bound = None,
    parameters: ParameterFile = None,
    no_verify: NoVerify = False,
    check: Check = False,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Serve the topics that satisfy most subscribers within a capacity."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free
    from pubplan.errors import InputError
    from pubplan.planning import PLAN
    from pubplan.problems.select import FAMILY, Problem, solve
    from pubplan.workload import read_workload

    given = {"capacity": capacity, "threshold": threshold, "objective": objective, "method": method, "bound": bound}
    options = _options(parameters, given)
    if "capacity" not in options:
        raise InputError("No capacity: pass --capacity, for instance --capacity 10%.")
    check_apart(out, workload)
    check_free(out, marker=PLAN, replace=replace)
    opened = read_workload(workload)
    asked = {name: options[name] for name in ("capacity", "threshold", "objective") if name in options}
    problem = Problem(opened, **asked)
    method_name = FAMILY.method_for(problem, options.get("method")).name  # before Spark is started for nothing
    FAMILY.bounds_named(options.get("bound"))
    with showing_progress(quiet), maybe_spark(master, conf, len(opened.interests_blocks)) as spark:
        if check:
            opened.check(spark)
        result = solve(
            problem,
            method_name,
            parameters=options.get(method_name),
            seed=seed,
            bound=options.get("bound"),
            out=out,
            replace=replace,
            verify=not no_verify,
            spark=spark,
        )
    answer(result.plan.record, _sentences(result, out), json)


def _options(path: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    """Options from the command line, which wins, and from the parameter file."""
    from pubplan.planning import read_parameters
    from pubplan.problems.select import FAMILY

    known: dict[str, tuple[type, ...]] = {
        "capacity": (str, int),
        "threshold": (int,),
        "objective": (str,),
        "method": (str,),
        "bound": (str,),
        **dict.fromkeys(FAMILY.methods, (dict,)),
    }
    from_file = read_parameters(path, "select", known) if path is not None else {}
    return from_file | {name: value for name, value in given.items() if value is not None}


def _sentences(result: Result, out: Path) -> str:
    from pubplan.cli.show import percent
    from pubplan.problems.select import SERVED
    from pubplan.report.frame import number_down, number_up

    counts = result.problem.workload.counts
    served = result.plan.decisions(SERVED)
    cost = sum(served["cost"].to_pylist())
    capacity = result.plan.record["parameters"]["capacity_cost"]
    share = percent(result.objective / counts.subscribers) if counts.subscribers else "all"
    lines = [
        f"Serving {served.num_rows:,} of {counts.topics:,} topics satisfies {number_down(result.objective)} of "
        f"{counts.subscribers:,} subscribers ({share}).",
        f"That takes {cost:,} of {capacity:,} deliveries per window.",
    ]
    if result.bound is not None and result.gap is not None:
        bound = number_up(result.bound)
        lines.append(f"No plan can satisfy more than {bound}: this one is within {percent(result.gap)} of that.")
    lines += [f"Binding: {reason}." for reason in result.reasons]
    state = "Verified" if result.plan.record["verified"] else "NOT verified"
    lines.append(f"{state}. Plan written to {out}")
    return "\n".join(lines)
