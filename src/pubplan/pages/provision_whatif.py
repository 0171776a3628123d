"""The table of ``pubplan provision --what-if --json`` on the page: what every case costs, the cheapest marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pubplan.pages.answer import is_number, is_threshold, threshold_cell, threshold_label
from pubplan.pages.bars import bars_legend, bars_spec
from pubplan.pages.frame import Chart, Marked, Section, Sheet, Table
from pubplan.pages.lists import MIN_SEARCHABLE_ROWS
from pubplan.problems.provision.catalogue import MICROS
from pubplan.text import dollars_proven, dollars_up, percent_up

KEYS = ("threshold", "rate_factor", "vm_type", "cost", "vms", "bound", "gap", "refused")
"""What every case has; ``cost_per_month`` too where the window was known."""

MAX_SENTENCES = 3
"""Up to this many questions are answered one by one; more in a sentence per VM type that is the cheapest."""

MAX_BARS = 60

CHEAPEST, PER_WINDOW = "cheapest", "dollars per window"

Case = Mapping[str, Any]


def section(cases: Sequence[Case], name: str) -> Section:
    """What the cheapest VM type of each question is, what cannot be done, then a grid, all cases and their bars."""
    cheapest = _cheapest(cases)
    sentences = _overview(cheapest) if len(cheapest) > MAX_SENTENCES else [_sentence(case) for case in cheapest]
    sentences += [
        f"{_question(case).capitalize()}: {case['vm_type']} cannot do it: {case['refused']}."
        for case in cases
        if case["cost"] is None
    ]
    charts: list[Chart | Sheet] = [*_grid(cases, cheapest), _sheet(cases, cheapest), *_bars(cases, cheapest)]
    return Section(f"What if: {name}", sentences, charts=charts)


def _sentence(case: Case) -> str:
    per_month = f" or {_dollars(case['cost_per_month'])} per month" if "cost_per_month" in case else ""
    return (
        f"{_question(case).capitalize()}: {case['vm_type']} is the cheapest, at {_dollars(case['cost'])} per window"
        f"{per_month}."
    )


def _overview(cheapest: Sequence[Case]) -> list[str]:
    """Which types are the cheapest of how many questions, and for what; the grid has every question."""
    by_type: dict[str, list[Case]] = {}
    for case in cheapest:
        by_type.setdefault(case["vm_type"], []).append(case)
    lines = []
    for vm_type, won in sorted(by_type.items(), key=lambda entry: -len(entry[1])):
        key = "cost_per_month" if all("cost_per_month" in case for case in won) else "cost"
        costs = [case[key] for case in won]
        number = f"all {len(cheapest):,}" if len(won) == len(cheapest) else f"{len(won):,} of {len(cheapest):,}"
        least, most = _dollars(min(costs)), _dollars(max(costs))
        span = least if least == most else f"{least} to {most}"
        per = "window" if key == "cost" else "month"
        lines.append(f"{vm_type} is the cheapest in {number} questions, for {span} per {per}.")
    return lines


def _grid(cases: Sequence[Case], cheapest: Sequence[Case]) -> list[Sheet]:
    """Questions against VM types, of which there are fewer beside each other; nothing where there is one of either."""
    types = list(dict.fromkeys(case["vm_type"] for case in cases))
    questions = list(dict.fromkeys(map(_question, cases)))
    if len(types) < 2 or len(questions) < 2:
        return []
    key = "cost_per_month" if any("cost_per_month" in case for case in cases) else "cost"
    cells = {(_question(case), case["vm_type"]): _dollars(case.get(key)) or "cannot" for case in cases}
    for best in cheapest:
        at = _question(best), best["vm_type"]
        cells[at] = Marked(cells[at], CHEAPEST)
    if len(types) > len(questions):
        header = ["VM type", *questions]
        rows = [[vm_type, *(cells.get((question, vm_type), "") for question in questions)] for vm_type in types]
    else:
        header = ["question", *types]
        rows = [[question, *(cells.get((question, vm_type), "") for vm_type in types)] for question in questions]
    title = "Cost per month" if key == "cost_per_month" else "Cost per window"
    caption = "What each VM type would cost for every threshold and rate factor; the cheapest is marked."
    return [Sheet(f"{title} by VM type", caption, Table(header, rows))]


def _bars(cases: Sequence[Case], cheapest: Sequence[Case]) -> list[Chart]:
    """The cost of every case, or of the cheapest only where there are many."""
    questions = list(dict.fromkeys(map(_question, cases)))
    feasible = [case for case in cases if case["cost"] is not None]
    feasible.sort(key=lambda case: (questions.index(_question(case)), case["cost"]))
    is_capped = len(feasible) > MAX_BARS
    bars = [
        (f"{_question(case)}, {case['vm_type']}", CHEAPEST if is_best else "others", float(case["cost"]))
        for case in feasible
        for is_best in [any(case is best for best in cheapest)]
        if is_best or not is_capped
    ]
    if not bars:
        return []
    caption = "What the fleet of each case costs, the cheapest first." + (
        " Of many cases, the cheapest only." if is_capped else ""
    )
    table = Table(["case", PER_WINDOW], [[name, _dollars(value)] for name, _, value in bars])
    return [Chart("Cost of every case", caption, bars_spec(bars, PER_WINDOW), table, bars_legend(bars))]


def _sheet(cases: Sequence[Case], cheapest: Sequence[Case]) -> Sheet:
    has_months = any("cost_per_month" in case for case in cases)
    rows = []
    for case in cases:
        mark = f" ({CHEAPEST})" if any(case is best for best in cheapest) else ""
        row = [
            case["vm_type"] + mark,
            threshold_cell(case["threshold"]),
            f"{case['rate_factor']}",
            _dollars(case["cost"]),
        ]
        row += [_dollars(case.get("cost_per_month"))] if has_months else []
        row += [
            "" if case["vms"] is None else f"{case['vms']:,}",
            "" if case["bound"] is None else dollars_proven(_micros(case["bound"]), _micros(case["cost"] or 0)),
            "" if case["gap"] is None else percent_up(case["gap"]),
        ]
        rows.append(row)
    months = ["cost per month"] if has_months else []
    header = ["VM type", "threshold", "rates x", "cost per window", *months, "VMs", "no plan is below", "gap"]
    caption = "For every threshold and rate factor, the cheapest VM type is marked."
    return Sheet("All cases", caption, Table(header, rows), is_searchable=len(rows) >= MIN_SEARCHABLE_ROWS)


def _cheapest(cases: Sequence[Case]) -> list[Case]:
    """The case of least cost for every threshold and rate factor that has one."""
    best: dict[tuple[Any, Any], Case] = {}
    for case in cases:
        key = (case["threshold"], case["rate_factor"])
        if case["cost"] is not None and (key not in best or case["cost"] < best[key]["cost"]):
            best[key] = case
    return list(best.values())


def _question(case: Case) -> str:
    return f"{threshold_label(case['threshold'])}, rates x {case['rate_factor']}"


def _dollars(value: float | None) -> str:
    return "" if value is None else dollars_up(_micros(value))


def _micros(dollars: float) -> int:
    return round(dollars * MICROS)


def is_case(case: object) -> bool:
    """Whether a value has the keys of a case, with numbers or nothing where numbers belong."""
    if not isinstance(case, dict) or not set(KEYS) <= set(case):
        return False
    numbers = [case[key] for key in ("cost", "vms", "bound", "gap")] + [case.get("cost_per_month")]
    texts = isinstance(case["vm_type"], str) and isinstance(case["refused"], str)
    return texts and is_threshold(case["threshold"]) and all(map(is_number, numbers))
