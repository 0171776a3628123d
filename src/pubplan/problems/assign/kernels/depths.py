"""How much of event space is wanted by how much: rectangles laid over a grid, slab by slab."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.workload import Int64Array


@kernel
def measures_by_count(
    firsts: Int64Array,
    lasts: Int64Array,
    weights: Int64Array,
    starts: Int64Array,
    ends: Int64Array,
    sizes: Int64Array,
    widths: Int64Array,
    rows: Int64Array,
    slab_measures: Int64Array,
    thresholds: Int64Array,
) -> Int64Array:
    """The measure of the cells of which a count holds, for several ways to count and every count.

    The weight of a cell is that of the rectangles over it; its count in one way to count is how many thresholds of that
    way are below the weight. A slab is all cells at one position along the first attribute. Differences of weight from
    cell to cell are kept for one slab, and change where rectangles start and end: time is the number of cells, memory
    that of one slab.

    Args:
        firsts: of every rectangle, the first line of the grid along each attribute.
        lasts: the last line; there is a cell between every two lines.
        starts: the rectangles by their first line along the first attribute.
        ends: the rectangles by their last line there.
        sizes: the number of lines along the other attributes.
        widths: the extent of every slab along the first attribute.
        rows: which of ``slab_measures`` holds for every slab.
        slab_measures: the measure of the cells of a slab of extent 1; 0 for those behind the last line.
        thresholds: ascending, a row for each way to count.

    Returns:
        the measures, a row for each way to count, by count.
    """
    num_others, slab_cells = len(sizes), slab_measures.shape[1]
    differences = np.zeros(slab_cells, dtype=np.int64)
    depths = np.empty(slab_cells, dtype=np.int64)
    of_slab = np.zeros((thresholds.shape[0], thresholds.shape[1] + 1), dtype=np.int64)
    measures = np.zeros_like(of_slab)
    counts = np.zeros(thresholds.shape[0], dtype=np.int64)
    started = ended = 0
    for slab in range(len(widths)):
        is_changed = slab == 0 or rows[slab] != rows[slab - 1]
        for sign in (1, -1):
            while True:
                if sign > 0:
                    if started == len(starts) or firsts[starts[started], 0] != slab:
                        break
                    rectangle = starts[started]
                    started += 1
                else:
                    if ended == len(ends) or lasts[ends[ended], 0] != slab:
                        break
                    rectangle = ends[ended]
                    ended += 1
                is_changed = True
                for corner in range(1 << num_others):
                    cell, corner_sign = 0, sign
                    for other in range(num_others):
                        if corner >> other & 1:
                            line = lasts[rectangle, other + 1]
                            corner_sign = -corner_sign
                        else:
                            line = firsts[rectangle, other + 1]
                        cell = cell * sizes[other] + line
                    differences[cell] += corner_sign * weights[rectangle]
        if is_changed:
            depths[:] = differences
            stride = 1
            for other in range(num_others - 1, -1, -1):
                for begin in range(0, slab_cells, stride * sizes[other]):
                    for cell in range(begin + stride, begin + stride * sizes[other]):
                        depths[cell] += depths[cell - stride]
                stride *= sizes[other]
            of_slab[:] = 0
            for cell in range(slab_cells):
                measure = slab_measures[rows[slab], cell]
                for way in range(len(counts)):
                    # Neighbours have much the same count: start from the last one.
                    count = counts[way]
                    while count < thresholds.shape[1] and thresholds[way, count] < depths[cell]:
                        count += 1
                    while count > 0 and thresholds[way, count - 1] >= depths[cell]:
                        count -= 1
                    counts[way] = count
                    of_slab[way, count] += measure
        for way in range(len(counts)):
            for count in range(of_slab.shape[1]):
                measures[way, count] += widths[slab] * of_slab[way, count]
    return measures
