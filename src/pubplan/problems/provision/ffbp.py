"""``ffbp``: pair after pair on the first VM that can take it (FFBinPacking)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import open_store, stage
from pubplan.planning import NoParameters
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.kernels import first_fit
from pubplan.problems.provision.packing import Packing, Stage2
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_TOPIC, _VM, _PAIRS = 3, 0, 1  # columns of the hosts


def pack(
    problem: Problem, vm_type: VmType, selection: Selection, parameters: NoParameters, spark: SparkSession | None
) -> Packing:
    """Go through the pairs by subscriber, a block at a time; only the VMs are kept here, the pairs pass by."""
    store = open_store(spark)
    num_blocks = len(problem.workload.interests_blocks)
    streams, limit = problem.streams, problem.limit(vm_type)
    tree, num_vms = np.full(32, -1, dtype=np.int64), 0
    heads = np.full(len(streams), -1, dtype=np.int32)
    hosts, num_hosts = np.empty((16, 4), dtype=np.int64), 0
    with stage("packing pairs", num_blocks) as advance:
        for block in range(num_blocks):
            chosen = selection.read(block).topics
            placed = np.empty(len(chosen), dtype=np.int32)
            tree, num_vms, hosts, num_hosts = first_fit(
                *(chosen, streams, limit, tree, num_vms, heads, hosts, num_hosts, placed)
            )
            store.put(block, vms=placed)
            advance(1)
    hosts = hosts[:num_hosts]
    hosts = hosts[np.lexsort((hosts[:, _VM], hosts[:, _TOPIC]))]
    topics, vms, pairs = (np.ascontiguousarray(hosts[:, column]) for column in (_TOPIC, _VM, _PAIRS))
    return Packing(vm_type, num_vms, topics, vms, pairs, streams, placed=lambda block: store.get(block, "vms"))


STAGE = Stage2("ffbp", pack, "pair by pair on the first VM that can take it", "P (log B + VMs per topic)")
