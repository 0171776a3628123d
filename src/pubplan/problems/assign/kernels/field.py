"""What clients are assigned on, and how far an assignment has come: the arrays that all loops share."""

from __future__ import annotations

from typing import NamedTuple

from pubplan.problems.assign.kernels.filters import Filters, Work
from pubplan.problems.assign.kernels.measures import Measure
from pubplan.workload import Int32Array, Int64Array

UNASSIGNED = -1
"""In the role of a broker: none."""


class Field(NamedTuple):
    """What is given: clients, groups, brokers. Loops only read it.

    Attributes:
        rectangles: for each client its rectangle.
        groups: for each client its group, which decides its candidates.
        weights: what each client adds to the load of its leaf.
        boxes: the distinct rectangles, lows then highs.
        offsets: ``candidates[offsets[group] : offsets[group + 1]]`` are the leaves that may serve a group, ascending.
        parents: for each broker its parent, -1 for those that the publisher feeds.
        shares: for each leaf its share of the load; 0 for brokers inside the tree.
        leaf_offsets: ``leaves_below[leaf_offsets[broker] : leaf_offsets[broker + 1]]`` are the leaves below a broker,
            itself if it is one.
        measure: what is minimised.
    """

    rectangles: Int32Array
    groups: Int32Array
    weights: Int64Array
    boxes: Int64Array
    offsets: Int64Array
    candidates: Int32Array
    parents: Int64Array
    shares: Int64Array
    leaf_offsets: Int64Array
    leaves_below: Int32Array
    measure: Measure

    @property
    def num_clients(self) -> int:
        return len(self.rectangles)

    @property
    def num_brokers(self) -> int:
        return len(self.parents)

    @property
    def num_dimensions(self) -> int:
        return int(self.boxes.shape[1]) // 2


class Tree(NamedTuple):
    """Brokers that feed others.

    Attributes:
        inner: those brokers, the deepest first.
        child_offsets: ``children[child_offsets[broker] : child_offsets[broker + 1]]`` are fed by a broker.
    """

    inner: Int64Array
    child_offsets: Int64Array
    children: Int32Array


class Costs(NamedTuple):
    """Costs of (rectangle, leaf) that are known, kept for rectangles that several clients share.

    Attributes:
        rows: for each rectangle its row in ``costs``, or -1.
        costs: by row and leaf; ``COVERED`` holds as long as the leaf's filter only grows, other costs at one version.
        known_at: the version of the leaf's path at which a cost was computed; -1 for none.
        versions: for each leaf how often a filter on its path has changed.
        shrunk_at: for each leaf the version at which its filter was last made smaller.
    """

    rows: Int32Array
    costs: Int64Array
    known_at: Int32Array
    versions: Int32Array
    shrunk_at: Int32Array


class State(NamedTuple):
    """An assignment on its way: who is where, loads, filters, known costs, and scratch."""

    brokers: Int32Array
    loads: Int64Array
    filters: Filters
    costs: Costs
    work: Work
