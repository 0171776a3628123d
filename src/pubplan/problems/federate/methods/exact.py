"""Exact: the cheapest of all attachments, for few clients and brokers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pubplan.errors import NotApplicable
from pubplan.planning import Certificate, Draft, Exact, Method
from pubplan.planning.parameters import check_int
from pubplan.problems.federate.draft import dollars, draft_of
from pubplan.problems.federate.exhaustive import DEFAULT_SEARCH_NODES, Optimum, find_optimum, size_refusal
from pubplan.problems.federate.methods.local_moves import LocalMovesParameters, moved_brokers
from pubplan.problems.federate.plan import SEARCH
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


MAX_SEARCH_NODES = 5_000_000
"""As many as verifying a plan can look at again."""


@dataclass(frozen=True)
class ExactParameters:
    """When the search gives up."""

    search_nodes: int = field(
        default=DEFAULT_SEARCH_NODES, metadata={"help": "Parts of attachments that are looked at, at most."}
    )

    def __post_init__(self) -> None:
        check_int("search_nodes", self.search_nodes, 1, MAX_SEARCH_NODES)


def run(problem: Problem, parameters: ExactParameters, seed: int, spark: SparkSession | None) -> Draft:
    """The cheapest attachment, found by comparing all, from that of ``local-moves`` on; proven by the bound ``search``.

    The seed decides where the search starts, not what it costs in the end.

    Raises:
        NotApplicable: the search did not end within its limit.
    """
    optimum, network = _optimum(problem, parameters.search_nodes, seed, spark)
    draft = draft_of(network, optimum.brokers, optimum.tree, spark=spark)
    return replace(draft, certificates=(Certificate(SEARCH, dollars(problem, optimum.cost)),))


def search_bound(problem: Problem, draft: Draft, spark: SparkSession | None) -> tuple[Certificate, ...]:
    """The bound ``search``: what the cheapest of all attachments costs."""
    if any(certificate.name == SEARCH for certificate in draft.certificates):
        return ()
    try:
        optimum, _ = _optimum(problem, DEFAULT_SEARCH_NODES, 0, spark)
    except NotApplicable as error:
        raise NotApplicable(
            f"The bound '{SEARCH}' cannot be used here: comparing all attachments did not end within "
            f"{DEFAULT_SEARCH_NODES:,} parts of them. The bound 'laminar' takes any number."
        ) from error
    bound: Exact = dollars(problem, optimum.cost)
    return (Certificate(SEARCH, bound),)


def _optimum(problem: Problem, search_nodes: int, seed: int, spark: SparkSession | None) -> tuple[Optimum, Network]:
    problem.instance.load(spark)
    network = Network(problem)
    start = moved_brokers(network, LocalMovesParameters(), seed, spark)
    cost = network.access_cost(start.brokers) + network.route(start.brokers, start.tree).cost
    # Nothing is cheaper than the best: one more lets the search find it again, with its own tree.
    return find_optimum(network, start.brokers, cost + 1, search_nodes), network


METHOD = Method(
    name="exact",
    run=run,
    guarantee="optimal, proven",
    ratio=1.0,
    complexity="O(B^C) for C clients and B brokers, less where parts can be left out",
    paper="Zhao, Wu 2011, section II-B asks for it; the search is pubplan's",
    applies="a few dozen clients and a few brokers",
    refusal=size_refusal,
    parameters=ExactParameters,
    certificates=(SEARCH,),
)
