"""Two-stage greedy packing: the cheapest broker with room for every client, then trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.engine import stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.federate.draft import draft_of
from pubplan.problems.federate.packing import cheapest_brokers
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.stages import ATTACHING

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Clients in their order, each at the cheapest broker with room, as in Algorithm 1 of the paper, whose listing
    names its two sets the wrong way round. What is paid between brokers is not looked at. The seed is not used; Spark
    reads and routes.

    Raises:
        NotApplicable: not everybody found room, not even with the largest clients first.
    """
    problem.instance.load(spark)
    network = Network(problem)
    with stage(ATTACHING):
        packed = cheapest_brokers(network, METHOD.name)
    return draft_of(network, packed.brokers, reasons=packed.reasons, spark=spark)


METHOD = Method(
    name="greedy-packing",
    run=run,
    guarantee="least access cost where no capacity binds",
    ratio=None,
    complexity="O(C B) for C clients and B brokers",
    paper="Zhao, Wu 2011, section III-A, Algorithm 1",
    applies="interests so broad that most brokers want most channels anyway",
)
