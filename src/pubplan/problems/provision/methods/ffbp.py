"""``ffbp``: pair after pair on the first VM that can take it (FFBinPacking).

The paper takes pairs "in no particular sequence". The order decides into how many VMs a topic flows, so it is a
parameter: by subscriber, as stage 1 lists them; by topic, which splits a topic only where a VM is full; or at random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import open_store, random_stream, stage
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.kernels.first_fit import empty_first_fit, first_fit, first_fit_by_topic
from pubplan.problems.provision.packing import Packing, Stage2, packing_of
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

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
    """FFBinPacking: pair after pair in the given order, each on the first VM that can take it, else on a new one.

    The seed matters only for the random order. By topic, pairs are not read at all.
    """
    if parameters.pair_order == "topic":
        topics = np.flatnonzero(selection.counts)
        portions = first_fit_by_topic(topics, problem.instance.streams, selection.counts, problem.limit(vm_type))
        return packing_of(problem, vm_type, portions)
    return _pack_blocks(problem, vm_type, selection, seed if parameters.pair_order == "random" else None, spark)


def _pack_blocks(
    problem: Problem, vm_type: VmType, selection: Selection, seed: int | None, spark: SparkSession | None
) -> Packing:
    """Go through the pairs a block at a time, shuffled if there is a seed; only the VMs are kept here."""
    store = open_store(spark)
    num_blocks = problem.workload.num_blocks
    streams, limit = problem.instance.streams, problem.limit(vm_type)
    state = empty_first_fit(len(streams))
    with stage("packing pairs", num_blocks) as advance:
        for block in range(num_blocks):
            chosen = selection.read(block).topics
            order = None if seed is None else random_stream(seed, "provision/ffbp", block).permutation(len(chosen))
            packed = np.empty(len(chosen), dtype=np.int32)
            state = first_fit(chosen if order is None else chosen[order], streams, limit, state, packed)
            if order is not None:
                packed[order] = packed.copy()
            store.put(block, vms=packed)
            advance(1)
    hosts = state.hosts
    topics, vms, pairs = (values[: state.num_hosts] for values in (hosts.topics, hosts.vms, hosts.pairs))
    order = np.lexsort((vms, topics))
    return Packing(
        vm_type,
        state.num_vms,
        topics[order],
        vms[order],
        pairs[order],
        streams,
        placed=lambda block: store.get(block, "vms"),
    )


STAGE = Stage2(
    "ffbp",
    pack,
    "pair by pair on the first VM that can take it",
    "P (log B + VMs per topic), by topic T log B + splits",
    FfbpParameters,
)
