"""Recomputes a plan from the tables on disk, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pubplan.errors import Violation
from pubplan.planning import Exact, Plan, Verdict, wrong_columns, wrong_values
from pubplan.problems.federate.plan import (
    BROKERS,
    BROKERS_SCHEMA,
    CHANNELS,
    CHANNELS_SCHEMA,
    LINKS,
    LINKS_SCHEMA,
    TREES,
    TREES_SCHEMA,
)
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem
from pubplan.problems.federate.verifier.bounds import wrong_bounds
from pubplan.problems.federate.verifier.clients import Traffic, read_attachments, scan_clients
from pubplan.problems.federate.verifier.content import Cut, Prices, read_cut, read_prices
from pubplan.problems.federate.verifier.trees import flows_of, read_trees
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

TABLES = {LINKS: LINKS_SCHEMA, TREES: TREES_SCHEMA, CHANNELS: CHANNELS_SCHEMA, BROKERS: BROKERS_SCHEMA}


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that every client is attached to one broker that it may use, within capacities, and that trees carry every
    message to all who want it; recompute what crosses links, what everything costs, and what bounds prove.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    violations = [each for name, schema in TABLES.items() for each in wrong_columns(name, plan.decisions(name), schema)]
    if violations:
        return Verdict(plan.exact, tuple(violations))
    prices, cut = read_prices(problem), read_cut(problem)
    trees = read_trees(plan.decisions(TREES), prices.num_brokers)
    attached, violations = read_attachments(problem, plan, prices.num_brokers)
    if isinstance(trees, Violation):
        violations.append(trees)
        trees = []
    if violations:
        return Verdict(plan.exact, tuple(violations))
    traffic = scan_clients(problem, cut, prices, attached, spark)
    flows, wrong_trees = flows_of(problem, prices, traffic, trees)
    violations = [
        *traffic.violations,
        *wrong_trees,
        *_wrong_tables(problem, plan, cut, prices, traffic, flows),
    ]
    core = sum(
        int(messages) * int(price) for messages, price in zip(flows.flat, prices.links.flat, strict=True) if messages
    )
    objective = Exact((traffic.access + core) * problem.message_bytes, DOLLAR_SCALE)
    if not violations:  # bounds are recomputed for plans that are right so far
        violations = list(wrong_bounds(problem, plan, cut, prices, traffic, spark))
    return Verdict(objective, tuple(violations))


def _wrong_tables(
    problem: Problem, plan: Plan, cut: Cut, prices: Prices, traffic: Traffic, flows: Int64Array
) -> Iterator[Violation]:
    """Links, channels and brokers that the plan lists say what was recomputed."""
    ids = np.array(problem.workload.ids("brokers", "broker_id").to_pylist(), dtype=object)
    sources, targets = np.nonzero(flows)
    links = {
        "broker": sources,
        "broker_id": ids[sources],
        "other": targets,
        "other_id": ids[targets],
        "messages": flows[sources, targets],
        "price": prices.links[sources, targets],
    }
    yield from wrong_values(LINKS, links, plan.decisions(LINKS))
    attributes = [attribute.name for attribute in problem.workload.space.attributes]
    rows = [(channel, axis, *ends) for channel, box in enumerate(cut.boxes()) for axis, ends in enumerate(box)]
    numbers = np.array([row[0] for row in rows])
    channels = {
        "channel": numbers,
        "attribute": np.array([attributes[row[1]] for row in rows], dtype=object),
        "low": np.array([row[2] for row in rows]),
        "high": np.array([row[3] for row in rows]),
        "messages": traffic.messages[numbers],
        "subscribers": traffic.wanting[numbers],
    }
    yield from wrong_values(CHANNELS, channels, plan.decisions(CHANNELS))
    brokers = {
        "broker": np.arange(prices.num_brokers),
        "broker_id": ids,
        "clients": traffic.clients,
        "load": traffic.loads,
        "capacity": prices.capacities,
        "published": traffic.sent.sum(axis=0),
        "forwarded": flows.sum(axis=1),
    }
    yield from wrong_values(BROKERS, brokers, plan.decisions(BROKERS))
