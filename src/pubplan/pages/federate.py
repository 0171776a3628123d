"""Plans of ``federate`` on the page: what they cost by part, how full brokers are, and what goes between them."""

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
from pubplan.pages.federate_charts import ACCESS, CORE, costs, fills, load_bars, traffic_drawing
from pubplan.pages.federate_lists import busiest_brokers, busiest_channels, busiest_links
from pubplan.pages.federate_tables import Tables
from pubplan.pages.frame import Section
from pubplan.planning import Plan
from pubplan.problems.federate import FAMILY
from pubplan.problems.federate.money import money_up
from pubplan.problems.federate.summary import per_month
from pubplan.text import counted, digits_down, listed
from pubplan.workload import CONTENT, Workload

ASKED = ("channels", "cut", "routing", "cost", "message_bytes")
"""The parameters of a plan that are not its method's."""

REFERENCE = "random"
"""The method that cost reduction ratios compare with."""

CUTS = {"width": "ranges of equal width", "traffic": "ranges with equal traffic"}
ROUTINGS = {
    "spanning": "a spanning tree per channel",
    "steiner": "a Steiner tree per channel, over other brokers where that is cheaper",
    "acyclic": "one tree for all channels",
}
COSTS = {
    "shared": "a message crosses a link once",
    "replicating": "a message crosses a link once for every subscriber behind it",
}


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each, with its loads, its traffic and lists."""
    read = [Tables.read(plan, workload_of(plan, workloads, CONTENT)) for plan in plans]
    names = labels(plans)
    ratios = reduction_ratios(read)
    of_plans = [
        section(tables, name, ratio, f"federate-{number + 1}")
        for number, (tables, name, ratio) in enumerate(zip(read, names, ratios, strict=True))
    ]
    return assembled(FAMILY.question, of_plans, [*costs(read, names), *fills(read, names)])


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan, no two the same: the method, and what was asked where plans differ in it."""
    values = [plan.record["parameters"] for plan in plans]
    differing = [name for name in ("routing", "cost", "channels") if len({str(each[name]) for each in values}) > 1]
    words = {"channels": "{} channels"}
    return told_apart(
        [
            ", ".join([plan.method, *(words.get(name, "{}").format(each[name]) for name in differing)])
            for plan, each in zip(plans, values, strict=True)
        ],
        plans,
    )


def reduction_ratios(read: Sequence[Tables]) -> list[Fraction | None]:
    """How many times as much as each plan costs a random one does that answers the same; None where there is none."""
    references: dict[str, Fraction] = {}
    for tables in read:
        if tables.plan.method == REFERENCE:
            references.setdefault(_question(tables.plan), tables.total)
    pairs = [(references.get(_question(tables.plan)), tables.total) for tables in read]
    return [None if reference is None or not total else reference / total for reference, total in pairs]


def _question(plan: Plan) -> str:
    asked = [plan.record["parameters"][name] for name in ASKED]
    return repr([plan.record["workload"]["digest"], *asked])


def section(tables: Tables, name: str, ratio: Fraction | None = None, anchor: str = "") -> Section:
    """What a plan costs, how far from the best that can be, and who exchanges how much with whom."""
    plan, measures = tables.plan, tables.measures
    facts = {
        "messages": f"{measures.messages:,} per window that somebody wants; {measures.forwarded:,} cross "
        f"{counted(measures.links, 'link')}",
        "channels": f"{measures.live_channels:,} of {measures.channels:,} carry messages",
        "bounds": listed([f"{bound} {value:,.6g}" for bound, value in plan.record["bounds"].items()]),
        "binding": "; ".join(reasons_of(plan)) or "nothing",
    }
    return Section(
        name,
        sentences_of(plan, tables.workload),
        figures=figures(tables, ratio),
        facts=facts,
        is_good=bool(plan.record["verified"]),
        charts=[
            *traffic_drawing(tables),
            *load_bars(tables),
            *busiest_links(tables),
            *busiest_channels(tables),
            *busiest_brokers(tables),
        ],
        asked=asked(plan),
        digests=digests_of(plan),
        anchor=anchor,
    )


def figures(tables: Tables, ratio: Fraction | None = None) -> dict[str, str]:
    """Cost with its parts, bound, clients, and how many times as much a random plan costs."""
    access, core, together = tables.bill
    measures = tables.measures
    seconds = None if tables.workload is None else tables.workload.manifest.window.seconds
    monthly = {} if seconds is None else {"cost per month": money_up(per_month(tables.total, seconds))}
    reduction = {} if ratio is None else {"cost reduction ratio": digits_down(float(ratio))}
    return {
        "cost per window": together,
        **monthly,
        ACCESS: access,
        CORE: core,
        "no plan costs less than": tables.bound,
        "gap": gap_of(tables.plan),
        **reduction,
        "clients": f"{sum(measures.clients):,} on {measures.used_brokers:,} of {measures.brokers:,} brokers",
        "verdict": verdict_of(tables.plan),
    }


def asked(plan: Plan) -> dict[str, str]:
    """Everything that the plan was asked, and how it was planned."""
    parameters: dict[str, Any] = plan.record["parameters"]
    return {
        "channels": f"at most {parameters['channels']}, {CUTS[parameters['cut']]}",
        "routing": ROUTINGS[parameters["routing"]],
        "traffic": COSTS[parameters["cost"]],
        "message size": counted(parameters["message_bytes"], "byte"),
        **how_planned(plan, ASKED),
    }
