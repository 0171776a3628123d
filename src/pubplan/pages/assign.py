"""Plans of ``assign`` on the page: bandwidth, loads and delays, what was asked, and which brokers stand out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from pubplan.pages.answer import (
    assembled,
    digests_of,
    gap_of,
    how_planned,
    reasons_of,
    sentences_of,
    told_apart,
    verdict_of,
    workload_of,
)
from pubplan.pages.assign_charts import bandwidths, boxes_chart, delays, fills, serving_map
from pubplan.pages.assign_lists import busiest_leaves, largest_filters
from pubplan.pages.assign_tables import Tables
from pubplan.pages.frame import Section
from pubplan.planning import Plan
from pubplan.problems.assign import FAMILY
from pubplan.problems.assign.summary import used_leaves
from pubplan.text import counted, factor_up, listed, percent
from pubplan.workload import CONTENT, Workload

ASKED = ("boxes", "max_delay", "load", "max_load", "hop")
"""The parameters of a plan that are not its method's."""

BROKEN_NOUNS = {"latency broken": "client", "load broken": "leaf"}


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each, with boxes, a map and lists."""
    read = [Tables.read(plan, workload_of(plan, workloads, CONTENT)) for plan in plans]
    names = labels(plans)
    charts = [*bandwidths(read, names), *fills(read, names), *delays(read, names)]
    of_plans = [
        section(tables, name, f"assign-{number + 1}")
        for number, (tables, name) in enumerate(zip(read, names, strict=True))
    ]
    return assembled(FAMILY.question, of_plans, charts)


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan, no two the same: the method, and the delay where plans differ in it."""
    delays = [_delay_in_short(plan.record["parameters"]) for plan in plans]
    if len(set(delays)) == 1:
        return told_apart([plan.method for plan in plans], plans)
    return told_apart([f"{plan.method}, {delay}" for plan, delay in zip(plans, delays, strict=True)], plans)


def section(tables: Tables, name: str, anchor: str = "") -> Section:
    """How much goes into brokers, how far from the best that can be, and which limits are kept how well."""
    plan, measured = tables.plan, tables.measured
    most_boxes = tables.brokers.num_rows * plan.record["parameters"]["boxes"]
    facts = {
        "bandwidth": f"{plan.record['objective']:,.0f} {plan.record['unit']}",
        **_by_level(tables),
        "root mean square of delays": "unknown" if measured is None else percent(measured.measures.rms_delay),
        "boxes": f"{tables.num_boxes.sum():,} of at most {most_boxes:,}",
        "bounds": listed([f"{bound} {value:,.0f}" for bound, value in plan.record["bounds"].items()]),
        "binding or broken": "; ".join(reasons_of(plan)) or "nothing",
    }
    return Section(
        name,
        sentences_of(plan, None if measured is None else measured.workload),
        figures=figures(tables),
        facts=facts,
        is_good=bool(plan.record["verified"]),
        charts=[
            *boxes_chart(tables),
            *serving_map(tables),
            *busiest_leaves(tables),
            *largest_filters(tables),
        ],
        asked=asked(plan),
        digests=digests_of(plan),
        anchor=anchor,
    )


def figures(tables: Tables) -> dict[str, str]:
    """Bandwidth, bound, loads and delays, each with what it is a part of or may be at most."""
    parameters, measured = tables.plan.record["parameters"], tables.measured
    num_brokers = tables.brokers.num_rows
    shown = {
        f"brokers per {measured.event} on average" if measured else "bandwidth": tables.average(tables.plan.exact.value)
        + (f" of {num_brokers:,}" if measured else ""),
        "no assignment is below": tables.bound(),
        "gap": gap_of(tables.plan),
        "limits broken": broken(tables.plan),
    }
    if measured is not None:
        measures = measured.measures
        shown |= {
            "load factor": f"{factor_up(measures.load_factor)} of at most {parameters['max_load']}",
            "largest delay": percent(measures.largest_delay) + _at_most(parameters),
            "clients": f"{measures.clients:,} on {used_leaves(measures)} leaves",
        }
    return shown | {"verdict": verdict_of(tables.plan)}


def broken(plan: Plan) -> str:
    """The limits that a plan says it breaks, and for how many."""
    stated = [reason for reason in plan.record["reasons"] if reason["limit"] in FAMILY.breakable]
    texts = [f"{reason['limit'].removesuffix(' broken')} ({_how_many(reason)})" for reason in stated]
    return ", ".join(texts) or "none"


def _how_many(reason: dict[str, Any]) -> str:
    """2 clients, 1 leaf, 3 leaves."""
    noun, number = BROKEN_NOUNS[reason["limit"]], int(reason["have"])
    return f"{number:,} leaves" if noun == "leaf" and number != 1 else counted(number, noun)


def asked(plan: Plan) -> dict[str, str]:
    """Everything that the plan was asked, and how it was planned."""
    parameters = plan.record["parameters"]
    return {
        "boxes per filter": f"at most {parameters['boxes']}",
        "delay": _delay(parameters),
        "load factor": f"{parameters['load']} if possible, at most {parameters['max_load']}",
        "latency": "the whole path from the publisher" if parameters["hop"] == "path" else "the last hop to the client",
        **how_planned(plan, ASKED),
    }


def _delay(parameters: dict[str, Any]) -> str:
    delay = parameters["max_delay"]
    if delay is None:
        return "each client's limit, as in the workload"
    return "any" if delay == "none" else f"at most {percent(float(Fraction(delay)))} more than the shortest way"


def _delay_in_short(parameters: dict[str, Any]) -> str:
    delay = parameters["max_delay"]
    return "limits by client" if delay is None else "any delay" if delay == "none" else f"max delay {delay}"


def _at_most(parameters: dict[str, Any]) -> str:
    delay = parameters["max_delay"]
    return "" if delay in (None, "none") else f" of at most {percent(float(Fraction(delay)))}"


def _by_level(tables: Tables) -> dict[str, str]:
    """Bandwidth by level, where the tree has several."""
    measured = tables.measured
    if measured is None or len(measured.measures.by_level) < 2:
        return {}
    parts = [f"level {level + 1}: {tables.average(value)}" for level, value in enumerate(measured.measures.by_level)]
    return {f"brokers per {measured.event} by level": ", ".join(parts)}
