"""Plans of ``select`` for other programs: the topics that are served, and those that are not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pubplan.planning import Export, Plan
from pubplan.problems.select.plan import SERVED, SERVED_SCHEMA
from pubplan.problems.select.problem import Problem

_SCHEMA = pa.schema(
    [("topic_id", pa.string()), ("rate", pa.int64()), ("subscribers", pa.int64()), ("cost", pa.int64())]
)


def _served(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    yield _topics(problem, plan, is_served=True)


def _not_served(problem: Problem, plan: Plan) -> Iterator[pa.Table]:
    yield _topics(problem, plan, is_served=False)


def _topics(problem: Problem, plan: Plan, *, is_served: bool) -> pa.Table:
    """Topics on one side of the decision, ascending, with the events, subscribers and cost that they have."""
    chosen = np.zeros(problem.workload.counts.topics, dtype=bool)
    chosen[plan.decisions(SERVED, SERVED_SCHEMA)["topic"].to_numpy()] = True
    topics = problem.workload.topics("topic_id", "rate", "subscribers")
    table = pa.table([*topics.columns, pa.array(problem.costs, pa.int64())], schema=_SCHEMA)
    return table.filter(pa.array(chosen == is_served))


EXPORTS: dict[str, Export[Problem]] = {
    SERVED: Export(_SCHEMA, _served),
    "not-served": Export(_SCHEMA, _not_served),
}
