"""Random: any broker with room, the reference of the paper's cost reduction ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.engine import random_stream, stage
from pubplan.planning import Draft, Method, NoParameters
from pubplan.problems.federate.draft import draft_of
from pubplan.problems.federate.kernels.packing import pack_drawn
from pubplan.problems.federate.packing import Packed, pack
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.stages import ATTACHING
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def run(problem: Problem, parameters: NoParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Every client at a broker drawn at random among those with room; the seed decides. Spark reads and routes.

    Raises:
        NotApplicable: not everybody found room.
    """
    problem.instance.load(spark)
    network = Network(problem)
    with stage(ATTACHING):
        packed = random_brokers(network, seed)
    return draft_of(network, packed.brokers, reasons=packed.reasons, spark=spark)


def random_brokers(network: Network, seed: int, number: int = 0) -> Packed:
    """The attachment with this number of those drawn by a seed."""
    draws = random_stream(seed, "federate/random", number).random(len(network.field.demand))

    def attach(order: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
        return pack_drawn(network.field, order, draws, brokers, loads)

    return pack(network, METHOD.name, attach)


METHOD = Method(
    name="random",
    run=run,
    guarantee="none",
    ratio=None,
    complexity="O(C B) for C clients and B brokers",
    paper="Zhao, Wu 2011, section VI",
    applies="the reference that others are compared with",
)
