"""Re-evaluates the tree of the bound ``search``, with NumPy alone.

Definitions. Subscribers who want the same topics and need the same are one *row* with the sum of their weights; rows
come in order of their first subscriber, without those who have no weight, need nothing, or want a single topic (their
weight is paid by that topic). A vector has multipliers of some interests of these rows, in units of 2^-32; the others
pay nothing. Rows with more than 12 free topics count events in steps of which 4096 satisfy them, or singly where fewer
events do; what a topic brings is rounded up to whole steps.

A node of the tree is the part of all plans that serves some topics and closes others; topics that cost more than the
capacity left to it are closed too. For any multipliers and any price per cost, none of its plans is worth more than

    what is certain + sum over rows of the most that a set of free topics satisfies after paying their multipliers
    + price * capacity left + sum over free topics of max(0, payments - price * cost)

and a plan that decides one free topic against the sign of its (payments - price * cost) is worth less than that by this
amount. So a node keeps the claimed bound if this value does. Otherwise every topic whose other choice would keep it is
fixed, and the children must keep it: two that serve a topic and do not, or one that goes on with what was fixed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubplan.engine import exact_dot, exact_sum
from pubplan.errors import Violation
from pubplan.planning import Plan
from pubplan.problems.select.plan import SEARCH, TREE, TREE_SCHEMA, VECTORS, VECTORS_SCHEMA
from pubplan.problems.select.problem import Problem
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.problems.select.verifier.bounds import BlockRows, Curve

FIXED_POINT_ONE = 2**32
_NOTHING = -1
_MAX_ENUMERATED_TOPICS = 12
_MAX_GRID_STEPS = 4096
_MAX_SETS_AT_ONCE = 2**21
_UNREACHED = 2**62
_HELD_BLOCKS = 8

_WHERE = "certificate/search"


@dataclass(frozen=True)
class SearchCheck:
    """One bound ``search``. Only small problems have one, so the rows are taken along as they are."""

    problem: Problem
    plan: Plan
    costs: Int64Array
    capacity: int

    def scan_block(self, rows: BlockRows) -> BlockRows:
        return rows

    def finish(self, scans: list[BlockRows]) -> tuple[list[Violation], Curve]:
        total = float(self.problem.total_weight)
        return self._wrong(scans), lambda capacities: np.full(len(capacities), total)

    def _wrong(self, blocks: list[BlockRows]) -> list[Violation]:
        problem, stored = self.problem, self.plan.certificate(SEARCH).bound
        if stored.scale != problem.scale or stored.value < 0:
            fault = "bound that is negative or not in units of the objective"
            return [Violation(fault, f"{_WHERE}.json", stated=f"{stored.value:,} / {stored.scale:,}")]
        if stored.value >= problem.total_weight * problem.scale:
            return []  # nothing is worth more
        try:
            tree = _Tree.read(self.plan, len(self.costs))
            everything = _all_plans(problem, self.costs, self.capacity, blocks)
            vectors = _Vectors(self.plan, int(tree.vector.max()) + 1)
            must_not = np.flatnonzero(~problem.is_open)
            must = problem.first_choices.astype(np.int64)
            whole = everything.fixed(must, np.setdiff1d(must_not, must))
            cutoff = (stored.value + 1) * FIXED_POINT_ONE - 1 if problem.objective == "b3m" else stored.value
            exceeding = _exceeding(tree, vectors, whole, cutoff)
        except _Damaged as error:
            return [Violation(f"search tree that is not a proof, because {error}", _WHERE)]
        if not exceeding:
            return []
        return [Violation("parts of all plans not shown to be within the bound", f"{_WHERE}-tree", cases=exceeding)]


class _Damaged(Exception):
    """The evidence is not a proof."""


@dataclass(frozen=True)
class _Tree:
    """The nodes as columns, and the children of each."""

    topic: Int64Array
    served: npt.NDArray[np.bool_]
    vector: Int64Array
    payment: Int64Array
    cost: Int64Array
    children: list[list[int]]

    @classmethod
    def read(cls, plan: Plan, num_topics: int) -> _Tree:
        table = plan.certificate_block(SEARCH, TREE, 0, TREE_SCHEMA)
        if not table.num_rows:
            raise _Damaged("it has no nodes")
        parent, topic, vector, payment, cost = (
            table[name].to_numpy().astype(np.int64) for name in ("parent", "topic", "vector", "payment", "cost")
        )
        numbers = np.arange(len(parent))
        if parent[0] != _NOTHING or ((parent[1:] < 0) | (parent[1:] >= numbers[1:])).any():
            raise _Damaged("a node comes before its parent")
        if ((topic < _NOTHING) | (topic >= num_topics) | (vector < _NOTHING)).any():
            raise _Damaged("it names topics or vectors that do not exist")
        if ((payment < 0) | (cost < 1)).any():
            raise _Damaged("a price per cost is not positive")
        served = table["served"].to_numpy()
        if topic[0] != _NOTHING or served[topic == _NOTHING].any():
            raise _Damaged("a node without a topic serves it")
        children: list[list[int]] = [[] for _ in parent]
        for number in range(1, len(parent)):
            children[parent[number]].append(number)
        return cls(topic, served, vector, payment, cost, children)


@dataclass(frozen=True)
class _Vector:
    """Multipliers of some interests, which ascend."""

    interests: Int64Array
    multipliers: Int64Array

    def of(self, interests: Int64Array) -> Int64Array:
        """The multipliers of these interests, 0 where there is none."""
        if not len(self.interests):
            return np.zeros(len(interests), dtype=np.int64)
        index = np.minimum(np.searchsorted(self.interests, interests), len(self.interests) - 1)
        return np.asarray(np.where(self.interests[index] == interests, self.multipliers[index], 0))


class _Vectors:
    """The multipliers of nodes, read block by block as they are asked for. Only the last block may be shorter."""

    def __init__(self, plan: Plan, num_vectors: int) -> None:
        self._plan = plan
        self._num_vectors = num_vectors
        self._held: OrderedDict[int, list[_Vector]] = OrderedDict()
        self._per_block: int = plan.certificate_block(SEARCH, VECTORS, 0, VECTORS_SCHEMA).num_rows
        if not self._per_block:
            raise _Damaged("there are no multipliers")

    def __getitem__(self, number: int) -> _Vector:
        block, row = divmod(number, self._per_block)
        held = self._held.get(block)
        if held is None:
            held = self._held[block] = self._read(block)
            if len(self._held) > _HELD_BLOCKS:
                self._held.popitem(last=False)
        return held[row]

    def _read(self, block: int) -> list[_Vector]:
        table = self._plan.certificate_block(SEARCH, VECTORS, block, VECTORS_SCHEMA)
        if table.num_rows != min(self._per_block, self._num_vectors - block * self._per_block):
            raise _Damaged(f"block {block} of the multipliers does not have the vectors of the tree")
        columns = [table[name].combine_chunks() for name in table.column_names]
        offsets, others = (np.asarray(column.offsets) - column.offsets[0].as_py() for column in columns)
        if not np.array_equal(offsets, others):
            raise _Damaged(f"block {block} does not have one multiplier per interest")
        interests, multipliers = (np.asarray(column.flatten()).astype(np.int64) for column in columns)
        spans = [slice(first, last) for first, last in pairwise(offsets)]
        if any((np.diff(interests[span]) <= 0).any() for span in spans):
            raise _Damaged(f"the interests of a vector in block {block} do not ascend")
        return [_Vector(interests[span], multipliers[span]) for span in spans]


@dataclass(frozen=True)
class _Part:
    """A part of all plans: its free topics, and the rows that they can still help.

    ``entries`` are the numbers of the free interests of these rows in a vector; ``certain`` is in units of 2^-32.
    """

    offsets: Int64Array
    topics: Int32Array
    brings: Int64Array
    entries: Int64Array
    needed: Int64Array
    received: Int64Array
    weights: Int64Array
    costs: Int64Array
    single_weights: Int64Array
    is_free: npt.NDArray[np.bool_]
    is_served: npt.NDArray[np.bool_]
    left: int
    certain: int
    is_whole: bool

    def satisfaction(self, needed: Int64Array, received: Int64Array) -> Int64Array:
        slope = 0 if self.is_whole else -(-FIXED_POINT_ONE // needed)
        partial = slope * np.minimum(received, needed)
        return np.asarray(np.where(received >= needed, FIXED_POINT_ONE, np.minimum(FIXED_POINT_ONE, partial)))

    def fixed(self, served: Int64Array, closed: Int64Array) -> _Part | None:
        """The part of these plans that serves and closes some free topics; None if that costs more than is left."""
        left = self.left - exact_sum(self.costs[served])
        if left < 0:
            return None
        is_served, is_free = self.is_served.copy(), self.is_free.copy()
        is_served[served] = True
        is_free[served] = is_free[closed] = False
        is_free &= self.costs <= left
        row = np.repeat(np.arange(len(self.needed)), np.diff(self.offsets))
        comes, may_come = is_served[self.topics], is_free[self.topics] & (self.brings > 0)
        received, offered = self.received.copy(), np.zeros_like(self.received)
        np.add.at(received, row[comes], self.brings[comes])
        np.add.at(offered, row[may_come], self.brings[may_come])
        received = np.minimum(received, self.needed)
        can_gain = (received < self.needed) & (offered > 0)
        if self.is_whole:
            can_gain &= received + offered >= self.needed
        kept = may_come & can_gain[row]
        lengths = np.bincount(row[kept], minlength=len(self.needed))[can_gain]
        settled = self.satisfaction(self.needed[~can_gain], received[~can_gain])
        return replace(
            self,
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            topics=self.topics[kept],
            brings=self.brings[kept],
            entries=self.entries[kept],
            needed=self.needed[can_gain],
            received=received[can_gain],
            weights=self.weights[can_gain],
            is_free=is_free,
            is_served=is_served,
            left=left,
            certain=self.certain
            + FIXED_POINT_ONE * exact_sum(self.single_weights[served])
            + exact_dot(settled, self.weights[~can_gain]),
        )

    def evaluate(self, vector: _Vector, payment: int, cost: int) -> _Value:
        """The value of this part at multipliers and a price of ``payment`` per ``cost``."""
        multipliers = vector.of(self.entries)
        lengths = np.diff(self.offsets)
        payments = self.single_weights * FIXED_POINT_ONE
        np.add.at(payments, self.topics, multipliers * np.repeat(self.weights, lengths))
        free = np.flatnonzero(self.is_free)
        reduced_costs = payments[free].astype(object) * cost - payment * self.costs[free].astype(object)
        filled = sum(amount for amount in reduced_costs if amount > 0) + payment * self.left
        worths = _worths(self, multipliers)
        return _Value(self.certain + exact_dot(worths, self.weights) - (-filled // cost), cost, free, reduced_costs)


@dataclass(frozen=True)
class _Value:
    """The value of a part in units of 2^-32, and by free topic what the other choice loses, times ``cost``."""

    value: int
    cost: int
    free: Int64Array
    reduced_costs: npt.NDArray[np.object_]

    def sure_choices(self, cutoff: int) -> tuple[Int64Array, Int64Array]:
        """The free topics that every plan beyond the cutoff serves, and those that every such plan leaves."""
        allowed = (self.value - cutoff) * self.cost
        is_served = np.array([amount >= allowed for amount in self.reduced_costs], dtype=bool)
        is_closed = np.array([-amount >= allowed for amount in self.reduced_costs], dtype=bool)
        return self.free[is_served], self.free[is_closed & ~is_served]


def _exceeding(tree: _Tree, vectors: _Vectors, whole: _Part | None, cutoff: int) -> int:
    """How many parts of all plans are not shown to be within the cutoff."""
    exceeding = 0
    waiting: list[tuple[int, _Part]] = [] if whole is None else [(0, whole)]
    while waiting:
        number, part = waiting.pop()
        if tree.vector[number] != _NOTHING:
            vector = vectors[int(tree.vector[number])]
            bounded = part.evaluate(vector, int(tree.payment[number]), int(tree.cost[number]))
            if bounded.value <= cutoff:
                continue
            tightened = part.fixed(*bounded.sure_choices(cutoff))
            if tightened is None:
                continue
            part = tightened
        children = tree.children[number]
        if not children:
            exceeding += 1
        waiting += _children(tree, children, part)
    return exceeding


def _children(tree: _Tree, children: list[int], part: _Part) -> Iterator[tuple[int, _Part]]:
    """The parts of the children, which together must be the whole part."""
    topics = {int(tree.topic[child]) for child in children}
    choices = sorted(bool(tree.served[child]) for child in children)
    if children and (len(topics) > 1 or (topics == {_NOTHING}) != (len(children) == 1)):
        raise _Damaged("children do not divide their parent")
    if children and topics != {_NOTHING} and choices != [False, True]:
        raise _Damaged("children do not divide their parent")
    for child in children:
        topic, is_served = int(tree.topic[child]), bool(tree.served[child])
        if topic == _NOTHING:
            yield child, part
        elif part.is_free[topic]:
            chosen = np.array([topic])
            below = part.fixed(chosen[:is_served], chosen[is_served:])
            assert below is not None  # a free topic is affordable
            yield child, below
        elif is_served == part.is_served[topic]:
            yield child, part  # the other child has no plans


def _all_plans(problem: Problem, costs: Int64Array, capacity: int, blocks: list[BlockRows]) -> _Part:
    """All plans: subscribers merged into rows, every topic free."""
    weight_of: dict[tuple[bytes, int], int] = {}
    single_weights = np.zeros(len(costs), dtype=np.int64)
    certain = 0
    events = np.zeros(len(costs), dtype=np.int64)
    for rows in blocks:
        lengths = np.diff(rows.offsets)
        certain += FIXED_POINT_ONE * exact_sum(rows.weights[rows.needed == 0])
        events[rows.topics] = rows.events
        for row in np.flatnonzero((rows.needed > 0) & (rows.weights > 0)):
            topics = rows.topics[rows.offsets[row] : rows.offsets[row + 1]]
            if lengths[row] == 1:
                single_weights[topics] += rows.weights[row]
                continue
            # Equal subscribers: the same topics, as bytes, and the same need.
            key = (topics.astype(np.int32).tobytes(), int(rows.needed[row]))
            weight_of[key] = weight_of.get(key, 0) + int(rows.weights[row])
    members = [np.frombuffer(topics, dtype=np.int32) for topics, _ in weight_of]
    lengths = np.array([len(topics) for topics in members], dtype=np.int64)
    needed = np.array([need for _, need in weight_of], dtype=np.int64)
    topics = np.concatenate([np.empty(0, np.int32), *members])
    return _Part(
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        topics=topics,
        brings=np.minimum(events[topics], np.repeat(needed, lengths)),
        entries=np.arange(len(topics)),
        needed=needed,
        received=np.zeros_like(needed),
        weights=np.array(list(weight_of.values()), dtype=np.int64),
        costs=costs,
        single_weights=single_weights,
        is_free=np.ones(len(costs), dtype=bool),
        is_served=np.zeros(len(costs), dtype=bool),
        left=capacity,
        certain=certain,
        is_whole=problem.objective == "b3m",
    )


def _worths(part: _Part, multipliers: Int64Array) -> Int64Array:
    """The most that each row is worth after payment, in units of 2^-32."""
    lengths = np.diff(part.offsets)
    worths = np.empty(len(lengths), dtype=np.int64)
    for length in np.unique(lengths):
        picked = np.flatnonzero(lengths == length)
        if length <= _MAX_ENUMERATED_TOPICS:
            worths[picked] = _worths_of_all_sets(part, multipliers, picked, int(length))
        else:
            for row in picked:
                worths[row] = _worth_on_grid(part, multipliers, int(row))
    return worths


def _worths_of_all_sets(part: _Part, multipliers: Int64Array, picked: Int64Array, length: int) -> Int64Array:
    """For rows of one length: the best of all sets of their topics, for some rows at a time."""
    worths = np.empty(len(picked), dtype=np.int64)
    size = max(1, _MAX_SETS_AT_ONCE >> length)
    for first in range(0, len(picked), size):
        rows = picked[first : first + size]
        entries = part.offsets[rows][:, None] + np.arange(length)
        received, paid = part.received[rows][:, None], np.zeros((len(rows), 1), dtype=np.int64)
        for position in range(length):
            received = np.hstack([received, received + part.brings[entries[:, [position]]]])
            paid = np.hstack([paid, paid + multipliers[entries[:, [position]]]])
        satisfied = part.satisfaction(part.needed[rows][:, None], received)
        worths[first : first + size] = (satisfied - paid).max(axis=1)
    return worths


def _worth_on_grid(part: _Part, multipliers: Int64Array, row: int) -> int:
    """For a long row: events counted in steps, rounded up, and the least payment for every number of steps."""
    entries = np.arange(part.offsets[row], part.offsets[row + 1])
    needed, received = part.needed[[row]], int(part.received[row])
    missing = int(needed[0]) - received
    width = -(-int(needed[0]) // _MAX_GRID_STEPS)
    last = -(-missing // width)
    least = np.full(last + 1, _UNREACHED, dtype=np.int64)
    least[0] = 0
    for brings, multiplier in zip(part.brings[entries], multipliers[entries], strict=True):
        steps = int(-(-min(int(brings), missing) // width))
        with_it = np.full(last + 1, _UNREACHED, dtype=np.int64)
        with_it[steps:] = least[: last + 1 - steps] + multiplier
        with_it[last] = least[last - steps :].min() + multiplier  # whatever fills the row counts as full
        least = np.minimum(least, with_it)
    worths = part.satisfaction(needed, received + width * np.arange(last + 1)) - least
    return int(worths[least < _UNREACHED].max())
