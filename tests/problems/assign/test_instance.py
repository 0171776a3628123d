"""What methods read of a workload: groups, candidates, distinct rectangles, measures and capacities."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from oracles.assign_example import dense, example, tree

from pubplan.errors import InputError
from pubplan.problems.assign import Problem
from pubplan.workload import Attribute, Space


def test_candidates_of_groups(tmp_path: Path) -> None:
    """oslo accepts 15 us and has north; kiel accepts 22 and has both; rome has south. bob and dora are one group."""
    instance = Problem(example(tmp_path / "workload"), max_delay="0.5").instance
    ann, bob, carl, dora = instance.group.tolist()
    assert bob == dora
    offsets = instance.candidate_offsets
    candidates = {
        group: instance.candidates[offsets[group] : offsets[group + 1]].tolist() for group in (ann, bob, carl)
    }
    assert candidates == {ann: [0], bob: [0, 1], carl: [1]}
    assert instance.latencies[offsets[bob] : offsets[bob + 1]].tolist() == [15, 15]


def test_paths_count_the_tree(tmp_path: Path) -> None:
    """Events reach leaves after 1 + 5 us: ann's shortest way takes 16, 24 with half more, and 36 through south.

    The last hop alone: 10 us, 15 with half more.
    """
    workload = tree(tmp_path / "workload")
    limits = {}
    for hop in ("path", "last"):
        instance = Problem(workload, max_delay="0.5", hop=hop).instance
        limits[hop] = int(instance.groups.limits[instance.group[0]])
    assert limits == {"path": 24, "last": 15}
    instance = Problem(workload, max_delay="0.5").instance
    assert (instance.parents.tolist(), instance.levels.tolist()) == ([-1, 0, 0], [1, 2, 2])
    assert (instance.leaves.tolist(), instance.shares.tolist()) == ([1, 2], [0, 1, 1])


def test_equal_rectangles_are_one(tmp_path: Path) -> None:
    """carl wants what ann wants: three rectangles in ascending order."""
    instance = Problem(example(tmp_path / "workload", {"carl": {"box": [(0, 2)]}}), max_delay="0.5").instance
    assert instance.lows.tolist() == [[0], [1], [9]]
    assert instance.highs.tolist() == [[2], [3], [12]]
    assert instance.rectangle.tolist() == [0, 1, 0, 2]


def test_capacities(tmp_path: Path) -> None:
    """Weights are 3 + 1 + 1 + 1 = 6, half of that for each broker: 3 at a factor of 1, and floor(3 x 1.5) = 4."""
    weights = {"ann": 3, "bob": 1, "carl": 1, "dora": 1}
    workload = example(tmp_path / "workload", {name: {"weight": weight} for name, weight in weights.items()})
    instance = Problem(workload, max_delay="0.5").instance
    assert instance.weights.tolist() == [3, 1, 1, 1]
    assert instance.capacity(Fraction(1)).tolist() == [3, 3]
    assert instance.capacity(Fraction(3, 2)).tolist() == [4, 4]
    # ann weighs as much as all others together: 3 and 3 is even.
    assert instance.least_load_factor == 1


def test_measures_with_a_density(tmp_path: Path) -> None:
    """Cells of 4 steps with 8, 0 and 4 messages: their sums from the left, and a scale of 4."""
    instance = Problem(dense(tmp_path / "workload"), max_delay="0.5").instance
    assert instance.scale == 4
    assert instance.measure.prefix.tolist() == [0, 8, 8, 12]
    assert (instance.measure.cells.tolist(), instance.measure.widths.tolist()) == ([3], [4])


def test_too_many_messages_are_refused(tmp_path: Path) -> None:
    """2^51 messages in a cell of 4 steps are 2^53 in all."""
    space = Space((Attribute("price", 12),), (3,))
    problem = Problem(example(tmp_path / "workload", space=space, density=[2**51, 0, 0]), max_delay="0.5")
    with pytest.raises(InputError, match="more than 2\\^52"):
        np.asarray(problem.instance.measure.prefix)
