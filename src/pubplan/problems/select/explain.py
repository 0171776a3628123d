"""Why a topic is served or not, and why a subscriber is satisfied or not, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import exact_sum, map_blocks
from pubplan.planning import Explanation, Plan, cheapest_cover, parameters_of
from pubplan.problems.select.entry import Plans, entry_of, objective_with
from pubplan.problems.select.instance import slopes
from pubplan.problems.select.kernels.dual import MULTIPLIER_SCALE
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE, block_values
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem
from pubplan.text import counted, number_down
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    import numpy.typing as npt

    from pubplan.engine import SparkSession
    from pubplan.planning import Draft, Method


def explain_topic(
    methods: Mapping[str, Method[Problem, Draft, Any]],
    problem: Problem,
    plan: Plan,
    topic_id: str,
    spark: SparkSession | None = None,
) -> Explanation:
    """Value, rank and price of a topic, and what would bring it in, or what dropping it would lose.

    The value of a topic that is not served is what it would add now; for B3M, the shares of what subscribers miss that
    it would fill. The price is what a unit of cost brings at the plan's limit: the
    multiplier of the capacity in the Lagrangian bound, or else what the last choices brought. The capacity that brings
    it in and what forcing it in loses are found by planning with the plan's method.

    Raises:
        InputError: there is no such topic.
    """
    topic = problem.workload.topic_number(topic_id)
    served = _is_served(problem, plan)
    cost = int(problem.costs[topic])
    left = problem.capacity_cost - exact_sum(problem.costs[served])
    price = _price(plan)
    facts: dict[str, Any] = {
        "topic": topic_id,
        "rate": int(problem.rates[topic]),
        "cost": cost,
        "served": bool(served[topic]),
        "listed": _listed(problem, topic_id),
        "capacity_left": left,
        "price": price,
    }
    if served[topic]:
        facts |= _as_chosen(plan, topic)
        facts["loss"] = _loss(problem, served, topic, spark)
        return Explanation(facts, tuple(_served_sentences(problem, facts)))
    values, satisfies = _values(problem, served, topic, spark)
    may = np.flatnonzero(~served & (values > 0))
    ratios = _ratios(values[may], problem.costs[may])
    value = float(values[topic]) / FIXED_POINT_ONE
    ratio = float(_ratios(values[[topic]], problem.costs[[topic]])[0]) / FIXED_POINT_ONE
    facts |= {
        "value": value,
        "satisfies": satisfies,
        "value_per_cost": ratio,
        "rank": int(np.count_nonzero(ratios > ratio * FIXED_POINT_ONE)) + 1 if values[topic] > 0 else None,
        "unserved_with_value": len(may),
        "missing_capacity": max(0, cost - left),
        "cost_that_would_do": int(value / price) if price else None,
    }
    if value > 0 and not facts["listed"]:
        facts |= _ways_in(problem, plan, topic, topic_id, _plans_like(methods, problem, plan, spark))
    return Explanation(facts, tuple(_unserved_sentences(problem, facts)))


def _plans_like(
    methods: Mapping[str, Method[Problem, Draft, Any]], problem: Problem, plan: Plan, spark: SparkSession | None
) -> Plans:
    """Planning as a plan was made."""
    method = methods[plan.method]
    parameters = parameters_of(method, problem, plan)
    return lambda asked: method.run(asked, parameters, int(plan.record["seed"]), spark)


def _ways_in(problem: Problem, plan: Plan, topic: int, topic_id: str, plans: Plans) -> dict[str, Any]:
    """With more capacity, and with ``must_serve`` at the same one; each as planned."""
    forced = objective_with(problem, topic_id, plans)
    loss = None if forced is None else float(plan.exact.fraction - forced.fraction)
    return {
        "entry": entry_of(problem, topic, plans).to_dict(),
        "forced": None if forced is None else {"objective": float(forced), "loss": loss},
    }


def _served_sentences(problem: Problem, facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['topic']} is served: {facts['rate']:,} events per window, cost {facts['cost']:,}."]
    if facts["listed"]:
        lines.append("It is on the list of topics that must be served.")
    if facts.get("step"):
        brought = "" if facts["brought"] is None else f" and brought {facts['brought']:,.6g} {problem.unit} then"
        lines.append(f"It was choice {facts['step']:,} of {facts['choices']:,}{brought}.")
    lines.append(f"Without it the plan would lose {facts['loss']:,.6g} {problem.unit}.")
    if facts["price"]:
        worth = facts["price"] * facts["cost"]
        lines.append(f"At the plan's limit its cost would bring {worth:,.6g} {problem.unit} elsewhere.")
    return lines


def _unserved_sentences(problem: Problem, facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['topic']} is not served: {facts['rate']:,} events per window, cost {facts['cost']:,}."]
    if facts["listed"]:
        return [*lines, "It is on the list of topics that must not be served."]
    if facts["value"] == 0:
        return [*lines, "No subscriber who misses events wants it, so serving it would bring nothing."]
    satisfied = "" if problem.objective == "fb3m" else f", of which it would satisfy {facts['satisfies']:,.6g} at once"
    lines.append(
        f"It would be worth {facts['value']:,.6g} {problem.unit} now{satisfied}: {facts['value_per_cost']:.3g} per "
        f"unit of cost, rank {facts['rank']:,} of {facts['unserved_with_value']:,} unserved topics that would help."
    )
    if facts["price"]:
        lines.append(f"The price at the cut is {facts['price']:.3g} per unit of cost.{_worth(facts)}")
    return [*lines, _entry_sentence(problem, facts["entry"]), _forced_sentence(problem, facts["forced"])]


def _worth(facts: dict[str, Any]) -> str:
    worth = facts["cost_that_would_do"]
    return "" if worth >= facts["cost"] else f" At that price, its value would pay for a cost of about {worth:,}."


def _entry_sentence(problem: Problem, entry: dict[str, Any]) -> str:
    """The capacity at which planning serves it, and up to which it was seen not to."""
    tried = counted(entry["runs"], "run")
    if entry["capacity"] is None:
        more = ", cut short because planning takes long here" if entry["cut_short"] else ""
        return f"More capacity does not bring it in: with it, other topics leave it nothing to add ({tried}{more})."
    share = f" ({100 * entry['capacity'] / problem.total_cost:.2f} % of the total cost)"
    below = f"with {entry['not_at']:,} it is not"
    if entry["cut_short"]:
        below += f". Less may be enough: planning takes long here, so the search ended after {tried}"
    return f"Planned with a capacity of {entry['capacity']:,}{share} it is served; {below}."


def _forced_sentence(problem: Problem, forced: dict[str, Any] | None) -> str:
    if forced is None:
        return "It cannot be forced in at this capacity: it costs more than the capacity leaves to what must be served."
    reached = f"{number_down(forced['objective'])} {problem.unit}"
    if forced["loss"] > 0:
        change = f"{forced['loss']:,.6g} fewer than now"
    else:
        change = f"{-forced['loss']:,.6g} more than now" if forced["loss"] < 0 else "as many as now"
    return f"Forced in at this capacity, a plan satisfies {reached}: {change}."


def explain_subscriber(
    problem: Problem, plan: Plan, subscriber_id: str, spark: SparkSession | None = None
) -> Explanation:
    """What a subscriber receives and misses, and the cheapest topics that would satisfy it.

    Raises:
        InputError: there is no such subscriber.
    """
    block, row = problem.workload.find_subscriber(subscriber_id, spark)
    rows = problem.instance.reader().read(block)
    wanted = rows.topics[rows.offsets[row] : rows.offsets[row + 1]]
    served = _is_served(problem, plan)
    names = problem.workload.topics("topic_id")["topic_id"]
    needed = int(rows.thresholds[row])
    received = exact_sum(problem.rates[wanted[served[wanted]]])
    missing = max(0, needed - received)
    facts: dict[str, Any] = {
        "subscriber": subscriber_id,
        "weight": int(rows.weights[row]),
        "needed": needed,
        "received": received,
        "missing": missing,
        "satisfied": min(1.0, received / needed) if needed else 1.0,
        "topics": [
            {
                "topic": names[int(topic)].as_py(),
                "rate": int(problem.rates[topic]),
                "cost": int(problem.costs[topic]),
                "served": bool(served[topic]),
            }
            for topic in wanted
        ],
        "cheapest_way": None,
    }
    if missing:
        free = wanted[~served[wanted] & problem.is_open[wanted] & (problem.rates[wanted] > 0)]
        way, is_cheapest = cheapest_cover(problem.rates[free], problem.costs[free], missing)
        if way is not None:
            facts["cheapest_way"] = {
                "topics": [names[int(topic)].as_py() for topic in free[way]],
                "cost": exact_sum(problem.costs[free[way]]),
                "is_cheapest": is_cheapest,
            }
    return Explanation(facts, tuple(_subscriber_sentences(facts)))


def _subscriber_sentences(facts: dict[str, Any]) -> list[str]:
    served = [topic for topic in facts["topics"] if topic["served"]]
    if facts["received"] > facts["needed"]:
        received = f"{facts['received']:,} events per window, more than the {facts['needed']:,} it needs"
    else:
        received = (
            f"{facts['received']:,} of the {counted(facts['needed'], 'event')} it needs per window "
            f"({100 * facts['satisfied']:.1f} %)"
        )
    lines = [
        f"{facts['subscriber']} receives {received}, from {len(served):,} of its "
        f"{counted(len(facts['topics']), 'topic')}."
    ]
    if not facts["missing"]:
        return [*lines, "It is satisfied."]
    lines.append(f"It misses {facts['missing']:,}.")
    way = facts["cheapest_way"]
    if way is None:
        lines.append("No topic that may be served would change that.")
    else:
        listed = ", ".join(way["topics"][:5]) + (" …" if len(way["topics"]) > 5 else "")
        kind = "The cheapest way to satisfy it" if way["is_cheapest"] else "One way to satisfy it"
        lines.append(f"{kind} costs {way['cost']:,}: {listed}.")
    return lines


def _is_served(problem: Problem, plan: Plan) -> npt.NDArray[np.bool_]:
    served = np.zeros(problem.workload.counts.topics, dtype=bool)
    served[plan.decisions(SERVED)["topic"].to_numpy()] = True
    return served


def _listed(problem: Problem, topic_id: str) -> str | None:
    if topic_id in problem.must_serve:
        return "must_serve"
    return "must_not_serve" if topic_id in problem.must_not_serve else None


def _price(plan: Plan) -> float | None:
    """What a unit of cost brings at the plan's limit."""
    if "lagrangian" in plan.record["bounds"]:
        return float(plan.certificate("lagrangian").evidence["price"]) / MULTIPLIER_SCALE
    trajectory = plan.trajectory()
    if trajectory is None or trajectory.num_rows < 2:
        return None
    cost, satisfied = trajectory["cost"].to_numpy(), trajectory["satisfied"].to_numpy()
    since = len(cost) - 1 - max(1, len(cost) // 100)
    spent = cost[-1] - cost[since]
    return float((satisfied[-1] - satisfied[since]) / spent) if spent else None


def _as_chosen(plan: Plan, topic: int) -> dict[str, Any]:
    """The position of a served topic in the order of choice, from 1, and what it brought there."""
    trajectory = plan.trajectory()
    if trajectory is None:
        return {"step": None, "choices": None, "brought": None}
    position = int(np.flatnonzero(trajectory["topic"].to_numpy() == topic)[0])
    satisfied = trajectory["satisfied"].to_numpy()
    brought = float(satisfied[position] - satisfied[position - 1]) if position else None
    return {"step": position + 1, "choices": len(satisfied), "brought": brought}


def _values(
    problem: Problem, served: npt.NDArray[np.bool_], topic: int, spark: SparkSession | None
) -> tuple[Int64Array, float]:
    """What every topic is worth now, in units of 2^-32, and how much one of them would satisfy at once."""
    reader, is_whole = problem.instance.reader(), problem.objective == "b3m"
    events = problem.instance.events

    def value(block: int) -> tuple[npt.NDArray[np.int32], Int64Array, int]:
        rows = reader.read(block)
        slope = np.ones_like(rows.thresholds) if is_whole else slopes(rows.thresholds)
        values, rooms = np.zeros(len(events), dtype=np.int64), np.empty_like(rows.thresholds)
        block_values(
            rows.offsets, rows.topics, events, rows.thresholds, slope, rows.weights, served, is_whole, values, rooms
        )
        owner = np.repeat(np.arange(len(rooms)), np.diff(rows.offsets))[rows.topics == topic]
        done = owner[(rooms[owner] > 0) & (slope[owner] * events[topic] >= rooms[owner])]
        named = np.flatnonzero(values).astype(np.int32)
        return named, values[named], exact_sum(rows.weights[done])

    total, satisfied = np.zeros(len(events), dtype=np.int64), 0
    for named, values, done in map_blocks(value, problem.workload.num_blocks, spark):
        total[named] += values
        satisfied += done
    return total, float(satisfied)


def _loss(problem: Problem, served: npt.NDArray[np.bool_], topic: int, spark: SparkSession | None) -> float:
    """By how much the objective falls without a served topic."""
    reader, is_whole = problem.instance.reader(), problem.objective == "b3m"
    rates = problem.rates

    def lose(block: int) -> float:
        rows = reader.read(block)
        owner = np.repeat(np.arange(len(rows.thresholds)), np.diff(rows.offsets))
        wanting = np.unique(owner[rows.topics == topic])
        received = np.zeros(len(rows.thresholds), dtype=np.int64)
        np.add.at(received, owner, np.where(served[rows.topics], rates[rows.topics], 0))
        needed, with_it = np.maximum(rows.thresholds[wanting], 1), received[wanting]
        without = with_it - rates[topic]
        if is_whole:
            lost = (with_it >= rows.thresholds[wanting]).astype(float) - (without >= rows.thresholds[wanting])
        else:
            lost = np.minimum(1.0, with_it / needed) - np.minimum(1.0, without / needed)
            lost = np.where(rows.thresholds[wanting] > 0, lost, 0.0)
        return float((lost * rows.weights[wanting]).sum())

    return sum(map_blocks(lose, problem.workload.num_blocks, spark))


def _ratios(values: Int64Array, costs: Int64Array) -> npt.NDArray[np.float64]:
    return np.where(costs > 0, values / np.maximum(costs, 1), np.where(values > 0, np.inf, 0.0))
