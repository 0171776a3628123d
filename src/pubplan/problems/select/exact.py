"""``exact``: the best plan by mixed-integer programming (HiGHS through SciPy), with the bound that proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from pubplan.engine import stage
from pubplan.errors import EngineError, Reason
from pubplan.planning import Certificate, Draft, Exact, Method
from pubplan.problems.select.plan import draft_of
from pubplan.problems.select.problem import FULL, Problem, slopes
from pubplan.problems.select.runs import run_among

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_PAIRS = 200_000
TOLERANCE = 1e-6
"""What HiGHS counts as nothing, relative to the objective; the bound is raised by it."""


@dataclass(frozen=True)
class ExactParameters:
    """When the search ends without an answer that is proven to be the best."""

    nodes: int | None = field(default=None, metadata={"help": "The most nodes of the search tree; unless given, any."})
    time_limit: float | None = field(default=None, metadata={"help": "The most seconds; unless given, any."})

    def __post_init__(self) -> None:
        for name, value in (("nodes", self.nodes), ("time_limit", self.time_limit)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0):
                raise ValueError(f"{name} must be a positive number, not {value!r}.")


@dataclass(frozen=True)
class _Answer:
    served: np.ndarray[tuple[int], np.dtype[np.bool_]]
    is_proven: bool
    bound: float


def exact(problem: Problem, parameters: ExactParameters, seed: int = 0, spark: SparkSession | None = None) -> Draft:
    """Search all plans. Stopped early by a limit, the answer is the best plan met so far, and nothing is proven by it.

    A time limit makes the plan depend on the machine, which it then says. Runs in one process: the seed and the
    session are not used.
    """
    with stage("searching all plans"):
        answer = _search(problem, parameters)
    draft = draft_of(problem, run_among(problem, answer.served))
    certificates = (_certificate(problem, answer.bound, draft.claimed),) if answer.is_proven else ()
    stopped = () if answer.is_proven else (Reason("search", "all plans", "stopped by its limit", "exact"),)
    return Draft(
        decisions=draft.decisions,
        claimed=draft.claimed,
        trajectory=draft.trajectory,
        reasons=(*draft.reasons, *stopped),
        deterministic=parameters.time_limit is None,
        certificates=certificates,
    )


def mip_bound(problem: Problem, reached: Exact, spark: SparkSession | None = None) -> Certificate:
    """The value of the best plan, as far as HiGHS's tolerance lets it be known."""
    return _certificate(problem, _search(problem, ExactParameters()).bound, reached)


def _certificate(problem: Problem, bound: float, reached: Exact) -> Certificate:
    """There is no evidence but to search again, which is what verification does."""
    raised = bound + TOLERANCE * max(1.0, abs(bound))
    value = math.floor(raised) if problem.objective == "b3m" else math.ceil(raised * FULL)
    return Certificate(
        "mip", Exact(min(max(value, reached.value), problem.total_weight * problem.scale), problem.scale)
    )


def _search(problem: Problem, parameters: ExactParameters) -> _Answer:
    """Maximise sum of w_v f_v with f_v <= sum over t of a_tv x_t, a_tv = min(1, what t brings v / what v needs).

    1. Subscribers with one topic are satisfied with it: they add to its worth and need no variable.
    2. Subscribers who want the same topics and need the same become one, with the sum of their weights.
    3. For B3M f_v is whole, and not more than x_t for a topic t without which v cannot be satisfied.
    """
    instance = problem.instance
    if instance.num_topics == 0:
        return _Answer(np.zeros(0, dtype=bool), True, float(problem.total_weight))
    rows, thresholds = instance.interests.by_subscriber, instance.thresholds
    lengths = np.diff(rows.offsets)
    num_topics = instance.num_topics
    is_wanting = thresholds > 0
    worth = np.zeros(num_topics)
    single = (lengths == 1) & is_wanting
    np.add.at(worth, rows.values[rows.offsets[:-1][single]], instance.weights[single])  # 1

    groups: dict[tuple[bytes, int], int] = {}
    for row in np.flatnonzero((lengths > 1) & is_wanting & (instance.weights > 0)):  # 2
        key = (rows.row(int(row)).tobytes(), int(thresholds[row]))
        groups[key] = groups.get(key, 0) + int(instance.weights[row])
    members = [np.frombuffer(topics, dtype=np.int32) for topics, _ in groups]
    needs = np.array([need for _, need in groups], dtype=np.int64)
    sizes = np.array([len(topics) for topics in members], dtype=np.int64)
    column = np.concatenate([np.empty(0, np.int32), *members])
    row_of = np.repeat(np.arange(len(members)), sizes)
    events = np.minimum(instance.events[column], needs[row_of])
    whole = problem.objective == "b3m"
    shares = np.minimum(1.0, slopes(needs)[row_of] * events / FULL)
    blocks = [_at_most(row_of, column, shares, len(members), num_topics)]
    if whole:  # 3
        totals = np.zeros(len(members), dtype=np.int64)
        np.add.at(totals, row_of, instance.events[column])
        needed = np.flatnonzero(totals[row_of] - instance.events[column] < needs[row_of])
        blocks.append(
            _at_most(row_of[needed], column[needed], np.ones(len(needed)), len(members), num_topics, own=True)
        )
    rent = sparse.csr_matrix(np.concatenate([instance.costs.astype(float), np.zeros(len(members))]))
    low, high = np.zeros(num_topics + len(members)), np.ones(num_topics + len(members))
    low[problem.first_choices] = 1.0
    closed = ~problem.is_open
    closed[problem.first_choices] = False
    high[:num_topics][closed | (instance.costs > problem.capacity_cost)] = 0.0
    constraints = [LinearConstraint(block, ub=0.0) for block in blocks if block.shape[0]]
    constraints.append(LinearConstraint(rent, ub=float(problem.capacity_cost)))
    options = {"mip_rel_gap": 0.0, "node_limit": parameters.nodes, "time_limit": parameters.time_limit}
    integral = np.concatenate([np.ones(num_topics), np.full(len(members), float(whole))])
    found = milp(
        -np.concatenate([worth, np.fromiter(groups.values(), dtype=float, count=len(groups))]),
        integrality=integral,
        bounds=Bounds(low, high),
        constraints=constraints,
        options={name: value for name, value in options.items() if value is not None},
    )
    idle = float(instance.weights[~is_wanting].sum())
    if found.x is None:
        if found.status != 1:
            raise EngineError(f"HiGHS did not solve the problem: {found.message}")
        served = np.zeros(num_topics, dtype=bool)
        served[problem.first_choices] = True
        return _Answer(served, False, math.inf)
    return _Answer(found.x[:num_topics] > 0.5, found.status == 0, idle - found.mip_dual_bound)


def _at_most(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    columns: np.ndarray[tuple[int], np.dtype[np.int32]],
    shares: np.ndarray[tuple[int], np.dtype[np.float64]],
    num_groups: int,
    num_topics: int,
    *,
    own: bool = False,
) -> sparse.csr_matrix:
    """Rows f - sum of share * x <= 0: one per group, or with ``own`` one per entry."""
    if own:
        places = np.arange(len(rows))
        return sparse.csr_matrix(
            (
                np.concatenate([np.ones(len(rows)), -shares]),
                (np.concatenate([places, places]), np.concatenate([num_topics + rows, columns])),
            ),
            shape=(len(rows), num_topics + num_groups),
        )
    groups = np.arange(num_groups)
    return sparse.csr_matrix(
        (
            np.concatenate([np.ones(num_groups), -shares]),
            (np.concatenate([groups, rows]), np.concatenate([num_topics + groups, columns])),
        ),
        shape=(num_groups, num_topics + num_groups),
    )


def size_refusal(problem: Problem) -> str | None:
    pairs = problem.workload.counts.pairs
    if pairs <= MAX_PAIRS:
        return None
    return f"it searches all plans, for up to {MAX_PAIRS:,} interests; here are {pairs:,}."


METHOD = Method(
    name="exact",
    run=exact,
    guarantee="the best possible, unless stopped by a limit",
    ratio=1.0 - 10 * TOLERANCE,
    complexity="exponential in T at worst",
    paper="pubplan; HiGHS",
    applies="both objectives, small instances",
    refusal=size_refusal,
    parameters=ExactParameters,
)
