"""What a plan of ``federate`` says, in sentences."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from pubplan.planning import Explanation, Result
from pubplan.problems.federate.measures import Measures, attached_brokers, measures_of
from pubplan.problems.federate.money import money_proven, money_up, split_money
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.text import (
    MICROS,
    SECONDS_PER_MONTH,
    Micros,
    counted,
    duration,
    percent,
    percent_up,
)

MAX_COMPARED_WORK = 10**8
"""Channels times the cube of brokers: above it nobody waits for Steiner trees that were not asked for."""

ROUTING_NOUNS = {"spanning": "A spanning tree per channel", "steiner": "A Steiner tree per channel"}


def summarise(problem: Problem, result: Result) -> Explanation:
    """What it costs by part and what is proven, who is attached where, what brokers carry, and what binds."""
    measures = measures_of(result.plan)
    others = other_routings(problem, result, measures)
    seconds = problem.workload.manifest.window.seconds
    fullest = measures.fullest
    facts: dict[str, Any] = {
        "cost": result.objective,
        **measures.to_dict(),
        "window_seconds": seconds,
        "cost_per_month": None if seconds is None else float(per_month(sum(measures.bill), seconds) / MICROS),
        "fullest_broker": None if fullest is None else _broker_id(problem, fullest),
        "other_routings": {routing: measures.dollars(core) for routing, core in others.items()},
    }
    lines = [
        *_cost_sentences(problem, result, measures),
        *_traffic_sentences(problem, measures),
        *(routing_sentence(problem, measures, routing, core) for routing, core in others.items()),
        *(f"Binding: {reason}." for reason in result.reasons),
    ]
    return Explanation({"summary": facts}, tuple(lines))


def per_month(micros: Micros, window_seconds: float) -> Fraction:
    """What a cost per window is in a month of such windows."""
    return Fraction(micros) * SECONDS_PER_MONTH / Fraction(window_seconds)


def _cost_sentences(problem: Problem, result: Result, measures: Measures) -> list[str]:
    bill = measures.bill
    access, core, together = split_money(bill)
    seconds = problem.workload.manifest.window.seconds
    number = sum(measures.clients)
    window, month = "window", ""
    if seconds is not None:
        window, month = duration(seconds), f", or {money_up(per_month(sum(bill), seconds))} per month"
    lines = [
        f"{counted(number, 'client')} {'attaches' if number == 1 else 'attach'} to {measures.used_brokers:,} of "
        f"{counted(measures.brokers, 'broker')} for {together} per {window}{month}.",
        f"That is {access} between clients and brokers and {core} between brokers.",
    ]
    if result.gap == 0:
        lines.append("No cheaper plan exists.")
    elif result.bound is not None:
        bound = money_proven(Fraction(result.bound) * MICROS, sum(bill))
        near = "" if result.gap is None else f": this one is within {percent_up(result.gap)} of that"
        lines.append(f"No plan costs less than {bound}{near}.")
    return lines


def _traffic_sentences(problem: Problem, measures: Measures) -> list[str]:
    """What is published and forwarded, and how full the fullest broker is."""
    lines = [
        f"{counted(measures.messages, 'message')} of {counted(measures.message_bytes, 'byte')} per window in "
        f"{measures.live_channels:,} of {counted(measures.channels, 'channel')} are wanted by others; "
        f"{measures.forwarded:,} cross {counted(measures.links, 'link')} between brokers."
    ]
    broker = measures.fullest
    if broker is None:
        return [*lines, "Brokers have no capacities."]
    load, capacity = measures.loads[broker], measures.capacities[broker]
    return [
        *lines,
        f"The fullest broker, {_broker_id(problem, broker)}, takes {load:,} of at most "
        f"{counted(capacity, 'message')} ({percent(load / capacity)}).",
    ]


def other_routings(problem: Problem, result: Result, measures: Measures) -> dict[str, int]:
    """What the same attachment would cost between brokers with other routings: for one tree, a spanning tree per
    channel; for spanning trees, Steiner trees where computing them is not much work.
    """
    compared: Literal["spanning", "steiner"]
    if problem.routing == "acyclic":
        compared = "spanning"
    elif problem.routing == "spanning" and problem.cost == "shared":
        compared = "steiner"
        if measures.channels * measures.brokers**3 > MAX_COMPARED_WORK:
            return {}
    else:
        return {}
    network = Network(problem.with_routing(compared))
    return {compared: network.route(attached_brokers(result.plan, measures.brokers)).cost}


def routing_sentence(problem: Problem, measures: Measures, routing: str, core: int) -> str:
    """What another routing would cost more or less, for the same attachment."""
    change = core - measures.core
    noun = ROUTING_NOUNS[routing] if problem.cost == "shared" else "Copies straight from the publisher's broker"
    if not change:
        return f"{noun} would cost the same."
    amount = money_up(measures.micros(abs(change)))
    share = f", {percent(abs(change) / measures.core)} of the cost between brokers" if measures.core else ""
    return f"{noun} would {'save' if change < 0 else 'cost'} {amount}{' more' * (change > 0)}{share}."


def _broker_id(problem: Problem, broker: int) -> str:
    name: str = problem.workload.brokers.ids[broker].as_py()
    return name
