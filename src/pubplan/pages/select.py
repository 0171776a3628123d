"""Plans of ``select`` on the page: what is satisfied, what was asked, and which topics are served."""

from __future__ import annotations

from collections.abc import Sequence

from pubplan.pages.answer import (
    assembled,
    digests_of,
    gap_of,
    how_planned,
    label_of_threshold,
    reasons_of,
    sentences_of,
    threshold_of,
    told_apart,
    verdict_of,
    workload_of,
)
from pubplan.pages.frame import Chart, Section, Sheet
from pubplan.pages.select_charts import by_threshold, by_weight, curves, unit_of_costs
from pubplan.pages.select_lists import topics_not_served, topics_served
from pubplan.planning import Plan
from pubplan.problems.select import FAMILY, SERVED
from pubplan.quantities import share_text
from pubplan.text import ceiling, listed, number_down, number_up, percent
from pubplan.workload import TOPIC, TopicWorkload, Workload

ASKED = ("objective", "threshold", "capacity", "capacity_cost", "cost", "must_serve", "must_not_serve")
"""The parameters of a plan that are not its method's."""

COSTS = {None: "rate x subscribers", "bytes": "rate x subscribers x message size"}
OBJECTIVES = {"b3m": "b3m: subscribers who receive all they need", "fb3m": "fb3m: fractions of subscribers count too"}


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """The answer of every plan with charts and lists; those made for one of ``workloads`` also by weight."""
    names = labels(plans)
    given = {workload.digest: workload for workload in workloads if isinstance(workload, TopicWorkload)}
    of_plans = []
    for number, (plan, name) in enumerate(zip(plans, names, strict=True)):
        workload = workload_of(plan, workloads, TOPIC)
        charts: list[Chart | Sheet] = [*topics_served(plan, workload), *topics_not_served(plan, workload)]
        if workload is not None and workload.digest in given and "weight" in workload.optional_columns:
            charts.insert(0, by_weight(plan, workload))
        of_plans.append(section(plan, name, workload, f"select-{number + 1}", charts))
    return assembled(FAMILY.question, of_plans, [*curves(plans, names, given), *by_threshold(plans)])


def labels(plans: Sequence[Plan]) -> list[str]:
    """A short name per plan, no two the same."""
    short = [
        f"{plan.method}, {label_of_threshold(plan)}, capacity {plan.record['parameters']['capacity']}" for plan in plans
    ]
    return told_apart(short, plans)


def section(
    plan: Plan,
    name: str,
    workload: TopicWorkload | None = None,
    anchor: str = "",
    charts: Sequence[Chart | Sheet] = (),
) -> Section:
    """What one plan achieves, how far from the best it can be, and what it is based on; shares with its workload."""
    record = plan.record
    served = FAMILY.read_decisions(plan, SERVED)
    cost, capacity = sum(served["cost"].to_pylist()), record["parameters"]["capacity_cost"]
    satisfied, topics = number_down(record["objective"]), f"{served.num_rows:,}"
    if workload is not None:
        total = _total_weight(workload)
        satisfied += f" of {total:,} ({percent(record['objective'] / total)})" if total else f" of {total:,}"
        topics += f" of {workload.counts.topics:,}"
    figures = {
        f"satisfied {record['unit']}": satisfied,
        "no plan beats": "no bound" if record["bound"] is None else ceiling(record["bound"], record["objective"]),
        "gap": gap_of(plan),
        "topics served": topics,
        "capacity used": f"{cost:,} of {capacity:,} {unit_of_costs(plan)}",
        "verdict": verdict_of(plan),
    }
    facts = {
        "bounds": ", ".join(f"{bound} {number_up(value)}" for bound, value in record["bounds"].items()) or "none",
        "binding": "; ".join(reasons_of(plan)) or "nothing",
    }
    return Section(
        name,
        sentences_of(plan, workload),
        figures=figures,
        facts=facts,
        is_good=bool(record["verified"]),
        charts=charts,
        asked=asked(plan),
        digests=digests_of(plan),
        anchor=anchor,
    )


def asked(plan: Plan) -> dict[str, str]:
    """Everything that the plan was asked, as it was given, and how it was planned."""
    parameters = plan.record["parameters"]
    capacity, unit = parameters["capacity"], unit_of_costs(plan)
    as_asked = "" if isinstance(capacity, int) else f"{capacity} of all, " if share_text(capacity) else f"{capacity}, "
    return {
        "threshold": threshold_of(plan),
        "capacity": f"{as_asked}{parameters['capacity_cost']:,} {unit}",
        "what counts": OBJECTIVES[parameters["objective"]],
        "cost of a topic": COSTS.get(parameters["cost"], f"its column {parameters['cost']}"),
        "must serve": listed(parameters["must_serve"]),
        "must not serve": listed(parameters["must_not_serve"]),
        **how_planned(plan, ASKED),
    }


def _total_weight(workload: TopicWorkload) -> int:
    """What satisfying every subscriber is worth."""
    if "weight" not in workload.optional_columns:
        return workload.counts.subscribers
    return sum(workload.subscriber_array("weight").tolist())
