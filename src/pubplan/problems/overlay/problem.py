"""The question: which links keep every topic connected while no node has many neighbours?

The subscribers of a workload are the nodes. An overlay is a set of links between nodes; it is topic-connected if for
every topic the nodes interested in it are connected by links between such nodes alone, so that no node forwards what
it did not ask for. What is minimised is the maximum degree: the links of the node that has most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pubplan.errors import InputError
from pubplan.planning import Sense
from pubplan.problems.overlay.instance import Instance
from pubplan.workload import TOPIC, TopicWorkload, require_kind

MAX_COUNT = 2**31 - 1
"""Nodes and interests are numbered with 32 bits."""


@dataclass(frozen=True)
class Problem:
    """Connect every topic with as few links per node as possible.

    A problem reads no files when it is made; :attr:`instance` reads them when a method first needs them.

    Raises:
        InputError: the workload is of another kind, or too big for one overlay.

    >>> pubplan.overlay.solve(pubplan.overlay.Problem(workload))
    Result(overlay by dcbr-repair, 2 links per node, bound 2, gap 0.00 %)
    """

    workload: TopicWorkload
    instance: Instance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind(self.workload, TOPIC, "overlay")
        counts = self.workload.counts
        for noun, number in (("interests", counts.pairs), ("nodes", counts.subscribers)):
            if number > MAX_COUNT:
                raise InputError(f"overlay connects at most {MAX_COUNT:,} {noun}, not {number:,}.")
        object.__setattr__(self, "instance", Instance(self.workload))

    @property
    def sense(self) -> Sense:
        return "min"

    @property
    def unit(self) -> str:
        return "links per node"

    @property
    def num_nodes(self) -> int:
        return self.workload.counts.subscribers

    @property
    def num_topics(self) -> int:
        return self.workload.counts.topics

    def check(self) -> None:
        """Refuse what cannot be planned: nothing here, since every topic can be connected."""

    def to_parameters(self) -> dict[str, Any]:
        return {}
