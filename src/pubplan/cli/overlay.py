"""``pubplan overlay``: links that keep every topic connected, few at every node."""

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
    from pubplan.problems.overlay.measures import Measures

Eta = Annotated[
    int | None, typer.Option("--eta", help="Nodes with more topics are bulk. Default: at most a fifth of all are.")
]
Coverage = Annotated[
    int | None, typer.Option("--coverage", help="Representatives of a part for each of its topics. Default: 3.")
]
Parts = Annotated[
    int | None, typer.Option("--parts", help="Parts of the other nodes. Default: as many as take the least work.")
]
Effort = Annotated[
    float | None,
    typer.Option(
        "--effort", help="Work that dcbr-repair may spend on repair, in multiples of dcbr-m's. Default: 0.25."
    ),
]
Bound = Annotated[
    str | None,
    typer.Option("--bound", help="joins (the default, with forced and node beside it), forced, node or none."),
]

_OWN = ("eta", "coverage", "parts", "effort")


def overlay(
    workload: WorkloadPath,
    out: Out,
    eta: Eta = None,
    coverage: Coverage = None,
    parts: Parts = None,
    effort: Effort = None,
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
    """Link nodes so that every topic is connected and no node has many neighbours."""
    from pubplan.cli.parameters import set_parameters
    from pubplan.cli.planning import planning_session, read_options, solve_with
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free
    from pubplan.planning import PLAN
    from pubplan.problems.overlay import FAMILY, Problem, measures_of
    from pubplan.workload import read_workload

    options = read_options(FAMILY, parameters, {"method": method, "bound": bound}, {})
    check_apart(out, workload)
    check_free(out, marker=PLAN, replace=replace)
    opened = read_workload(workload)
    problem = Problem(opened)
    chosen = FAMILY.method_for(problem, options.get("method"))
    # All that can be refused is refused before Spark is started.
    set_parameters(chosen, options, set_, dict(zip(_OWN, (eta, coverage, parts, effort), strict=True)))
    FAMILY.bounds_for(problem, options.get("bound"))
    with planning_session(opened, check, quiet, master, conf) as spark:
        result = solve_with(
            FAMILY, problem, options, out=out, seed=seed, replace=replace, verify=not no_verify, spark=spark
        )
    measures = measures_of(result.plan)
    record = {**result.plan.record, "measures": measures.to_dict()}
    answer(record, "\n".join(_sentences(result, measures, out)), json)


def _sentences(result: Result, measures: Measures, out: Path) -> list[str]:
    from pubplan.cli.planning import last_sentence

    proven = "" if result.bound is None else f"; proven at least {result.bound:,.0f}"
    lines = [
        f"{measures.links:,} links connect every topic of {measures.nodes:,} nodes.",
        f"No node has more than {measures.maximum_degree:,} links{proven}. On average it has "
        f"{measures.mean_degree:.2f}.",
    ]
    if measures.mean_diameter is not None:
        lines.append(
            f"Nodes of a topic are at most {measures.worst_diameter} links apart, on average over topics "
            f"{measures.mean_diameter:.1f}."
        )
    if measures.unmeasured:
        lines.append(f"The distances of {measures.unmeasured:,} topics were too much to compute.")
    if measures.parts is not None:
        lines.append(_division_sentence(measures))
    lines += [f"Binding: {reason}." for reason in result.reasons]
    return [*lines, last_sentence(result, out)]


def _division_sentence(measures: Measures) -> str:
    stood = "all nodes"
    if measures.representatives is not None:
        stood = f"them and {measures.representatives:,} representatives (coverage {measures.coverage})"
    return (
        f"Divided: {measures.bulk:,} bulk nodes (more than {measures.eta} topics), {measures.light:,} others in "
        f"{measures.parts:,} parts, combined by {stood}."
    )
