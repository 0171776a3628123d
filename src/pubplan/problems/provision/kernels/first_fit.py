"""Packing pair by pair on the first VM that can take it (FFBinPacking)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pubplan.kernels import kernel
from pubplan.kernels.max_tree import empty_tree, first_leaf, grown_tree, leaf_value, set_leaf
from pubplan.problems.provision.kernels.packing import Portions, empty_portions, first_portions, put_portion
from pubplan.workload import Int32Array, Int64Array

NO_HOST = -1
"""Ends a list of hosts."""


class Hosts(NamedTuple):
    """Linked lists of the VMs that carry a topic, one for each topic: VM, pairs on it, the next host, topic."""

    vms: Int64Array
    pairs: Int64Array
    next_hosts: Int64Array
    topics: Int64Array


class FirstFit(NamedTuple):
    """The VMs so far, between blocks of pairs.

    ``tree`` has the free capacity of the VMs; ``heads`` has for each topic the first of its hosts, or NO_HOST.
    """

    tree: Int64Array
    num_vms: int
    heads: Int32Array
    hosts: Hosts
    num_hosts: int


@kernel
def empty_hosts(room: int) -> Hosts:
    """Room for hosts."""
    return Hosts(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64))


@kernel
def empty_first_fit(num_topics: int) -> FirstFit:
    """No VM is deployed."""
    return FirstFit(empty_tree(16), 0, np.full(num_topics, NO_HOST, dtype=np.int32), empty_hosts(16), 0)


@kernel
def grown_hosts(hosts: Hosts, num_hosts: int) -> Hosts:
    """The hosts themselves while there is room, else a larger copy."""
    if num_hosts < len(hosts.vms):
        return hosts
    larger = empty_hosts(2 * num_hosts + 16)
    larger.vms[:num_hosts] = hosts.vms
    larger.pairs[:num_hosts] = hosts.pairs
    larger.next_hosts[:num_hosts] = hosts.next_hosts
    larger.topics[:num_hosts] = hosts.topics
    return larger


@kernel
def first_fit(pairs: Int32Array, streams: Int64Array, limit: int, state: FirstFit, vms: Int32Array) -> FirstFit:
    """Put pair after pair, given by their topics, on the first VM that can take it; writes which.

    A VM takes a pair if its stream fits, and fits once more unless the VM carries the topic already. A host that is too
    full for one more pair is never asked again. ``state`` is changed; use what is returned instead.
    """
    tree, num_vms, heads, hosts, num_hosts = state
    for position in range(len(pairs)):
        topic = pairs[position]
        stream = streams[topic]
        vm = first_leaf(tree, 2 * stream)  # the first that could take the topic anew
        # Of the topic's hosts, which need only one stream more, the first one before that.
        best, before, link = NO_HOST, NO_HOST, heads[topic]
        while link >= 0:
            host, after = hosts.vms[link], hosts.next_hosts[link]
            if leaf_value(tree, host) < stream:  # full for good: take it out of the list
                if before < 0:
                    heads[topic] = after
                else:
                    hosts.next_hosts[before] = after
            else:
                if (vm < 0 or host <= vm) and (best < 0 or host < hosts.vms[best]):
                    best = link
                before = link
            link = after
        if best >= 0:
            vm = hosts.vms[best]
            hosts.pairs[best] += 1
            set_leaf(tree, vm, leaf_value(tree, vm) - stream)
        else:
            if vm < 0:
                tree = grown_tree(tree, num_vms)
                vm = num_vms
                set_leaf(tree, vm, limit)
                num_vms += 1
            hosts = grown_hosts(hosts, num_hosts)
            hosts.vms[num_hosts], hosts.pairs[num_hosts] = vm, 1
            hosts.next_hosts[num_hosts], hosts.topics[num_hosts] = heads[topic], topic
            heads[topic] = num_hosts
            num_hosts += 1
            set_leaf(tree, vm, leaf_value(tree, vm) - 2 * stream)
        vms[position] = vm
    return FirstFit(tree, num_vms, heads, hosts, num_hosts)


@kernel
def first_fit_by_topic(topics: Int64Array, streams: Int64Array, counts: Int64Array, limit: int) -> Portions:
    """What ``first_fit`` makes of all pairs of the first topic, then all of the second, and so on.

    VMs before the one with the topic's latest pair do not take a first pair of it and are too full for another, so its
    pairs fill one VM after the other.
    """
    tree = empty_tree(16)
    portions = empty_portions(len(topics) + 16)
    num_portions, num_vms = 0, 0
    for position in range(len(topics)):
        topic = topics[position]
        stream, left = streams[topic], counts[topic]
        while left > 0:
            vm = first_leaf(tree, 2 * stream)
            if vm < 0:
                tree = grown_tree(tree, num_vms)
                vm = num_vms
                set_leaf(tree, vm, limit)
                num_vms += 1
            free = leaf_value(tree, vm)
            taken = left if stream == 0 else min(left, free // stream - 1)
            set_leaf(tree, vm, free - (taken + 1) * stream)
            portions = put_portion(portions, num_portions, topic, vm, taken)
            num_portions += 1
            left -= taken
    return first_portions(portions, num_portions)
