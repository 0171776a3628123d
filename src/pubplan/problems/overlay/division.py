"""Dividing nodes: bulk subscribers, and parts of the others that are drawn at random.

Nodes with more than eta topics are bulk; eta is the least for which they are at most a fifth of all. The rest is
divided into p parts of the same size. Unless p is given, it is chosen by a model of the work, for which the number of
representatives is estimated from those of one part:

* ``overlaps`` (pubplan): common topics of all pairs of nodes that are compared with each other, which is what finding
  pairs takes; the
  smallest p within a tenth of the least, because fewer parts make for lower degrees;
* ``paper``: (|B| + |R|)^2 + |L|^2 / p, pairs of nodes: section V of the paper with the time of GM-M that its Lemma 7
  proves; the p with the least;
* ``fourth-powers``: (|B| + |R|)^4 + |L|^4 / p^3, as Lemmas 10, 13 and 16 print it; the p with the least;
* ``known``: Eq. 12, the share of all nodes that a representative has to know; the p with the least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pubplan.engine import random_stream
from pubplan.errors import unknown_name
from pubplan.planning.parameters import check_int
from pubplan.problems.overlay.entries import entries_by_topic, topics_of
from pubplan.problems.overlay.kernels.representatives import find_representatives
from pubplan.problems.overlay.problem import MAX_COUNT, Problem
from pubplan.workload import Csr, Int32Array, Int64Array

BULK_SHARE = 5
"""At most one node in five is bulk."""

COVERAGE = 3
"""Representatives that each topic of a part has unless given."""

GIVE_UP_RATIO = 2
"""No more numbers of parts are tried when the predicted work is this many times the least."""

WORK_TOLERANCE = 1.1
"""Fewer parts, which make for lower degrees, are preferred if the predicted work is at most this many times the least.
"""

NO_PART = -1


@dataclass(frozen=True)
class Division:
    """Which node is in which part.

    Attributes:
        eta: nodes with more topics are bulk.
        num_parts: parts of the other nodes.
        parts: the part of every node, or NO_PART for bulk nodes.
    """

    eta: int
    num_parts: int
    parts: Int32Array

    @property
    def bulk(self) -> Int32Array:
        return np.flatnonzero(self.parts == NO_PART).astype(np.int32)

    @property
    def num_light(self) -> int:
        return int(np.count_nonzero(self.parts != NO_PART))

    def nodes_of_part(self, part: int) -> Int32Array:
        """The nodes of a part, ascending."""
        return np.flatnonzero(self.parts == part).astype(np.int32)


@dataclass(frozen=True)
class _Trial:
    """What a number of parts comes to: bulk nodes, light ones, representatives as estimated, and overlaps."""

    num_parts: int
    bulk: int
    light: int
    representatives: int
    overlaps: int


@dataclass(frozen=True)
class Model:
    """How a number of parts is chosen: the smallest whose predicted work is within ``tolerance`` times the least."""

    work: Callable[[_Trial], float]
    tolerance: float = 1.0

    def choose(self, works: Mapping[int, float]) -> int:
        """The number of parts, from the predicted work by number of parts."""
        least = min(works.values())
        return min(num_parts for num_parts, work in works.items() if work <= self.tolerance * least)


def _pairs(trial: _Trial) -> float:
    return (trial.bulk + trial.representatives) ** 2 + trial.light**2 / trial.num_parts


def _fourth_powers(trial: _Trial) -> float:
    return (trial.bulk + trial.representatives) ** 4 + trial.light**4 / trial.num_parts**3


def _known(trial: _Trial) -> float:
    p = trial.num_parts
    return trial.light / p + trial.bulk + trial.representatives * (p - 1) / p


MODELS = {
    "overlaps": Model(lambda trial: trial.overlaps, WORK_TOLERANCE),
    "paper": Model(_pairs),
    "fourth-powers": Model(_fourth_powers),
    "known": Model(_known),
}


@dataclass(frozen=True)
class PartParameters:
    """How nodes are divided into parts."""

    parts: int | None = field(
        default=None, metadata={"help": "Number of parts; unless given, one that the model of the work chooses."}
    )
    model: str = field(
        default="overlaps",
        metadata={"help": f"How work is predicted where parts is not given: {', '.join(MODELS)}."},
    )

    def __post_init__(self) -> None:
        if self.parts is not None:
            check_int("parts", self.parts, 1, MAX_COUNT)
        if self.model not in MODELS:
            raise ValueError(unknown_name("model of the work", self.model, MODELS).removesuffix("."))


@dataclass(frozen=True)
class BulkParameters(PartParameters):
    """How nodes are divided into bulk ones and parts."""

    eta: int | None = field(
        default=None,
        metadata={"help": "Nodes with more topics are bulk; unless given, at most a fifth of all nodes are."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eta is not None:
            check_int("eta", self.eta, 0, MAX_COUNT)


@dataclass(frozen=True)
class CoverageParameters(BulkParameters):
    """How nodes are divided, and how many of a part represent it."""

    coverage: int = field(
        default=COVERAGE,
        metadata={"help": "Lambda: representatives of a part for each of its topics, if it has as many nodes for it."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("coverage", self.coverage, 1, MAX_COUNT)


def divide(
    problem: Problem, parameters: PartParameters, seed: int, *, eta: int | None, coverage: int = COVERAGE
) -> Division:
    """Divide nodes into bulk ones and parts.

    The same seed gives the same division. There are at most as many parts as light nodes, and always one.

    Args:
        parameters: how many parts there are, or by which model their number is chosen.
        eta: nodes with more topics are bulk; None is the least with which at most a fifth of all nodes are.
        coverage: the representatives of each topic that the model counts with.
    """
    num_topics = np.diff(problem.instance.topics_by_node.offsets)
    threshold = least_eta(num_topics) if eta is None else eta
    bulk = np.flatnonzero(num_topics > threshold).astype(np.int32)
    light = np.flatnonzero(num_topics <= threshold).astype(np.int32)
    shuffled = random_stream(seed, "overlay/parts").permutation(light)
    num_parts = parameters.parts
    if num_parts is None:
        model = MODELS[parameters.model]
        num_parts = model.choose(_predicted_works(problem, bulk, shuffled, coverage, model))
    num_parts = max(1, min(num_parts, len(light)))
    parts = np.full(problem.num_nodes, NO_PART, dtype=np.int32)
    for part, nodes in enumerate(np.array_split(shuffled, num_parts)):
        parts[nodes] = part
    return Division(threshold, num_parts, parts)


def least_eta(topics_per_node: Int64Array) -> int:
    """The least number such that at most a fifth of all nodes have more topics."""
    if not len(topics_per_node):
        return 0
    ranked = np.sort(topics_per_node)[::-1]
    return int(ranked[len(ranked) // BULK_SHARE])


def representatives(topics_by_node: Csr, num_topics: int, topic_sizes: Int64Array, coverage: int) -> Int32Array:
    """Nodes of a part such that each topic that is also wanted elsewhere has ``coverage`` of them, or all it has.

    Args:
        topics_by_node: the topics of the part's nodes.
        topic_sizes: how many nodes each topic has in all parts together.

    Returns:
        Positions of nodes in the part, ascending.
    """
    by_topic = entries_by_topic(topics_by_node, num_topics)
    part_sizes = np.diff(by_topic.offsets)
    needed = np.where(part_sizes < topic_sizes, np.minimum(part_sizes, coverage), 0).astype(np.int32)
    is_chosen = np.zeros(topics_by_node.num_rows, dtype=np.bool_)
    find_representatives(topics_by_node.offsets, topics_by_node.values, by_topic, needed, is_chosen)
    return np.flatnonzero(is_chosen).astype(np.int32)


def _predicted_works(
    problem: Problem, bulk: Int32Array, shuffled: Int32Array, coverage: int, model: Model
) -> dict[int, float]:
    """The predicted work by number of parts, in growing steps, until it is GIVE_UP_RATIO times the least."""
    num_topics, topics_by_node = problem.num_topics, problem.instance.topics_by_node
    bulk_sizes = np.bincount(topics_of(topics_by_node, bulk).values, minlength=num_topics)
    works: dict[int, float] = {}
    num_parts = 1
    while num_parts <= max(1, len(shuffled)):
        nodes = np.sort(shuffled[: -(-len(shuffled) // num_parts)])
        part = topics_of(topics_by_node, nodes)
        chosen = representatives(part, num_topics, problem.instance.topic_sizes, coverage)
        part_sizes = np.bincount(part.values, minlength=num_topics)
        chosen_sizes = np.bincount(topics_of(part, chosen).values, minlength=num_topics)
        overlaps = num_parts * _overlaps(part_sizes) + _overlaps(bulk_sizes + num_parts * chosen_sizes)
        works[num_parts] = model.work(_Trial(num_parts, len(bulk), len(shuffled), num_parts * len(chosen), overlaps))
        if works[num_parts] > GIVE_UP_RATIO * min(works.values()):
            break
        num_parts = max(num_parts + 1, num_parts * 5 // 4)
    return works


def _overlaps(topic_sizes: Int64Array) -> int:
    """Common topics of all pairs of nodes, from the number of nodes of each topic."""
    return int((topic_sizes * (topic_sizes - 1) // 2).sum())
