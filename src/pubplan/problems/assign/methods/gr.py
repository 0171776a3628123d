"""Gr: clients in their order, each where filters grow least."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.engine import random_stream, stage
from pubplan.errors import unknown_name
from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.assign.draft import draft_of
from pubplan.problems.assign.ground import assignment_of, ground_of
from pubplan.problems.assign.kernels.order import assign_in_order
from pubplan.problems.assign.plan import LOAD_BROKEN
from pubplan.problems.assign.problem import Problem
from pubplan.problems.assign.stages import ASSIGNING
from pubplan.problems.assign.tighten import tighten

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

NO_EVICTION, REASSIGN_NOW, REASSIGN_LATER = "none", "reassign-now", "reassign-later"
EVICTIONS = (NO_EVICTION, REASSIGN_NOW, REASSIGN_LATER)


@dataclass(frozen=True)
class GrParameters:
    """What is done for a client whose candidates are all full."""

    eviction: str = field(
        default=NO_EVICTION,
        metadata={
            "help": "Whether clients drawn at random make room for one who finds none, and are assigned again next or "
            "last: none, reassign-now or reassign-later."
        },
    )
    max_evictions: int = field(
        default=1_000_000, metadata={"help": "How many clients are removed from their leaves at most."}
    )

    def __post_init__(self) -> None:
        if self.eviction not in EVICTIONS:
            raise ValueError(unknown_name("eviction", str(self.eviction), EVICTIONS).removesuffix("."))
        check_int("max_evictions", self.max_evictions, 0, 100_000_000)


def run(problem: Problem, parameters: GrParameters, seed: int, spark: SparkSession | None) -> Draft:
    """An assignment made in one pass, as if clients came one by one.

    Each client goes to the candidate with room for which the filters from there to the publisher grow least, in case of
    a tie to the least loaded one. Loads stay within the desired factor as long as there is room, then rise towards the
    greatest allowed. A client who finds no room even so overloads the candidate with the least load for its share,
    unless others are removed to make room. The seed decides who is removed; Spark reads the clients.
    """
    problem.instance.load(spark)
    ground = ground_of(problem)
    state = ground.start()
    max_evictions = 0 if parameters.eviction == NO_EVICTION else parameters.max_evictions
    generator = random_stream(seed, "assign/gr").integers(1, 2**32, size=1)
    with stage(ASSIGNING):
        is_now = parameters.eviction == REASSIGN_NOW
        assign_in_order(ground.field, state, ground.limits, generator, max_evictions, is_now)
    tighten(ground, state)
    return draft_of(problem, assignment_of(state))


METHOD = Method(
    name="gr",
    run=run,
    guarantee="latency limits are kept",
    ratio=None,
    complexity="O(C L 2^b) for C clients, L leaves and b boxes; less where clients share rectangles",
    paper="Yu, Agarwal, Yang 2011, section III (Gr), section VI (its variants)",
    applies="comparison with gr-star; clients that come one by one",
    parameters=GrParameters,
    may_break=frozenset({LOAD_BROKEN}),
)
