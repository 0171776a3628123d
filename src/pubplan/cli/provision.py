"""``pubplan provision``: the cheapest fleet that satisfies everybody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import (
    Check,
    Conf,
    Json,
    Master,
    MethodName,
    NoVerify,
    ParameterFile,
    Quiet,
    Replace,
    Seed,
    SetParameter,
    WorkloadPath,
)

if TYPE_CHECKING:
    from pubplan.planning import Result
    from pubplan.problems.provision import Case, Problem, VmType

Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold", metavar="N[,N…]", help="Events per window that satisfy a subscriber; several: what if."
    ),
]
VmTypes = Annotated[
    str | None,
    typer.Option(
        "--vm-type",
        metavar="T[,T…]",
        help="VM types to choose from, such as paper-2013/c3.large (the default); see --catalogue.",
    ),
]
CatalogueFile = Annotated[
    Path | None,
    typer.Option(
        "--catalogue", metavar="FILE", help="TOML file with VM types and prices of your own; alone, all of its types."
    ),
]
PeakFactor = Annotated[
    str | None, typer.Option("--peak-factor", metavar="F", help="Peak to mean traffic, at least 1 (the default).")
]
Headroom = Annotated[
    str | None, typer.Option("--headroom", metavar="SHARE", help="Share of a VM's line to leave free, such as 20%.")
]
WindowLength = Annotated[
    str | None,
    typer.Option("--window", metavar="LENGTH", help="What rates are counted over, such as 10d, 240h or 864000s."),
]
MessageBytes = Annotated[
    int | None, typer.Option("--message-bytes", metavar="N", help="Size of all messages. Default: each topic's own.")
]
RateFactor = Annotated[
    str | None, typer.Option("--rate-factor", metavar="F[,F…]", help="Multiplies all rates; several: what if.")
]
Budget = Annotated[
    str | None, typer.Option("--budget", metavar="DOLLARS", help="Is there a plan that costs at most this per window?")
]
WhatIf = Annotated[
    bool, typer.Option("--what-if", help="A table of costs and bounds per VM type instead of a plan; without --out.")
]
Bound = Annotated[str | None, typer.Option("--bound", help="prices (the default), mandatory, outgoing, paper or none.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to write the plan; must not exist yet.")]

_NUMBER = (str, int, float)
_KINDS: dict[str, tuple[type, ...]] = {
    "threshold": (int, list),
    "vm_type": (str, list),
    "catalogue": (str,),
    "peak_factor": _NUMBER,
    "headroom": _NUMBER,
    "window": _NUMBER,
    "message_bytes": (int,),
    "rate_factor": (*_NUMBER, list),
    "budget": _NUMBER,
}
_SECONDS = {"": 1, "s": 1, "h": 3600, "d": 86_400}


def provision(
    workload: WorkloadPath,
    out: Out = None,
    threshold: Threshold = None,
    vm_type: VmTypes = None,
    catalogue: CatalogueFile = None,
    peak_factor: PeakFactor = None,
    headroom: Headroom = None,
    window: WindowLength = None,
    message_bytes: MessageBytes = None,
    rate_factor: RateFactor = None,
    budget: Budget = None,
    what_if: WhatIf = False,
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
    """Rent the fleet that satisfies every subscriber at the least cost, and place every pair on a VM.

    With several thresholds or rate factors, or with --what-if: a table of what each would cost, and no plan.
    """
    from pubplan.cli.parameters import set_parameters
    from pubplan.cli.planning import planning_session, read_options, solve_with
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free
    from pubplan.errors import InputError, unknown_name
    from pubplan.planning import PLAN
    from pubplan.problems.provision import FAMILY, Problem
    from pubplan.problems.provision.methods import DEFAULT_METHOD
    from pubplan.workload import read_workload

    given = {
        "threshold": threshold,
        "vm_type": vm_type,
        "catalogue": None if catalogue is None else str(catalogue),
        "peak_factor": peak_factor,
        "headroom": headroom,
        "window": window,
        "message_bytes": message_bytes,
        "rate_factor": rate_factor,
        "budget": budget,
        "method": method,
        "bound": bound,
    }
    options = read_options(FAMILY, parameters, given, _KINDS)
    thresholds, factors, asked = _asked(options)
    is_table = what_if or len(thresholds) > 1 or len(factors) > 1
    if is_table and out is not None:
        raise InputError("What-if writes no plan: leave out --out, or ask for one threshold and one rate factor.")
    if out is None:
        if not is_table:
            raise InputError("No --out: say where to write the plan, or ask for a table with --what-if.")
        name = options.setdefault("method", DEFAULT_METHOD)
        if name not in FAMILY.methods:
            raise InputError(unknown_name("method of provision", name, FAMILY.methods))
        set_parameters(FAMILY.methods[name], options, set_)
        _print_table(workload, thresholds, factors, asked, options, seed, check, quiet, json, master, conf)
        return
    check_apart(out, workload)
    check_free(out, marker=PLAN, replace=replace)
    opened = read_workload(workload)
    problem = Problem(opened, threshold=thresholds[0], rate_factor=factors[0], **asked)
    # All that can be refused is refused before Spark is started.
    set_parameters(FAMILY.method_for(problem, options.get("method")), options, set_)
    FAMILY.bounds_for(problem, options.get("bound"))
    with planning_session(opened, check, quiet, master, conf) as spark:
        result = solve_with(
            FAMILY, problem, options, out=out, seed=seed, replace=replace, verify=not no_verify, spark=spark
        )
    answer(dict(result.plan.record), "\n".join(_sentences(problem, result, out)), json)


def _asked(options: dict[str, Any]) -> tuple[list[int | None], list[Any], dict[str, Any]]:
    """Thresholds, rate factors, and what else the problem takes."""
    from pubplan.cli.planning import listed, whole_number

    thresholds: list[int | None] = [whole_number("threshold", value) for value in listed(options.get("threshold"))]
    asked: dict[str, Any] = {
        name: options[name] for name in ("peak_factor", "message_bytes", "budget") if name in options
    }
    if "headroom" in options:
        asked["headroom"] = str(options["headroom"])
    if "window" in options:
        asked["window_seconds"] = _seconds(str(options["window"]))
    vm_types = _vm_types(options)
    if vm_types is not None:
        asked["vm_types"] = vm_types
    return thresholds or [None], listed(options.get("rate_factor")) or [1], asked


def _seconds(text: str) -> str:
    """The length of a window in seconds, exactly."""
    from pubplan.errors import InputError, one_line

    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([shd]?)", text.strip())
    if match is None:
        raise InputError(f"The window is a length such as 10d, 240h, 864000s or 864000, not '{one_line(text)}'.")
    return format(Decimal(match[1]) * _SECONDS[match[2]], "f")


def _vm_types(options: dict[str, Any]) -> Sequence[VmType] | None:
    """The VM types named; all of a catalogue file where none is named; None for the default."""
    from pubplan.cli.planning import listed
    from pubplan.problems.provision import find_vm_types
    from pubplan.problems.provision.catalogue import read_catalogue

    path = Path(options["catalogue"]) if "catalogue" in options else None
    names = [str(name) for name in listed(options.get("vm_type"))]
    if names:
        return find_vm_types(names, path)
    return None if path is None else tuple(read_catalogue(path).values())


def _print_table(
    path: Path,
    thresholds: Sequence[int | None],
    factors: Sequence[Any],
    asked: dict[str, Any],
    options: dict[str, Any],
    seed: int,
    check: bool,
    quiet: bool,
    json: bool,
    master: str | None,
    conf: list[str] | None,
) -> None:
    from pubplan.cli.planning import planning_session
    from pubplan.cli.show import answer
    from pubplan.problems.provision import what_if as run
    from pubplan.workload import read_workload

    opened = read_workload(path)
    method = options["method"]
    with planning_session(opened, check, quiet, master, conf) as spark:
        found = run(
            opened,
            thresholds=thresholds,
            rate_factors=factors,
            method=method,
            parameters=options.get(method),
            bound=options.get("bound"),
            seed=seed,
            spark=spark,
            **asked,
        )
    answer([case.to_dict() for case in found], _table(found), json)


def _table(found: Sequence[Case]) -> str:
    """The cases under each other; those without a fleet say why below."""
    from pubplan.cli.show import aligned
    from pubplan.errors import one_line
    from pubplan.problems.provision.words import dollars_down, dollars_up, traffic
    from pubplan.report.frame import percent_up

    rows = [["threshold", "rates x", "VM type", "cost", "VMs", "bandwidth", "no plan below", "gap"]]
    notes: list[str] = []
    for case in found:
        asked = ["its own" if case.threshold is None else f"{case.threshold:,}", case.rate_factor, case.vm_type]
        if case.cost is None or case.vms is None or case.bandwidth is None:
            notes.append(one_line(f"[{len(notes) + 1}] {case.refused}", longest=1000))
            rows.append([*asked, f"none [{len(notes)}]", "", "", "", ""])
            continue
        bound = "" if case.bound is None else dollars_down(case.bound)
        gap = "" if case.gap is None else percent_up(case.gap)
        rows.append([*asked, dollars_up(case.cost), f"{case.vms:,}", traffic(case.bandwidth), bound, gap])
    return "\n".join([*aligned(rows, left=(2,)), *notes])


def _sentences(problem: Problem, result: Result, out: Path) -> list[str]:
    from pubplan.cli.planning import last_sentence
    from pubplan.problems.provision import TYPES
    from pubplan.problems.provision.words import counted, dollars_down, dollars_up, duration, traffic
    from pubplan.report.frame import percent_up

    types = result.plan.decisions(TYPES).to_pylist()
    chosen = next(row for row in types if row["chosen"])
    subscribers = problem.workload.counts.subscribers
    lines = [
        f"{counted(chosen['vms'], 'VM')} of {chosen['type']} {'satisfies' if chosen['vms'] == 1 else 'satisfy'} all "
        f"{counted(subscribers, 'subscriber')} for {dollars_up(chosen['cost'])} per "
        f"{duration(float(problem.seconds))}.",
        f"That is {dollars_up(chosen['vm_cost'])} for the VMs, {dollars_up(chosen['incoming_cost'])} for "
        f"{traffic(chosen['incoming'])} in and {dollars_up(chosen['outgoing_cost'])} for "
        f"{traffic(chosen['outgoing'])} out.",
    ]
    if chosen["vms"]:
        lines.append(_fill_sentence(result, chosen["limit"]))
    for row in types:
        if row["refused"]:
            lines.append(f"{row['type']} cannot do it: {row['refused']}.")
        elif not row["chosen"]:
            lines.append(f"{row['type']} would cost {dollars_up(row['cost'])} with {counted(row['vms'], 'VM')}.")
    if result.bound is not None:
        below = dollars_down(_least(result))
        near = "" if result.gap is None else f": this one is within {percent_up(result.gap)} of that"
        lines.append(f"No plan costs less than {below}{near}.")
    if problem.budget_micros is not None:
        lines.append(_budget_sentence(problem.budget_micros, result))
    told = [reason for reason in result.reasons if not reason.limit.startswith("budget")]
    lines += [f"{'Binding' if reason.limit == 'bytes per VM' else 'Note'}: {reason}." for reason in told]
    return [*lines, last_sentence(result, out)]


def _fill_sentence(result: Result, limit: int) -> str:
    """How full the VMs are, and how many topics are on several of them."""
    from pubplan.cli.show import percent
    from pubplan.problems.provision import SPLITS, VMS
    from pubplan.problems.provision.words import traffic

    fill = result.plan.decisions(VMS)["used"].to_numpy() / limit
    if len(fill) == 1:
        return f"The VM is {percent(fill[0])} full; it may carry {traffic(limit)}."
    num_split = len(set(result.plan.decisions(SPLITS)["topic"].to_pylist()))
    split = {0: "no topic is", 1: "1 topic is"}.get(num_split, f"{num_split:,} topics are")
    return (
        f"The VMs are {percent(fill.mean())} full, from {percent(fill.min())} to {percent(fill.max())} of the "
        f"{traffic(limit)} that each may carry; {split} on several VMs."
    )


def _least(result: Result) -> int:
    """The best bound, in micro-dollars."""
    return max(result.plan.certificate(name).bound.value for name in result.bounds)


def _budget_sentence(budget: int, result: Result) -> str:
    from pubplan.problems.provision.words import dollars_down, dollars_up

    cost, limit = dollars_up(result.exact.value), dollars_down(budget)
    if result.exact.value <= budget:
        return f"Yes: this plan costs {cost}, within the budget of {limit}."
    if result.bound is None:
        return f"Undecided: this plan costs {cost}, above the budget of {limit}, and no bound was asked for."
    return (
        f"Undecided: this plan costs {cost}, above the budget of {limit}, but only plans below "
        f"{dollars_down(_least(result))} are ruled out."
    )
