"""Dividing nodes: bulk subscribers, and parts of the others that are drawn at random.

Nodes with more than eta topics are bulk; eta is the least for which they are at most a fifth of all. The rest is
divided into p parts of the same size. Unless p is given, it is chosen by a model of the work, for which the number of
representatives is estimated from those of one part:

* ``overlaps`` (ours): common topics of all pairs of nodes that are looked at together, which finding pairs takes; the
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

from pubplan.engine import draws
from pubplan.errors import InputError, unknown_name
from pubplan.problems.overlay.greedy import by_topic_of
from pubplan.problems.overlay.kernels import find_representatives
from pubplan.problems.overlay.problem import Problem, rows_of
from pubplan.workload import Csr, Int32Array, Int64Array

BULK_SHARE = 5
"""At most one node in five is bulk."""

COVERAGE = 3
"""Representatives of a part that each topic has, if nothing else is asked for."""

TRIAL_LIMIT = 2
"""Trials end when the predicted work is this many times the least."""

WORK_TOLERANCE = 1.1
"""Fewer parts, which make for lower degrees, are preferred if the predicted work is at most this many times the least.
"""

NO_PART = -1


@dataclass(frozen=True)
class Division:
    """Who is in which part.

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

    def members(self, part: int) -> Int32Array:
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
            check_whole("parts", self.parts)
        if self.model not in MODELS:
            raise InputError(unknown_name("model of the work", self.model, MODELS))


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
            check_whole("eta", self.eta, least=0)


@dataclass(frozen=True)
class CoverageParameters(BulkParameters):
    """How nodes are divided, and how many of a part represent it."""

    coverage: int = field(
        default=COVERAGE,
        metadata={"help": "Lambda: representatives of a part for each of its topics, if it has as many nodes for it."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("coverage", self.coverage)


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Refuse what is not a whole number from ``least`` on, or does not fit 32 bits."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**31:
        raise InputError(f"{name} is a whole number, at least {least} and below 2^31, not {value!r}.")


def divide(problem: Problem, own: PartParameters, seed: int, *, eta: int | None, coverage: int = COVERAGE) -> Division:
    """Divide nodes as the parameters say; ``eta`` None chooses it."""
    rows = problem.rows
    sizes = np.diff(rows.offsets)
    threshold = least_eta(sizes) if eta is None else eta
    bulk = np.flatnonzero(sizes > threshold).astype(np.int32)
    light = np.flatnonzero(sizes <= threshold).astype(np.int32)
    shuffled = draws(seed, "overlay/parts").permutation(light)
    num_parts = own.parts
    if num_parts is None:
        model = MODELS[own.model]
        num_parts = model.choose(_works(problem, bulk, shuffled, coverage, model))
    num_parts = max(1, min(num_parts, len(light)))
    parts = np.full(rows.num_rows, NO_PART, dtype=np.int32)
    for part, members in enumerate(np.array_split(shuffled, num_parts)):
        parts[members] = part
    return Division(threshold, num_parts, parts)


def least_eta(sizes: Int64Array) -> int:
    """The least number such that at most a fifth of all nodes have more topics."""
    if not len(sizes):
        return 0
    ranked = np.sort(sizes)[::-1]
    return int(ranked[len(sizes) // BULK_SHARE])


def representatives(rows: Csr, num_topics: int, members: Int64Array, coverage: int) -> Int32Array:
    """Nodes of a part such that each topic that is also wanted elsewhere has ``coverage`` of them, or all it has.

    Args:
        rows: the topics of the part's nodes.
        members: how many nodes each topic has in all.
    """
    by_topic = by_topic_of(rows, num_topics)
    own = np.diff(by_topic.offsets)
    needed = np.where(own < members, np.minimum(own, coverage), 0).astype(np.int32)
    chosen = np.zeros(rows.num_rows, dtype=np.bool_)
    find_representatives(rows.offsets, rows.values, by_topic, needed, chosen)
    return np.flatnonzero(chosen).astype(np.int32)


def _works(problem: Problem, bulk: Int32Array, shuffled: Int32Array, coverage: int, model: Model) -> dict[int, float]:
    """The predicted work for numbers of parts in growing steps, until they no longer promise anything."""
    num_topics = problem.num_topics
    of_bulk = np.bincount(rows_of(problem.rows, bulk).values, minlength=num_topics)
    works: dict[int, float] = {}
    num_parts = 1
    while num_parts <= max(1, len(shuffled)):
        nodes = np.sort(shuffled[: -(-len(shuffled) // num_parts)])
        rows = rows_of(problem.rows, nodes)
        chosen = representatives(rows, num_topics, problem.members, coverage)
        of_part = np.bincount(rows.values, minlength=num_topics)
        of_chosen = np.bincount(rows_of(rows, chosen).values, minlength=num_topics)
        overlaps = num_parts * _overlaps(of_part) + _overlaps(of_bulk + num_parts * of_chosen)
        works[num_parts] = model.work(_Trial(num_parts, len(bulk), len(shuffled), num_parts * len(chosen), overlaps))
        if works[num_parts] > TRIAL_LIMIT * min(works.values()):
            break
        num_parts = max(num_parts + 1, num_parts * 5 // 4)
    return works


def _overlaps(members: Int64Array) -> int:
    """Common topics of all pairs of nodes, from the nodes of each topic."""
    return int((members * (members - 1) // 2).sum())
