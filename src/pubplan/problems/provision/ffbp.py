"""``ffbp``: pair after pair on the first VM that can take it (FFBinPacking).

The paper takes pairs "in no particular sequence". The order decides into how many VMs a topic flows, so it is a
parameter: by subscriber, as stage 1 lists them; by topic, which splits a topic only where a VM is full; or at random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import draws, open_store, stage
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.kernels import first_fit, first_fit_by_topic
from pubplan.problems.provision.packing import Packing, Stage2, packing_of
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_TOPIC, _VM, _PAIRS = 3, 0, 1  # columns of the hosts

PAIR_ORDERS = ("subscriber", "topic", "random")


@dataclass(frozen=True)
class FfbpParameters:
    """In which order pairs are packed."""

    pair_order: str = field(
        default="subscriber",
        metadata={
            "help": "Pack pairs by subscriber, by topic, or at random by the seed: those of a block of subscribers in "
            "random order, block after block."
        },
    )

    def __post_init__(self) -> None:
        if self.pair_order not in PAIR_ORDERS:
            raise ValueError(f"pair_order must be subscriber, topic or random, not {self.pair_order!r}.")


def pack(
    problem: Problem,
    vm_type: VmType,
    selection: Selection,
    parameters: FfbpParameters,
    seed: int,
    spark: SparkSession | None,
) -> Packing:
    if parameters.pair_order == "topic":
        topics = np.flatnonzero(selection.counts)
        parts = first_fit_by_topic(topics, problem.streams, selection.counts, problem.limit(vm_type))
        return packing_of(problem, vm_type, parts)
    return _pack_blocks(problem, vm_type, selection, seed if parameters.pair_order == "random" else None, spark)


def _pack_blocks(
    problem: Problem, vm_type: VmType, selection: Selection, seed: int | None, spark: SparkSession | None
) -> Packing:
    """Go through the pairs a block at a time, shuffled if there is a seed; only the VMs are kept here."""
    store = open_store(spark)
    num_blocks = len(problem.workload.interests_blocks)
    streams, limit = problem.streams, problem.limit(vm_type)
    tree, num_vms = np.full(32, -1, dtype=np.int64), 0
    heads = np.full(len(streams), -1, dtype=np.int32)
    hosts, num_hosts = np.empty((16, 4), dtype=np.int64), 0
    with stage("packing pairs", num_blocks) as advance:
        for block in range(num_blocks):
            chosen = selection.read(block).topics
            order = None if seed is None else draws(seed, "provision/ffbp", block).permutation(len(chosen))
            packed = np.empty(len(chosen), dtype=np.int32)
            tree, num_vms, hosts, num_hosts = first_fit(
                *(chosen if order is None else chosen[order], streams, limit),
                *(tree, num_vms, heads, hosts, num_hosts, packed),
            )
            if order is not None:
                packed[order] = packed.copy()
            store.put(block, vms=packed)
            advance(1)
    hosts = hosts[:num_hosts]
    hosts = hosts[np.lexsort((hosts[:, _VM], hosts[:, _TOPIC]))]
    topics, vms, pairs = (np.ascontiguousarray(hosts[:, column]) for column in (_TOPIC, _VM, _PAIRS))
    return Packing(vm_type, num_vms, topics, vms, pairs, streams, placed=lambda block: store.get(block, "vms"))


STAGE = Stage2(
    "ffbp",
    pack,
    "pair by pair on the first VM that can take it",
    "P (log B + VMs per topic), by topic T log B + splits",
    FfbpParameters,
)
