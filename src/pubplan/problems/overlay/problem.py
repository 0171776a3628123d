"""The question: which links keep every topic connected while no node has many neighbours?

The subscribers of a workload are the nodes. An overlay is a set of links between nodes; it is topic-connected if for
every topic the nodes interested in it are connected by links between such nodes alone, so that nobody forwards what
it did not ask for. What is minimised is the maximum degree: the links of the node that has most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pubplan.errors import InputError
from pubplan.planning import Sense
from pubplan.workload import Csr, Int32Array, Int64Array, Interests, Workload, read_workload

MOST = 2**31 - 1


@dataclass(frozen=True)
class Problem:
    """Connect every topic with as few links per node as possible.

    Raises:
        InputError: the workload is of another kind, or too big for one overlay.
    """

    workload: Workload

    def __post_init__(self) -> None:
        if self.workload.kind != "topic":
            raise InputError(f"overlay plans topic workloads; {self.workload.path} is a {self.workload.kind} workload.")
        counts = self.workload.counts
        for what, number in (("interests", counts.pairs), ("nodes", counts.subscribers)):
            if number > MOST:
                raise InputError(f"overlay connects at most {MOST:,} {what}, not {number:,}.")

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

    @property
    def rows(self) -> Csr:
        """The topics of every node."""
        return node_rows(self.workload)

    @cached_property
    def members(self) -> Int64Array:
        """How many nodes every topic has."""
        return self.workload.topic_array("subscribers")

    def nodes_of(self, topic: int) -> Int32Array:
        """The nodes of a topic."""
        return _read_interests(self.workload.path, self.workload.digest).by_topic.row(topic)

    def to_parameters(self) -> dict[str, Any]:
        return {}

    @classmethod
    def restore(cls, workload: Workload, parameters: Mapping[str, Any]) -> Problem:
        """The problem that a plan's parameters describe."""
        return cls(workload)


def node_rows(workload: Workload) -> Csr:
    """The topics of every node, read once by a process: by this one, or by one that runs tasks."""
    return _read_interests(workload.path, workload.digest).by_subscriber


@lru_cache(maxsize=1)
def _read_interests(path: Path, digest: str) -> Interests:
    return read_workload(path).csr()


def rows_of(rows: Csr, nodes: Int32Array) -> Csr:
    """The topics of some nodes, in their order."""
    lengths = np.diff(rows.offsets)[nodes]
    offsets: Int64Array = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(rows.offsets[nodes] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Csr(offsets, rows.values[places])
