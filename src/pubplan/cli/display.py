"""``pubplan show``: a plan once more, as it was answered when it was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubplan.cli.options import Json, PlanPath, Quiet, WorkloadOption

if TYPE_CHECKING:
    from pubplan.planning import Plan
    from pubplan.workload import Workload


def show(plan: PlanPath, workload: WorkloadOption = None, quiet: Quiet = False, json: Json = False) -> None:
    """Show what a plan says, as when it was made, and whether it is verified, unchanged and still fits its workload."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.show import answer
    from pubplan.planning import read_plan

    read = read_plan(plan)
    with showing_progress(quiet):
        read.check()
        opened, trouble = _workload_of(read, workload)
        is_fresh = None if opened is None else opened.digest == read.record["workload"]["digest"]
        facts, sentences = _summary(read, opened) if opened is not None and is_fresh else ({}, plain_sentences(read))
    state = {"path": str(plan), "unchanged": True, "fresh": is_fresh}
    lines = [*sentences, _state_sentence(read, opened, is_fresh, trouble)]
    answer({**read.record, **facts, **state}, "\n".join(lines), json)


def _workload_of(plan: Plan, given: Path | None) -> tuple[Workload | None, str]:
    """The workload of a plan, or None and why it cannot be opened; one that was given must be there."""
    from pubplan.api import workload_of
    from pubplan.cli.failures import sentence_of
    from pubplan.errors import InputError

    try:
        return workload_of(plan, given), ""
    except InputError as error:
        if given is not None:
            raise
        return None, sentence_of(error)


def _summary(plan: Plan, workload: Workload) -> tuple[dict[str, Any], list[str]]:
    """What was said when the plan was made."""
    from pubplan.api import open_plan
    from pubplan.planning import Result

    opened = open_plan(plan, workload)
    request = opened.family.request.from_plan(plan.record["parameters"])
    summary = request.summarise(opened.problem, Result(opened.problem, plan), None)
    return dict(summary.facts), list(summary.sentences)


def plain_sentences(plan: Plan) -> list[str]:
    """What a plan says without its workload."""
    from pubplan.text import number_down, number_up, percent_up

    record = plan.record
    best, worst = (number_down, number_up) if record["sense"] == "max" else (number_up, number_down)
    lines = [f"A plan of {plan.family} by {plan.method}: {best(record['objective'])} {record['unit']}."]
    if record["bound"] is not None:
        side = "more" if record["sense"] == "max" else "less"
        within = "" if record["gap"] is None else f": this one is within {percent_up(record['gap'])} of that"
        lines.append(f"No plan can have {side} than {worst(record['bound'])}{within}.")
    return lines


def _state_sentence(plan: Plan, workload: Workload | None, is_fresh: bool | None, trouble: str) -> str:
    """Whether the plan is verified, unchanged and fresh."""
    verified = "Verified when it was made" if plan.record["verified"] else "NOT verified"
    if workload is None:
        return f"{verified}, unchanged since. Whether it still fits its workload is not known. {trouble}"
    if is_fresh:
        return f"{verified}, unchanged since, and fresh: {workload.path} is the workload that it was made for."
    return f"{verified}, unchanged since. STALE: {workload.path} is another workload than it was made for. Plan again."
