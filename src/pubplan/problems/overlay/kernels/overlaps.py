"""What nodes have in common with their best neighbours: the loop of the bounds."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import ByTopic
from pubplan.workload import Int32Array, Int64Array


@kernel
def sum_overlaps(
    offsets: Int64Array,
    topics: Int32Array,
    by_topic: ByTopic,
    first_node: int,
    stop_node: int,
    gains: Int64Array,
) -> int:
    """For some nodes, add to ``gains[d]`` how many topics their d-th best neighbours share with them; returns the most
    neighbours that one of them needs at least to share all topics that it shares with other nodes.
    """
    num_nodes = len(offsets) - 1
    overlaps = np.zeros(num_nodes, dtype=np.int32)
    max_needed = 0
    for node in range(first_node, stop_node):
        size = offsets[node + 1] - offsets[node]
        num_shared = 0
        for entry in range(offsets[node], offsets[node + 1]):
            topic = topics[entry]
            others = by_topic.nodes[by_topic.offsets[topic] : by_topic.offsets[topic + 1]]
            num_shared += len(others) > 1
            for slot in range(len(others)):
                overlaps[np.uint32(others[slot])] += 1  # unsigned: no test for a negative index
        overlaps[node] = 0
        # Counting sort: overlaps are at most the node's topics.
        counts = np.zeros(size + 1, dtype=np.int64)
        for other in range(num_nodes):
            counts[overlaps[other]] += 1
            overlaps[other] = 0
        rank, covered, needed = 0, 0, 0
        overlap = size
        while overlap > 0 and rank < len(gains):
            if counts[overlap] == 0:
                overlap -= 1
                continue
            counts[overlap] -= 1
            gains[rank] += overlap
            rank += 1
            if covered < num_shared:
                covered += overlap
                needed = rank
        max_needed = max(max_needed, needed)
    return max_needed
