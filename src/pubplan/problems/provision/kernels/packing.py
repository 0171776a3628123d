"""Packing of topics on VMs, topic by topic.

The free capacity of VMs is in a tree of maxima. A VM that carries n pairs of a topic receives the topic's stream once
and sends it n times, which takes (n + 1) x stream.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.kernels.max_tree import empty_tree, first_leaf, grown_tree, leaf_value, set_leaf
from pubplan.workload import Int64Array

NOT_PLACED = -1
"""Stands for the VM of a portion that has none yet."""


class Portions(NamedTuple):
    """Portions of topics: ``pairs[i]`` pairs of ``topics[i]`` are on VM ``vms[i]``."""

    topics: Int64Array
    vms: Int64Array
    pairs: Int64Array


@kernel
def empty_portions(room: int) -> Portions:
    """Room for portions."""
    return Portions(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64))


@kernel
def put_portion(portions: Portions, number: int, topic: int, vm: int, pairs: int) -> Portions:
    """Write a portion; returns the table, or a larger copy if it was full."""
    if number == len(portions.topics):
        larger = empty_portions(2 * number + 16)
        larger.topics[:number] = portions.topics
        larger.vms[:number] = portions.vms
        larger.pairs[:number] = portions.pairs
        portions = larger
    portions.topics[number], portions.vms[number], portions.pairs[number] = topic, vm, pairs
    return portions


@kernel
def first_portions(portions: Portions, number: int) -> Portions:
    """The portions that were written."""
    return Portions(portions.topics[:number], portions.vms[:number], portions.pairs[:number])


@kernel
def spread(tree: Int64Array, stream: int, num_pairs: int, vms: Int64Array, pairs: Int64Array) -> tuple[int, int]:
    """Distribute pairs of a topic that no VM carries yet, always to the VM with the most free capacity, until all are
    placed or none takes one more.

    Writes which VMs take how many; returns how many VMs, and how many pairs are left.
    """
    num_used = 0
    while num_pairs > 0 and num_used < len(vms):
        free = tree[1]
        vm = first_leaf(tree, free)
        if vm < 0 or free < 2 * stream:
            break
        taken = num_pairs if stream == 0 else min(num_pairs, free // stream - 1)
        set_leaf(tree, vm, free - (taken + 1) * stream)
        vms[num_used], pairs[num_used] = vm, taken
        num_used += 1
        num_pairs -= taken
    return num_used, num_pairs


@kernel
def custom_pack(
    topics: Int64Array,
    streams: Int64Array,
    counts: Int64Array,
    limit: int,
    distributes: bool,
    weighs_cost: bool,
    vm_worth: float,
) -> Portions:
    """Pack the pairs of topic after topic (CustomBinPacking).

    1. All pairs of a topic go to the VM that was deployed last, if they fit.
    2. Otherwise, if ``distributes``, they fill existing VMs, the one with the most free capacity first,
    3. unless ``weighs_cost`` and new VMs are cheaper: ``vm_worth`` is how many bytes of traffic cost as much as a VM.
    4. What is left goes to new VMs.
    """
    tree = empty_tree(16)
    portions = empty_portions(len(topics) + 16)
    num_portions, num_vms = 0, 0
    vms, pairs = np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    for position in range(len(topics)):
        topic = topics[position]
        stream, left = streams[topic], counts[topic]
        if num_vms > 0:
            free = leaf_value(tree, num_vms - 1)
            if (left + 1) * stream <= free:  # 1
                portions = put_portion(portions, num_portions, topic, num_vms - 1, left)
                num_portions += 1
                set_leaf(tree, num_vms - 1, free - (left + 1) * stream)
                continue
        if num_vms > len(vms):
            vms, pairs = np.empty(2 * num_vms, dtype=np.int64), np.empty(2 * num_vms, dtype=np.int64)
        num_used, rest = spread(tree, stream, left, vms, pairs) if distributes else (0, left)  # 2
        per_vm = limit // stream - 1 if stream > 0 else left
        if weighs_cost and num_used > 0:  # 3
            more_vms, all_new = -(-rest // per_vm), -(-left // per_vm)
            distributed = more_vms * vm_worth + float(num_used + more_vms) * stream
            if all_new * vm_worth + float(all_new) * stream <= distributed:
                for used in range(num_used):  # take them back
                    free = leaf_value(tree, vms[used])
                    set_leaf(tree, vms[used], free + (pairs[used] + 1) * stream)
                num_used, rest = 0, left
        for used in range(num_used):
            portions = put_portion(portions, num_portions, topic, vms[used], pairs[used])
            num_portions += 1
        while rest > 0:  # 4
            taken = min(rest, per_vm)
            tree = grown_tree(tree, num_vms)
            set_leaf(tree, num_vms, limit - (taken + 1) * stream)
            portions = put_portion(portions, num_portions, topic, num_vms, taken)
            num_portions += 1
            num_vms += 1
            rest -= taken
    return first_portions(portions, num_portions)


@kernel
def level_pack(topics: Int64Array, streams: Int64Array, counts: Int64Array, limit: int, num_vms: int) -> Portions:
    """Pack topics, given by descending traffic, on ``num_vms`` VMs, and on more if it cannot be done.

    1. A topic with more traffic than a VM carries fills VMs by itself.
    2. What is left goes whole to the VM with the most free capacity.
    3. Topics that fit nowhere whole are split at the end, over the VMs with the most free capacity.
    """
    tree = empty_tree(2)
    for vm in range(num_vms):
        tree = grown_tree(tree, vm)
        set_leaf(tree, vm, limit)
    portions, num_portions = empty_portions(len(topics) + 16), 0
    late, num_late = empty_portions(16), 0
    for position in range(len(topics)):
        topic = topics[position]
        stream, left = streams[topic], counts[topic]
        while left > 0:
            taken = left
            if (left + 1) * stream > limit:  # 1
                taken = limit // stream - 1
            vm = first_leaf(tree, tree[1])  # 2
            if num_vms > 0 and tree[1] >= (taken + 1) * stream:
                set_leaf(tree, vm, tree[1] - (taken + 1) * stream)
                portions = put_portion(portions, num_portions, topic, vm, taken)
                num_portions += 1
            else:
                late = put_portion(late, num_late, topic, NOT_PLACED, taken)
                num_late += 1
            left -= taken
    vms, pairs = np.empty(num_vms + 16, dtype=np.int64), np.empty(num_vms + 16, dtype=np.int64)
    for number in range(num_late):  # 3
        topic, left = late.topics[number], late.pairs[number]
        stream = streams[topic]
        while left > 0:
            num_used, left = spread(tree, stream, left, vms, pairs)
            for used in range(num_used):
                portions = put_portion(portions, num_portions, topic, vms[used], pairs[used])
                num_portions += 1
            if left > 0:
                tree = grown_tree(tree, num_vms)
                set_leaf(tree, num_vms, limit)
                num_vms += 1
                if num_vms > len(vms):
                    vms, pairs = np.empty(2 * num_vms, dtype=np.int64), np.empty(2 * num_vms, dtype=np.int64)
    return first_portions(portions, num_portions)
