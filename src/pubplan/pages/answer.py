"""What every section of a plan begins with: its answer in sentences, and what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import TypeVar

from pubplan.errors import InputError, Reason
from pubplan.pages.frame import Chart, Link, Section, Sheet, Table
from pubplan.planning import Plan, Result
from pubplan.problems import family_named, problem_of
from pubplan.text import percent_up
from pubplan.workload import ALL_EVENTS, Kind, Threshold, Workload, read_workload, require_kind

UNKNOWN = "unknown"

W = TypeVar("W", bound=Workload)

MAX_NOTE_CHARACTERS = 90
"""Of what was asked, beside a plan's name; its section has all."""


def workload_of(plan: Plan, workloads: Sequence[Workload], kind: Kind[W]) -> W | None:
    """The workload that a plan was made for: one of ``workloads``, else the one where it was then, if it still is."""
    digest = plan.record["workload"]["digest"]
    given = next((workload for workload in workloads if workload.digest == digest), None)
    try:
        path = plan.workload_path()
        opened = given if given is not None or path is None else read_workload(path)
        required = None if opened is None else require_kind(opened, kind, plan.family)
    except InputError:
        return None
    return required if required is not None and required.digest == digest else None


def sentences_of(plan: Plan, workload: Workload | None) -> list[str]:
    """What the command that planned said about the plan; less without its workload.

    Raises:
        InputError: the plan's parameters or tables are damaged.
    """
    family = family_named(plan.family)
    if workload is None:
        return [
            "The workload of this plan is not where it was: pass it to the report too, and the page says what share of "
            "it the plan covers.",
            *(f"{'Broken' if reason.limit in family.breakable else 'Binding'}: {reason}." for reason in _reasons(plan)),
        ]
    problem = problem_of(plan, workload)
    request = family.request.from_plan(plan.record["parameters"])
    return list(request.summarise(problem, Result(problem, plan), None).sentences)


def reasons_of(plan: Plan) -> list[str]:
    return [str(reason) for reason in _reasons(plan)]


def _reasons(plan: Plan) -> list[Reason]:
    return [Reason(**reason) for reason in plan.record["reasons"]]


def verdict_of(plan: Plan) -> str:
    return "verified" if plan.record["verified"] else "not verified"


def gap_of(plan: Plan) -> str:
    return UNKNOWN if plan.record["gap"] is None else percent_up(plan.record["gap"])


def how_planned(plan: Plan, problem_parameters: Sequence[str]) -> dict[str, str]:
    """The method with its parameters, the bounds and the seed."""
    of_method = {name: value for name, value in plan.record["parameters"].items() if name not in problem_parameters}
    given = ", ".join(f"{name} {'chosen' if value is None else value}" for name, value in of_method.items())
    return {
        "method": f"{plan.method} ({given})" if given else plan.method,
        "bounds computed": ", ".join(plan.record["bounds"]) or "none",
        "seed": f"{plan.record['seed']}",
    }


def threshold_of(plan: Plan) -> str:
    """What satisfies a subscriber."""
    threshold = plan.record["parameters"]["threshold"]
    if threshold == ALL_EVENTS:
        return "all events that it asked for"
    return "each subscriber's, as in the workload" if threshold is None else f"{threshold:,} events per window"


def told_apart(names: Sequence[str], plans: Sequence[Plan]) -> list[str]:
    """The names of plans, with the directory where several have the same, and a number where that is not enough."""
    longer = [
        name if names.count(name) == 1 else f"{name} ({plan.path.name})"
        for name, plan in zip(names, plans, strict=True)
    ]
    return [
        name if longer.count(name) == 1 else f"{name} {longer[: at + 1].count(name)}" for at, name in enumerate(longer)
    ]


def label_of_threshold(plan: Plan) -> str:
    """The same in the name of a plan."""
    return threshold_label(plan.record["parameters"]["threshold"])


def threshold_label(threshold: Threshold) -> str:
    """A threshold in the names of plans and cases."""
    if threshold == ALL_EVENTS:
        return "threshold: all events"
    return "thresholds by subscriber" if threshold is None else f"threshold {threshold:,}"


def threshold_cell(threshold: Threshold) -> str:
    """The same in a table."""
    if threshold == ALL_EVENTS:
        return "all events"
    return "by subscriber" if threshold is None else f"{threshold:,}"


def is_threshold(value: object) -> bool:
    """Whether a value of a file can stand for a threshold."""
    return value == ALL_EVENTS or is_number(value)


def is_number(value: object) -> bool:
    """Whether a value of a file is a number that can be shown, or nothing."""
    return value is None or (isinstance(value, (int, float)) and abs(value) < 1e15)


def at_thresholds(plans: Sequence[Plan]) -> list[Plan]:
    """The plans that stand on an axis of thresholds: those with one number for all subscribers."""
    return [plan for plan in plans if isinstance(plan.record["parameters"]["threshold"], int)]


def digests_of(plan: Plan) -> dict[str, str]:
    return {"plan": plan.digest, "workload": str(plan.record["workload"]["digest"])}


def assembled(question: str, of_plans: Sequence[Section], charts: Sequence[Chart]) -> list[Section]:
    """A single plan with all charts under the question; several behind a table that compares them and the charts."""
    if len(of_plans) == 1:
        (only,) = of_plans
        return [replace(only, heading=question, subtitle=only.heading, charts=[*charts, *only.charts])]
    overview = Section(question, charts=[comparison(of_plans), *charts])
    return [overview, *of_plans]


def comparison(of_plans: Sequence[Section]) -> Sheet:
    """The figures of every plan, and below its name what it was asked that most of them were not."""
    figures = _keys([section.figures for section in of_plans])
    usual = _usual([section.asked for section in of_plans])
    rows: list[list[str]] = []
    for section in of_plans:
        unusual = [f"{key}: {value}" for key, value in section.asked.items() if usual.get(key) != value]
        note = "; ".join(shorten(text, MAX_NOTE_CHARACTERS, placeholder=" …") for text in unusual)
        rows.append([Link(section.heading, section.anchor, note), *(section.figures.get(key, "") for key in figures)])
    caption = f"{len(of_plans)} plans; each has a section below."
    if any(isinstance(row[0], Link) and row[0].note for row in rows):
        caption += " Below a name: what was asked otherwise than for most."
    return Sheet("The plans compared", caption, Table(["plan", *figures], rows, has_wholes=True))


def _usual(mappings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The value that more than half of all have, by key."""
    values = {key: Counter(mapping[key] for mapping in mappings if key in mapping) for key in _keys(mappings)}
    most = {key: counts.most_common(1)[0] for key, counts in values.items()}
    return {key: value for key, (value, number) in most.items() if 2 * number > len(mappings)}


def _keys(mappings: Sequence[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))
