"""Nodes that represent their part: a greedy cover of its topics."""

from __future__ import annotations

import numpy as np

from pubplan.kernels import kernel
from pubplan.problems.overlay.kernels.components import BoolArray, ByTopic
from pubplan.workload import Int32Array, Int64Array


@kernel
def find_representatives(
    offsets: Int64Array, topics: Int32Array, by_topic: ByTopic, needed: Int32Array, is_chosen: BoolArray
) -> int:
    """Choose nodes until every topic has as many as it ``needed``, each time one with most topics that still need some;
    returns how many were chosen. Ties go to the first node. ``needed`` counts down.
    """
    num_nodes, num_chosen = len(offsets) - 1, 0
    open_topics = np.zeros(num_nodes, dtype=np.int32)  # of every node, those that still need some
    for node in range(num_nodes):
        for entry in range(offsets[node], offsets[node + 1]):
            open_topics[node] += needed[topics[entry]] > 0
    while num_nodes > 0:
        best = int(np.argmax(open_topics))
        if open_topics[best] <= 0:
            break
        is_chosen[best] = True
        num_chosen += 1
        open_topics[best] = 0
        for entry in range(offsets[best], offsets[best + 1]):
            topic = topics[entry]
            if needed[topic] <= 0:
                continue
            needed[topic] -= 1
            if needed[topic] == 0:
                for slot in range(by_topic.offsets[topic], by_topic.offsets[topic + 1]):
                    node = by_topic.nodes[slot]
                    if not is_chosen[node]:
                        open_topics[node] -= 1
    return num_chosen
