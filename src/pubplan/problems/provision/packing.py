"""Stage 2: which VM carries which of the chosen pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import exact_dot, exact_sum, map_blocks, stage
from pubplan.planning import NoParameters
from pubplan.problems.provision.catalogue import BYTES_PER_GB, VmType
from pubplan.problems.provision.cost import fleet_costs
from pubplan.problems.provision.instance import MAX_TRAFFIC
from pubplan.problems.provision.kernels.packing import Portions
from pubplan.problems.provision.kernels.placing import SPLIT, SplitTopics, place_pairs
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Pairs, Selection
from pubplan.workload import Int32Array, Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Packing:
    """A fleet of one VM type: ``topics[i]`` has ``pairs[i]`` pairs on VM ``vms[i]``.

    Sorted by topic and VM. The pairs of a topic fill its VMs in this order, unless ``placed`` gives the VMs of a
    block's pairs.
    """

    vm_type: VmType
    num_vms: int
    topics: Int64Array
    vms: Int64Array
    pairs: Int64Array
    streams: Int64Array
    placed: Callable[[int], Int32Array] | None = None

    @property
    def incoming(self) -> int:
        return exact_sum(self.streams[self.topics])

    @property
    def outgoing(self) -> int:
        return exact_dot(self.pairs, self.streams[self.topics])

    def by_vm(self, values: Int64Array) -> Int64Array:
        """The sum over each VM of a value of every portion."""
        sums = np.zeros(self.num_vms, dtype=np.int64)
        np.add.at(sums, self.vms, values)
        return sums


@dataclass(frozen=True)
class Stage2:
    """A way to pack pairs.

    Attributes:
        pack: takes the problem, a VM type, a selection whose topics fit a VM of that type, the stage's parameters, the
            seed and a Spark session or None. Every pair of the selection is on one VM, and no VM is above its limit.
        summary: how it packs, to follow "packs".
    """

    name: str
    pack: Callable[[Problem, VmType, Selection, Any, int, SparkSession | None], Packing]
    summary: str
    complexity: str
    parameters: type = NoParameters


def packing_of(problem: Problem, vm_type: VmType, portions: Portions) -> Packing:
    """From portions in any order, several of one topic and VM among them; VMs without pairs are not rented."""
    num_topics = problem.workload.counts.topics
    is_used = np.zeros(int(portions.vms.max(initial=-1)) + 1, dtype=bool)
    is_used[portions.vms] = True
    topics, vms, pairs = portions.topics, (np.cumsum(is_used) - 1)[portions.vms], portions.pairs
    num_vms = int(is_used.sum())
    is_alone = np.bincount(topics, minlength=num_topics)[topics] == 1
    keys, positions = np.unique(topics[~is_alone] * max(1, num_vms) + vms[~is_alone], return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, positions, pairs[~is_alone])
    split, split_vms = np.divmod(keys, max(1, num_vms))
    # The portions of topics on one VM, then those of the others, into the order of topics.
    sizes = np.bincount(split, minlength=num_topics)
    sizes[topics[is_alone]] = 1
    starts = np.cumsum(sizes) - sizes
    ordered = np.empty((3, int(sizes.sum())), dtype=np.int64)
    ordered[:, starts[topics[is_alone]]] = topics[is_alone], vms[is_alone], pairs[is_alone]
    ordered[:, starts[split] + np.arange(len(split)) - np.searchsorted(split, split)] = split, split_vms, counts
    return Packing(vm_type, num_vms, ordered[0], ordered[1], ordered[2], problem.instance.streams)


def least_cost(problem: Problem, vm_type: VmType, selection: Selection) -> int:
    """What no packing of a selection is below: every stream flows in once, and VMs are full."""
    topics = np.flatnonzero(selection.counts)
    incoming = exact_sum(problem.instance.streams[topics])
    outgoing = exact_dot(selection.counts[topics], problem.instance.streams[topics])
    num_vms = max(int(len(topics) > 0), -(-(incoming + outgoing) // problem.limit(vm_type)))
    return sum(fleet_costs(problem, vm_type, num_vms, incoming, outgoing))


def total_cost(problem: Problem, packing: Packing) -> int:
    """What the fleet costs, in micro-dollars."""
    return sum(fleet_costs(problem, packing.vm_type, packing.num_vms, packing.incoming, packing.outgoing))


def vm_worth(problem: Problem, vm_type: VmType) -> float:
    """How many bytes of incoming traffic cost as much as a VM, at the tariff's first price.

    Where they cost nothing, more than there can be: a VM counts before all traffic, and traffic still counts.
    """
    per_vm = vm_type.micros_per_hour * problem.seconds / 3600
    per_byte = Fraction(vm_type.tariff.incoming[0].micros_per_gb, BYTES_PER_GB)
    if not per_byte:
        return float(MAX_TRAFFIC) if per_vm else 0.0
    return float(per_vm / per_byte)


def placer(
    problem: Problem, packing: Packing, selection: Selection, spark: SparkSession | None
) -> Callable[[int], tuple[Pairs, Int32Array]]:
    """The pairs of a block with their VMs.

    A topic on one VM needs no more than that; the pairs of a split one fill its VMs in order of subscriber, so a first
    scan counts them by block.
    """
    if packing.placed is not None:
        read, placed = selection.read, packing.placed
        return lambda block: (read(block), placed(block))
    num_topics = problem.workload.counts.topics
    num_portions = np.bincount(packing.topics, minlength=num_topics)
    is_alone = num_portions[packing.topics] == 1
    only_vms = np.full(num_topics, SPLIT, dtype=np.int32)
    only_vms[packing.topics[is_alone]] = packing.vms[is_alone]
    split = np.flatnonzero(num_portions > 1)
    numbers = np.full(num_topics, -1, dtype=np.int32)
    numbers[split] = np.arange(len(split), dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum(num_portions[split])]).astype(np.int64)
    pairs = packing.pairs[~is_alone]
    ends = np.cumsum(pairs) - np.repeat((np.cumsum(pairs) - pairs)[offsets[:-1]], num_portions[split])
    split_topics = SplitTopics(numbers, offsets, ends, packing.vms[~is_alone].astype(np.int32))
    ranks = _ranks(problem, selection, numbers, len(split), spark)
    read = selection.read

    def placed_pairs(block: int) -> tuple[Pairs, Int32Array]:
        chosen = read(block)
        vms = np.empty(len(chosen.topics), dtype=np.int32)
        place_pairs(chosen.topics, only_vms, split_topics, ranks[block].copy(), vms)
        return chosen, vms

    return placed_pairs


def _ranks(
    problem: Problem, selection: Selection, split_numbers: Int32Array, num_split: int, spark: SparkSession | None
) -> Int64Array:
    """For each block, how many pairs of each split topic come before it."""
    num_blocks = problem.workload.num_blocks
    if num_split == 0:
        return np.zeros((num_blocks, 0), dtype=np.int64)
    read = selection.read

    def count(block: int) -> Int64Array:
        numbers = split_numbers[read(block).topics]
        return np.bincount(numbers[numbers >= 0], minlength=num_split)

    with stage("counting pairs of split topics"):
        counts = np.stack(list(map_blocks(count, num_blocks, spark)))
    return np.cumsum(counts, axis=0) - counts
