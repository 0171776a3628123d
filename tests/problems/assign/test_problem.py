"""The question of assign: what is refused when it is made, and what when it is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracles.assign_example import CLIENTS, dense, example

from pubplan.errors import Infeasible, InputError
from pubplan.problems.assign import Problem
from pubplan.workload import Broker


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "No latency limit"),
        ({"max_delay": -1}, "max_delay is a number"),
        ({"max_delay": "0.5", "boxes": 6}, "boxes is a number from 1 to 5, not 6"),
        ({"max_delay": "0.5", "boxes": True}, "boxes is a number from 1 to 5, not True"),
        ({"max_delay": "0.5", "load": "1.9"}, "max_load must be at least load, 1.9, not 1.8"),
        ({"max_delay": "0.5", "hop": "first"}, "hop is .path. for the latency of the whole path"),
    ],
)
def test_wrong_questions_are_refused(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    """When the problem is made, with a sentence."""
    with pytest.raises(InputError, match=said):
        Problem(example(tmp_path / "workload"), **asked)


def test_topic_workloads_are_refused(make_workload) -> None:
    """They have no rectangles."""
    with pytest.raises(InputError, match="assign plans content workloads"):
        Problem(make_workload({"x": 1}, {"a": ["x"]}), max_delay="0.5")


def test_numbers_are_kept_as_decimals(tmp_path: Path) -> None:
    """0.3 is three tenths, not the nearest binary fraction; the parameters say it the same way."""
    problem = Problem(example(tmp_path / "workload"), max_delay=0.3, load=1, max_load=1.8)
    expected = {"boxes": 3, "max_delay": "0.3", "load": "1", "max_load": "1.8", "hop": "path"}
    assert problem.to_parameters() == expected
    assert (problem.factor, problem.max_factor * 5) == (1, 9)


def test_units(tmp_path: Path) -> None:
    """Volumes are grid steps; with a density messages are counted."""
    assert Problem(example(tmp_path / "plain"), max_delay="0.5").unit == "grid steps of all filters"
    assert Problem(dense(tmp_path / "dense"), max_delay="0.5").unit == "messages into brokers per window"


def test_clients_out_of_reach_are_named(tmp_path: Path) -> None:
    """ann and bob may use south only: ann at oslo accepts 1.5 x 10 = 15 us and it takes 30; bob's 15 us are in time."""
    allowed = {"ann": ["south"], "bob": ["south"], "carl": ["south"], "dora": ["north", "south"]}
    workload = example(tmp_path / "workload", {name: {"allowed": some} for name, some in allowed.items()})
    with pytest.raises(Infeasible, match="1 client of 4 cannot be served in time") as refused:
        Problem(workload, max_delay="0.5").check()
    (reason,) = refused.value.reasons
    assert (reason.limit, reason.need, reason.have, reason.where) == ("latency", 30, 15, "ann")
    assert str(reason) == "ann at oslo accepts 15 us; the nearest leaf that it may use takes 30"


def test_clients_of_a_group_are_named_together(tmp_path: Path) -> None:
    """bob and dora share site and limit: 14 us are less than the 15 that both brokers take."""
    limits = {"ann": 10, "bob": 14, "carl": 10, "dora": 14}
    workload = example(tmp_path / "workload", {name: {"limit": limit} for name, limit in limits.items()})
    with pytest.raises(Infeasible, match="2 clients of 4") as refused:
        Problem(workload).check()
    (reason,) = refused.value.reasons
    assert str(reason) == "bob at kiel accepts 14 us; the nearest leaf that it may use takes 15, and 1 other like it"


def test_leaves_without_a_share_serve_nobody(tmp_path: Path) -> None:
    """south has no share: carl, who reaches no other in time, cannot be served."""
    brokers = {"north": Broker(share=1), "south": Broker()}
    workload = example(tmp_path / "workload", brokers=brokers)
    with pytest.raises(Infeasible) as refused:
        Problem(workload, max_delay="0.5", max_load=9).check()
    assert [reason.where for reason in refused.value.reasons] == ["carl"]


def test_leaves_that_cannot_take_all(tmp_path: Path) -> None:
    """All four reach north alone: 4 x 2 / (1 x 4) = 2 times its share. At most 2 is enough, 1.99 is not."""
    workload = example(tmp_path / "workload", {name: {"site": "oslo"} for name in CLIENTS})
    Problem(workload, max_delay="0.5", max_load=2).check()
    with pytest.raises(Infeasible, match="Leaves cannot take all clients") as refused:
        Problem(workload, max_delay="0.5", max_load="1.99").check()
    (reason,) = refused.value.reasons
    assert str(reason) == "no assignment has a load factor below 2; at most 1.99 is allowed"
