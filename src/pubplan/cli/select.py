"""``pubplan select``: which topics to serve within a capacity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pubplan.cli.options import (
    Check,
    Conf,
    Json,
    Master,
    MethodName,
    NoVerify,
    Out,
    ParameterFile,
    Quiet,
    Replace,
    Seed,
    SetParameter,
    WorkloadPath,
)

if TYPE_CHECKING:
    from pubplan.planning import Result
    from pubplan.problems.select import Curve, Problem

Capacity = Annotated[
    str | None,
    typer.Option("--capacity", help="A share of the total cost such as 10%, or a number of deliveries per window."),
]
Threshold = Annotated[int | None, typer.Option("--threshold", help="Events per window that satisfy a subscriber.")]
Objective = Annotated[
    str | None, typer.Option("--objective", help="fb3m (fractions of subscribers, the default) or b3m (whole ones).")
]
Cost = Annotated[
    str | None,
    typer.Option("--cost", metavar="COLUMN", help="What topics cost: a column of theirs. Default: rate x subscribers."),
]
MustServe = Annotated[
    list[str] | None,
    typer.Option(
        "--must-serve", metavar="ID|@FILE", help="A topic to serve in any case, or a file of them; repeatable."
    ),
]
MustNotServe = Annotated[
    list[str] | None,
    typer.Option("--must-not-serve", metavar="ID|@FILE", help="A topic not to serve, or a file of them; repeatable."),
]
Satisfy = Annotated[
    str | None,
    typer.Option("--satisfy", metavar="SHARE", help="Instead of a capacity: the least one that satisfies, say, 80%."),
]
WithCurve = Annotated[
    bool, typer.Option("--curve", help="Also print the satisfied share at smaller capacities, and the knee.")
]
Bound = Annotated[str | None, typer.Option("--bound", help="lagrangian (the default), paper, search or none.")]

_KINDS: dict[str, tuple[type, ...]] = {
    "capacity": (str, int),
    "threshold": (int,),
    "objective": (str,),
    "cost": (str,),
    "must_serve": (list,),
    "must_not_serve": (list,),
}


def select(
    workload: WorkloadPath,
    out: Out,
    capacity: Capacity = None,
    threshold: Threshold = None,
    objective: Objective = None,
    cost: Cost = None,
    must_serve: MustServe = None,
    must_not_serve: MustNotServe = None,
    satisfy: Satisfy = None,
    curve: WithCurve = False,
    method: MethodName = None,
    set_: SetParameter = None,
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
    from pubplan.cli.parameters import set_parameters
    from pubplan.cli.planning import planning_session, read_options, solve_with
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free
    from pubplan.errors import InputError
    from pubplan.planning import PLAN
    from pubplan.problems.select import FAMILY, Problem, curve_of, least_capacity
    from pubplan.problems.select.curve import share_of
    from pubplan.workload import read_workload

    given = {
        "capacity": capacity,
        "threshold": threshold,
        "objective": objective,
        "method": method,
        "bound": bound,
        "cost": cost,
        "must_serve": _ids(must_serve),
        "must_not_serve": _ids(must_not_serve),
    }
    options = read_options(FAMILY, parameters, given, _KINDS)
    if satisfy is None and "capacity" not in options:
        raise InputError("No capacity: pass --capacity, for instance --capacity 10%.")
    if satisfy is not None:
        if capacity is not None:
            raise InputError("Pass --capacity or --satisfy, not both.")
        share_of(satisfy)
        options["capacity"] = "100%"
    check_apart(out, workload)
    check_free(out, marker=PLAN, replace=replace)
    opened = read_workload(workload)
    problem = Problem(opened, **{name: options[name] for name in _KINDS if name in options})
    # All that can be refused is refused before Spark is started.
    chosen = FAMILY.method_for(problem, options.get("method"))
    set_parameters(chosen, options, set_)
    FAMILY.bounds_for(problem, options.get("bound"))
    with planning_session(opened, check, quiet, master, conf) as spark:
        if satisfy is not None:
            problem = least_capacity(problem, satisfy, chosen, options.get(chosen.name), seed, spark)
        result = solve_with(
            FAMILY, problem, options, out=out, seed=seed, replace=replace, verify=not no_verify, spark=spark
        )
        found = curve_of(problem, result.plan, spark) if curve else None
    record = dict(result.plan.record) | ({"curve": found.to_dict()} if found else {})
    lines = [*_sentences(problem, result, out), *(_curve_sentences(found) if found else [])]
    if satisfy is not None:
        lines.append(_least_sentence(problem, result, satisfy))
    answer(record, "\n".join(lines), json)


def _ids(given: list[str] | None) -> list[str] | None:
    """Topic ids, from the command line or, behind an @, from the lines of a file."""
    from pubplan.errors import InputError

    ids: list[str] = []
    for name in given or []:
        if not name.startswith("@"):
            ids.append(name)
            continue
        try:
            ids += [line for line in Path(name[1:]).read_text(encoding="utf-8").splitlines() if line]
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The list {name[1:]} cannot be read: {error}.") from error
    return ids or None


def _curve_sentences(curve: Curve) -> list[str]:
    lines = ["", "capacity      satisfied  no plan satisfies more than"]
    lines += [
        f"{point.percent:6.1f} %   {point.satisfied_percent:9.2f} %  {point.bound:,.0f}" for point in curve.points
    ]
    knee = curve.knee
    lines.append(
        f"The knee is at {knee.percent:.2f} % ({knee.cost:,}), where {knee.satisfied_percent:.1f} % are satisfied."
    )
    return lines


def _least_sentence(problem: Problem, result: Result, share: str) -> str:
    """The capacity found, and below which capacity the bound rules the share out."""
    from pubplan.problems.select.curve import share_of

    trajectory = result.plan.trajectory()
    least = f"{share} takes a capacity of {problem.capacity_cost:,}"
    total = problem.total_cost
    least += f" ({100 * problem.capacity_cost / total:.2f} % of the total cost)" if total else ""
    if trajectory is None or result.bound is None:
        return f"{least}."
    goal = float(share_of(share) * problem.total_weight)
    too_little = trajectory.filter(trajectory["bound"].to_numpy() < goal)["cost"].to_pylist()
    return f"{least}; no plan does it with {max(too_little, default=0):,} or less." if too_little else f"{least}."


def _sentences(problem: Problem, result: Result, out: Path) -> list[str]:
    from pubplan.cli.planning import last_sentence
    from pubplan.cli.show import percent
    from pubplan.problems.select import SERVED
    from pubplan.report.frame import number_down, number_up, percent_up

    counts = problem.workload.counts
    served = result.plan.decisions(SERVED)
    cost = sum(served["cost"].to_pylist())
    parameters = result.plan.record["parameters"]
    total = problem.total_weight
    share = percent(result.objective / total) if total else "all"
    unit = "deliveries per window" if parameters["cost"] is None else parameters["cost"]
    lines = [
        f"Serving {served.num_rows:,} of {counts.topics:,} topics satisfies {number_down(result.objective)} of "
        f"{total:,} {problem.unit} ({share}).",
        f"That takes {cost:,} of {parameters['capacity_cost']:,} {unit}.",
    ]
    if result.bound is not None and result.gap is not None:
        bound = number_up(result.bound)
        lines.append(f"No plan can satisfy more than {bound}: this one is within {percent_up(result.gap)} of that.")
    lines += [f"Binding: {reason}." for reason in result.reasons]
    return [*lines, last_sentence(result, out)]
