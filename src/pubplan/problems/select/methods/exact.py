"""``exact``: the best plan by branch and bound, with a proof that can be evaluated again in exact integers."""

from __future__ import annotations

import time
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.errors import Reason
from pubplan.planning import BlockTable, Certificate, Draft, Exact, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.select.draft import Choice, draft_of
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.problems.select.methods.greedy_fb3m import better_rule
from pubplan.problems.select.methods.improved_b3m import ImprovedB3mParameters, Improver, improved_choice
from pubplan.problems.select.plan import NUMBERS, SEARCH, TREE, TREE_SCHEMA, VECTORS, VECTORS_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.problems.select.runs import run_lazy
from pubplan.problems.select.search import Proof, Search, StopRule
from pubplan.workload import Int32Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_INTERESTS = 200_000
DEFAULT_SEARCH_NODES = 20_000
MAX_SEARCH_NODES = 10_000_000
MAX_SECONDS = 10_000_000

_MULTIPLIERS_PER_BLOCK = 2**20
_STOPPED = Reason(
    "search",
    "all plans",
    "stopped by its limit",
    "exact",
    "the search was stopped by its limit before it compared all plans",
)


@dataclass(frozen=True)
class ExactParameters:
    """When the search ends without an answer that is proven to be the best."""

    search_nodes: int = field(default=DEFAULT_SEARCH_NODES, metadata={"help": "Nodes of the search tree, at most."})
    time_limit: float | None = field(default=None, metadata={"help": "Seconds, at most; no limit unless given."})

    def __post_init__(self) -> None:
        check_int("search_nodes", self.search_nodes, 1, MAX_SEARCH_NODES)
        limit = self.time_limit
        is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
        if limit is not None and not (is_number and 0 < limit <= MAX_SECONDS):
            raise ValueError(f"time_limit is a positive number of seconds, at most {MAX_SECONDS:,}, not {limit!r}")


def exact(problem: Problem, parameters: ExactParameters, seed: int = 0, spark: SparkSession | None = None) -> Draft:
    """Search all plans, from the best that the greedy methods find on.

    The answer is the best plan for B3M, and within a 10^-8 of it for F-B3M. Stopped early by a limit, it is the best
    plan met so far, with the bound that the search has reached; the plan says so. A time limit makes the plan depend on
    the machine, which it says too. Runs in one process: the seed and the session are not used.
    """
    plans = _BestPlan(problem)
    proof = _prove(problem, parameters, plans, plans.best.objective)
    draft = draft_of(problem, plans.best)
    is_stopped = () if proof.is_complete else (_STOPPED,)
    return replace(
        draft,
        reasons=(*draft.reasons, *is_stopped),
        deterministic=parameters.time_limit is None,
        certificates=(_certificate(problem, proof),),
    )


def search_bound(problem: Problem, reached: Exact, spark: SparkSession | None = None) -> Certificate:
    """What the search for the best plan proves, whatever method made the plan."""
    plans = _BestPlan(problem)
    return _certificate(problem, _prove(problem, ExactParameters(), plans, max(plans.best.objective, reached.value)))


class _BestPlan:
    """The best plan met so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.improver = Improver(problem) if problem.objective == "b3m" else None
        if self.improver is None:
            self.best = better_rule("best", lambda by_ratio: run_lazy(problem, by_ratio=by_ratio))
        else:
            self.best = improved_choice(problem, ImprovedB3mParameters().rounds)

    def complete(self, topics: Int32Array) -> int:
        """Complete a plan that begins with ``topics``; its objective."""
        choice: Choice
        if self.improver is None:
            choice = run_lazy(self.problem, by_ratio=True, first_choices=topics)
        else:
            choice = self.improver.drop_and_refill(topics)
        if choice.objective > self.best.objective:
            self.best = choice
        return choice.objective


def _prove(problem: Problem, parameters: ExactParameters, plans: _BestPlan, reached: int) -> Proof:
    deadline = None if parameters.time_limit is None else time.monotonic() + parameters.time_limit
    return Search(problem, StopRule(parameters.search_nodes, deadline), reached, plans.complete).run()


def _certificate(problem: Problem, proof: Proof) -> Certificate:
    value = proof.value // FIXED_POINT_ONE if problem.objective == "b3m" else proof.value
    bound = Exact(min(value, problem.total_weight * problem.scale), problem.scale)
    columns = zip(*(astuple(node) for node in proof.nodes), strict=True)
    tree = pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, TREE_SCHEMA, strict=True)], schema=TREE_SCHEMA
    )
    longest = max(len(vector.entries) for vector in proof.vectors)
    per_block = max(1, _MULTIPLIERS_PER_BLOCK // max(1, longest))

    def vectors(block: int) -> pa.Table:
        held = proof.vectors[block * per_block : (block + 1) * per_block]
        offsets = np.cumsum([0, *(len(vector.entries) for vector in held)], dtype=np.int32)
        columns = ([vector.entries for vector in held], [vector.multipliers for vector in held])
        return pa.Table.from_arrays(
            [
                pa.ListArray.from_arrays(offsets, np.concatenate(column).astype(np.uint32), NUMBERS)
                for column in columns
            ],
            schema=VECTORS_SCHEMA,
        )

    return Certificate(
        SEARCH,
        bound,
        blocks={
            TREE: BlockTable(1, lambda block: tree),
            VECTORS: BlockTable(-(-len(proof.vectors) // per_block), vectors),
        },
    )


def size_refusal(problem: Problem) -> str | None:
    interests = problem.workload.counts.pairs
    if interests <= MAX_INTERESTS:
        return None
    return f"it searches all plans of workloads with at most {MAX_INTERESTS:,} interests; this one has {interests:,}."


METHOD = Method(
    name="exact",
    run=exact,
    guarantee="the best possible B3M value, and F-B3M within 10^-8 of it, unless stopped by a limit",
    ratio=1.0 - 2e-8,
    complexity="exponential in T at worst",
    paper="pubplan",
    applies="both objectives, small instances",
    refusal=size_refusal,
    parameters=ExactParameters,
    stops_early=True,
    certificates=(SEARCH,),
)
