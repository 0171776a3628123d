"""The table of ``pubplan select --json`` with several thresholds or capacities on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pubplan.pages.answer import is_number, is_threshold, threshold_cell, threshold_label
from pubplan.pages.frame import Chart, Section, Sheet, Table
from pubplan.pages.lines import Axis, Mark, lines_legend, lines_spec
from pubplan.text import number_down, number_up, percent, percent_up

NUMBERS = ("capacity_cost", "capacity_used", "total_cost", "topics_served", "satisfied", "satisfiable", "bound", "gap")
TEXTS = ("capacity_unit", "unit", "refused")

Case = Mapping[str, Any]


def section(cases: Sequence[Case], name: str) -> Section:
    """What every case satisfies, what cannot be done, and what each threshold gains from more capacity."""
    sentences = [
        f"{threshold_label(case['threshold'])}, capacity {_capacity(case)}: {case['refused']}.".capitalize()
        for case in cases
        if case["satisfied"] is None
    ]
    planned = [case for case in cases if case["satisfied"] is not None]
    return Section(f"What if: {name}", sentences, charts=[_sheet(cases), *_chart(planned)])


def _sheet(cases: Sequence[Case]) -> Sheet:
    header = ["threshold", "capacity", "per window", "satisfied", "share", "no plan beats", "gap", "topics served"]
    rows = [
        [
            threshold_cell(case["threshold"]),
            _capacity(case),
            "" if case["capacity_cost"] is None else f"{case['capacity_cost']:,} {case['capacity_unit']}",
            "" if case["satisfied"] is None else f"{number_down(case['satisfied'])} {case['unit']}",
            "" if not case["satisfiable"] else percent(case["satisfied"] / case["satisfiable"]),
            "" if case["bound"] is None else number_up(case["bound"]),
            "" if case["gap"] is None else percent_up(case["gap"]),
            "" if case["topics_served"] is None else f"{case['topics_served']:,}",
        ]
        for case in cases
    ]
    return Sheet("All cases", "What a plan for each threshold and capacity satisfies.", Table(header, rows))


def _chart(planned: Sequence[Case]) -> list[Chart]:
    """The satisfied share over the capacity, a line per threshold; nothing for a single capacity."""
    shown = [case for case in planned if case["satisfiable"] and case["total_cost"]]
    marks = [
        Mark(threshold_label(case["threshold"]), _percent_of_all(case), case["satisfied"] / case["satisfiable"])
        for case in sorted(shown, key=_percent_of_all)
    ]
    if len({mark.x for mark in marks}) < 2:
        return []
    y = Axis("satisfied", "%")
    rows = [[mark.line, f"{mark.x} %", percent(mark.y)] for mark in marks]
    return [
        Chart(
            title="Satisfied by capacity",
            caption="The share of the subscribers that a plan for each capacity satisfies; the capacity in percent of "
            "what all topics cost.",
            spec=lines_spec(marks, Axis("capacity, % of all"), y),
            legend=lines_legend(marks),
            table=Table(["", "capacity, % of all", "satisfied"], rows),
        )
    ]


def _percent_of_all(case: Case) -> float:
    return float(f"{100 * case['capacity_cost'] / case['total_cost']:.4g}")


def _capacity(case: Case) -> str:
    return f"{case['capacity']:,}" if isinstance(case["capacity"], int) else str(case["capacity"])


def is_case(case: object) -> bool:
    """Whether a value has the keys of a case, with numbers or nothing where numbers belong."""
    if not isinstance(case, dict) or not {"threshold", "capacity", *NUMBERS, *TEXTS} <= set(case):
        return False
    texts = all(case[key] is None or isinstance(case[key], str) for key in TEXTS)
    numbers = all(is_number(case[key]) for key in NUMBERS)
    return texts and numbers and is_threshold(case["threshold"]) and isinstance(case["capacity"], (str, int))
