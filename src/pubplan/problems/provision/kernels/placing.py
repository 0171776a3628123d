"""Placing of pairs: from how many pairs of a topic each VM carries to the VM of each pair."""

from __future__ import annotations

from typing import NamedTuple

from pubplan.kernels import kernel
from pubplan.workload import Int32Array, Int64Array

SPLIT = -1
"""Stands for the only VM of a topic that has several."""


class SplitTopics(NamedTuple):
    """The topics on several VMs.

    ``numbers`` has the split topic's number s by topic. Its VMs are ``vms[offsets[s] : offsets[s + 1]]``; each takes
    the topic's pairs up to, not including, the rank in ``ends``.
    """

    numbers: Int32Array
    offsets: Int64Array
    ends: Int64Array
    vms: Int32Array


@kernel
def place_pairs(
    topics: Int32Array, only_vms: Int32Array, split_topics: SplitTopics, ranks: Int64Array, vms: Int32Array
) -> None:
    """The VM of each pair: its topic's only one, or that of its rank among the pairs of a topic that is split.

    ``ranks`` has how many pairs of each split topic came before, and is moved on.
    """
    for pair in range(len(topics)):
        topic = topics[pair]
        vm = only_vms[topic]
        if vm == SPLIT:
            split = split_topics.numbers[topic]
            rank = ranks[split]
            ranks[split] += 1
            # Bisection: the first VM whose end is above the rank.
            first, last = split_topics.offsets[split], split_topics.offsets[split + 1]
            while last - first > 1:
                middle = (first + last) // 2
                if split_topics.ends[middle - 1] <= rank:
                    first = middle
                else:
                    last = middle
            vm = split_topics.vms[first]
        vms[pair] = vm
