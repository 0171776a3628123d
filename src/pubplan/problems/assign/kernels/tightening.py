"""Filters made again from what they must cover: leaves from their clients, other brokers from their children."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.assign.kernels.field import Field, Tree
from pubplan.problems.assign.kernels.filters import Filters, Work
from pubplan.problems.assign.kernels.measures import copy_box
from pubplan.problems.assign.kernels.packing import pack
from pubplan.workload import Int32Array, Int64Array


@kernel
def pack_leaf(field: Field, filters: Filters, leaf: int, rectangles: Int32Array, work: Work) -> None:
    """Pack the filter of a leaf around the rectangles of its clients."""
    covered = np.empty((len(rectangles), field.boxes.shape[1]), dtype=np.int64)
    for index in range(len(rectangles)):
        copy_box(field.boxes[rectangles[index]], covered[index])
    size, measured = pack(field.measure, filters.boxes[leaf], filters.sizes[leaf], covered, work)
    filters.sizes[leaf], filters.measures[leaf] = size, measured


@kernel
def pack_inner(field: Field, tree: Tree, filters: Filters, broker: int, work: Work) -> None:
    """Pack the filter of a broker around the boxes of its children."""
    first, stop = tree.child_offsets[broker], tree.child_offsets[broker + 1]
    num_boxes = 0
    for entry in range(first, stop):
        num_boxes += filters.sizes[tree.children[entry]]
    covered = np.empty((num_boxes, field.boxes.shape[1]), dtype=np.int64)
    index = 0
    for entry in range(first, stop):
        child = tree.children[entry]
        for slot in range(filters.sizes[child]):
            copy_box(filters.boxes[child, slot], covered[index])
            index += 1
    size, measured = pack(field.measure, filters.boxes[broker], filters.sizes[broker], covered, work)
    filters.sizes[broker], filters.measures[broker] = size, measured


@kernel
def pack_all(
    field: Field, tree: Tree, filters: Filters, offsets: Int64Array, rectangles: Int32Array, work: Work
) -> None:
    """Pack the filters of all brokers, from the leaves up.

    Args:
        offsets: ``rectangles[offsets[leaf] : offsets[leaf + 1]]`` are the distinct rectangles of a leaf.
    """
    for broker in range(len(field.parents)):
        if tree.child_offsets[broker] == tree.child_offsets[broker + 1]:
            pack_leaf(field, filters, broker, rectangles[offsets[broker] : offsets[broker + 1]], work)
    for broker in tree.inner:
        pack_inner(field, tree, filters, broker, work)
