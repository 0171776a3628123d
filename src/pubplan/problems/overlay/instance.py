"""What methods and bounds read of a workload: its interests both ways, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path

from pubplan.workload import TOPIC, Csr, Int64Array, Interests, TopicWorkload, read_workload


class Instance:
    """The interests of a workload, read once.

    It may be used in functions that run as Spark tasks: there it is the instance that the task's process has read.
    """

    def __init__(self, workload: TopicWorkload) -> None:
        self._workload = workload

    def __reduce__(self) -> tuple[Callable[[Path, str], Instance], tuple[Path, str]]:
        return _instance_of_process, (self._workload.path, self._workload.digest)

    @cached_property
    def _interests(self) -> Interests:
        return self._workload.csr()

    @property
    def topics_by_node(self) -> Csr:
        """The topics of every node, ascending."""
        return self._interests.by_subscriber

    @property
    def nodes_by_topic(self) -> Csr:
        """The nodes of every topic, ascending."""
        return self._interests.by_topic

    @cached_property
    def topic_sizes(self) -> Int64Array:
        """How many nodes every topic has."""
        return self._workload.topic_array("subscribers")


# A process that runs tasks gets a copy of the function with every task. It reads the workload once for all tasks of a
# plan, and keeps one workload: it serves one plan at a time.
@lru_cache(maxsize=1)
def _instance_of_process(path: Path, digest: str) -> Instance:
    return Instance(read_workload(path, TOPIC))
