"""``cbp``: all pairs of a topic together, on the VM deployed last if they fit (CustomBinPacking).

The paper's optimisations are the letters of ``steps``: (b) pairs are grouped by topic, (c) the topic with the largest
stream comes first, (d) pairs that do not fit the VM deployed last are distributed over existing VMs, the one with the
most free capacity first, (e) new VMs are deployed where that is cheaper than distributing.

Without (d) such pairs go to new VMs. Section IV-D also says that they go to existing VMs before (d) is introduced, but
then (b) would fill every VM but the last, and (b) could not take more VMs for less traffic, as the paper measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.kernels.packing import custom_pack
from pubplan.problems.provision.packing import Packing, Stage2, packing_of, vm_worth
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.selection import Selection

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


class Step(Enum):
    """The optimisations of section IV-D, by their letters."""

    GROUP_BY_TOPIC = "b"
    EXPENSIVE_FIRST = "c"
    DISTRIBUTE = "d"
    WEIGH_COST = "e"


LETTERS = "".join(step.value for step in Step)


@dataclass(frozen=True)
class CbpParameters:
    """Which optimisations are in force, and what (c) goes by."""

    steps: str = field(
        default="bcde",
        metadata={
            "help": "The optimisations in force: b groups pairs by topic, c takes the most expensive topic first, d "
            "distributes over existing VMs, e deploys new VMs where that is cheaper than d."
        },
    )
    order: str = field(
        default="stream",
        metadata={"help": "What makes a topic expensive for c: its stream, or the traffic of all its pairs."},
    )

    def __post_init__(self) -> None:
        if not isinstance(self.steps, str) or not set(self.steps) <= set(LETTERS) or "b" not in self.steps:
            raise ValueError(f"steps are letters of bcde with b among them, not {self.steps!r}; without b it is ffbp.")
        if Step.WEIGH_COST in self.named_steps and Step.DISTRIBUTE not in self.named_steps:
            raise ValueError(
                f"step e chooses between new VMs and distributing, which is step d; add d to {self.steps!r} or leave "
                "out e."
            )
        if self.order not in ("stream", "traffic"):
            raise ValueError(f"order must be stream or traffic, not {self.order!r}.")

    @property
    def named_steps(self) -> frozenset[Step]:
        """The optimisations in force."""
        return frozenset(map(Step, self.steps))


def pack(
    problem: Problem,
    vm_type: VmType,
    selection: Selection,
    parameters: CbpParameters,
    seed: int,
    spark: SparkSession | None,
) -> Packing:
    """CustomBinPacking with the given steps, O(T log T + splits x log B). The seed does not matter.

    A topic with more pairs than a VM takes, and what step d distributes, is split; all other topics are on one VM.
    """
    streams, counts, steps = problem.instance.streams, selection.counts, parameters.named_steps
    topics = np.flatnonzero(counts)
    if Step.EXPENSIVE_FIRST in steps:
        sizes = streams[topics] if parameters.order == "stream" else streams[topics] * counts[topics]
        topics = topics[np.argsort(-sizes, kind="stable")]
    worth = vm_worth(problem, vm_type)
    limit = problem.limit(vm_type)
    portions = custom_pack(topics, streams, counts, limit, Step.DISTRIBUTE in steps, Step.WEIGH_COST in steps, worth)
    return packing_of(problem, vm_type, portions)


STAGE = Stage2("cbp", pack, "topic by topic, the largest stream first", "T log T + splits x log B", CbpParameters)
