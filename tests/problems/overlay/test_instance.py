"""What a problem reads of its workload, and when."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracles.overlay import Case

from pubplan.problems.overlay import solve
from pubplan.workload import TopicWorkload

CASE = Case({"a": ("x", "y"), "b": ("x",), "c": ("y", "z")})


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """The workloads whose interests are read, in order."""
    paths: list[Path] = []
    read = TopicWorkload.csr

    def csr(self: TopicWorkload):
        paths.append(self.path)
        return read(self)

    monkeypatch.setattr(TopicWorkload, "csr", csr)
    return paths


def test_a_problem_reads_nothing_when_it_is_made(tmp_path: Path, monkeypatch) -> None:
    """Not even if the workload's tables are gone."""
    problem = CASE.problem(tmp_path)
    (tmp_path / "workload" / "interests").rename(tmp_path / "interests")
    (tmp_path / "workload" / "topics").rename(tmp_path / "topics")
    again = replace(problem)
    assert again == problem
    assert again.instance is not problem.instance
    again.check()
    assert (again.num_nodes, again.num_topics) == (3, 3)


def test_two_problems_in_turns_read_each_workload_once(tmp_path: Path, reads: list[Path]) -> None:
    """Both keep what they have read, whoever is asked in between."""
    problems = [CASE.problem(tmp_path / name) for name in ("one", "two")]
    for _ in range(3):
        for problem in problems:
            assert problem.instance.topics_by_node.row(0).tolist() == [0, 1]
            assert problem.instance.nodes_by_topic.row(0).tolist() == [0, 1]
            assert problem.instance.topic_sizes.tolist() == [2, 2, 1]
    assert reads == [problem.workload.path for problem in problems]


def test_planning_again_reads_nothing_again(tmp_path: Path, reads: list[Path]) -> None:
    """Methods and bounds of one problem share what was read."""
    problem = CASE.problem(tmp_path)
    for method in ("gm-m", "dcbr-repair", "ring-per-topic"):
        solve(problem, method)
    assert reads == [problem.workload.path]


def test_tasks_of_a_process_share_an_instance(tmp_path: Path, reads: list[Path]) -> None:
    """What is sent to a task is the name of the workload; the process reads it once for all of its tasks."""
    instance = CASE.problem(tmp_path).instance
    message = pickle.dumps(instance)
    assert len(message) < 1000
    first, second = pickle.loads(message), pickle.loads(message)
    assert first is second is not instance
    assert np.array_equal(first.topics_by_node.values, second.topics_by_node.values)
    assert reads == [instance._workload.path]
