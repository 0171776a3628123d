"""Two-stage clustering: clients that talk much with each other at the same broker, then trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pubplan.engine import stage
from pubplan.planning import Draft, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.federate.draft import draft_of
from pubplan.problems.federate.kernels.clustering import join_clusters, seed_clusters
from pubplan.problems.federate.packing import Packed, pack
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.stages import ATTACHING
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SHORT_LIST = 64


@dataclass(frozen=True)
class ClusteringParameters:
    """How clusters begin."""

    short_list: int = field(
        default=SHORT_LIST,
        metadata={
            "help": "Clients among which the first two of a broker are chosen: those with most traffic per price."
        },
    )

    def __post_init__(self) -> None:
        check_int("short_list", self.short_list, 2, 10_000)


def run(problem: Problem, parameters: ClusteringParameters, seed: int, spark: SparkSession | None) -> Draft:
    """Every broker begins with the two clients that have the most traffic between them per price to it; the others come
    in their order, each to the broker where it has the most traffic with the clients there per price. The seed is not
    used; Spark reads and routes.

    Raises:
        NotApplicable: not everybody found room, not even with the largest clients first.
    """
    problem.instance.load(spark)
    network = Network(problem)
    with stage(ATTACHING):
        packed = clustered_brokers(network, parameters.short_list)
    return draft_of(network, packed.brokers, reasons=packed.reasons, spark=spark)


def clustered_brokers(network: Network, short_list: int = SHORT_LIST) -> Packed:
    """The attachment by clusters."""
    num_channels = network.problem.instance.num_channels

    def attach(order: Int64Array, brokers: Int32Array, loads: Int64Array) -> int:
        seed_clusters(network.field, brokers, loads, short_list)
        return join_clusters(network.field, order, num_channels, brokers, loads)

    return pack(network, METHOD.name, attach)


METHOD = Method(
    name="clustering",
    run=run,
    guarantee="none",
    ratio=None,
    complexity="O(C B N + B L^2 N) for C clients, B brokers, N channels of a client and short lists of L",
    paper="Zhao, Wu 2011, section III-B, Algorithm 2",
    applies="groups of clients that mostly talk with each other",
    parameters=ClusteringParameters,
)
