"""``level``: as few VMs as the traffic fills, all about equally full.

Topics go by descending traffic, whole, to the VM with the most free capacity. The last ones are the smallest, so they
level the VMs out, and where the fleet is full to the brim it is their streams, the cheapest, that are split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import exact_sum
from pubplan.planning import NoParameters
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.kernels.packing import level_pack
from pubplan.problems.provision.methods import cbp
from pubplan.problems.provision.packing import Packing, Stage2, least_cost, packing_of, total_cost
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def pack(
    problem: Problem,
    vm_type: VmType,
    selection: Selection,
    parameters: NoParameters,
    seed: int,
    spark: SparkSession | None,
) -> Packing:
    """The cheaper of levelled VMs and what ``cbp`` makes of the same pairs, so never more expensive than ``cbp``.

    Where levelled VMs cost the least that is possible, ``cbp`` is not run. The seed does not matter.
    """
    streams, counts, limit = problem.instance.streams, selection.counts, problem.limit(vm_type)
    topics = np.flatnonzero(counts)
    traffic = (counts[topics] + 1) * streams[topics]
    least = -(-exact_sum(traffic) // limit)
    portions = level_pack(topics[np.argsort(-traffic, kind="stable")], streams, counts, limit, max(1, least))
    levelled = packing_of(problem, vm_type, portions)
    if total_cost(problem, levelled) == least_cost(problem, vm_type, selection):
        return levelled
    packed_by_cbp = cbp.pack(problem, vm_type, selection, cbp.CbpParameters(), seed, spark)
    return min(levelled, packed_by_cbp, key=lambda packing: total_cost(problem, packing))


STAGE = Stage2("level", pack, "on as few VMs as the traffic fills, levelled", "T log T")
