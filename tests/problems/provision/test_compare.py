"""From one fleet to another: prices by part, and pairs that move."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import diff_plans
from pubplan.problems.provision import FAMILY, Problem, solve
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.problems.provision.compare import _best_match, compare_fleets
from pubplan.problems.provision.plan import PLACEMENTS_SCHEMA
from pubplan.workload import Workload

TARIFF = Tariff(3600, (Tier(None, 10**9),), (Tier(None, 2 * 10**9),))  # a micro-dollar a byte in, two a byte out
SMALL = VmType("mine/small", 3_600_000, 8_000, TARIFF)  # $0.001 and 1000 bytes a second
LARGE = VmType("mine/large", 7_200_000, 24_000, TARIFF)  # $0.002 and 3000 bytes a second

BLOCK = "decisions/placements/00000.parquet"


@pytest.fixture
def workload(make_workload) -> Workload:
    """Streams of 100, 300 and 50 bytes."""
    return make_workload(
        {"a": 10, "b": 30, "c": 5},
        {"u": ["a", "b"], "v": ["a", "c"], "w": ["a", "b", "c"], **{f"x{number}": ["a"] for number in range(12)}},
        message_bytes=10,
    )


def with_vms(change: Callable[[list[int]], list[int]]) -> Callable[[pa.Table], pa.Table]:
    """Changes the lists of VMs in a block of placements."""

    def changed(table: pa.Table) -> pa.Table:
        field = PLACEMENTS_SCHEMA.field("vms")
        lists = [change(vms) for vms in table["vms"].to_pylist()]
        return pa.table([table["subscriber"], table["topics"], pa.array(lists, field.type)], schema=PLACEMENTS_SCHEMA)

    return changed


def test_numbers_of_vms_mean_nothing(workload: Workload, tmp_path: Path) -> None:
    """Renumbering moves no pair; it is another plan all the same."""
    plan = solve(Problem(workload, [SMALL], 30, window_seconds=1), out=tmp_path / "plan").plan
    last = plan.decisions("vms").num_rows - 1
    backwards = with_vms(lambda vms: [last - vm for vm in vms])
    other = forge(plan, tmp_path / "other", tables={BLOCK: backwards})
    comparison = diff_plans(FAMILY, plan, other)
    assert comparison.further.facts["pairs"] == {"kept": 16, "moved": 0, "added": 0, "dropped": 0}
    assert not comparison.is_empty
    assert diff_plans(FAMILY, plan, plan).is_empty


def test_another_vm_type(workload: Workload) -> None:
    """Three small VMs carry what one large one does: 2450 bytes, and one stream less of a, which was split.

    Pairs: a 13, b 2, c 1; out 1300 + 600 + 50 = 1950 bytes for two micro-dollars each; in 450 bytes, or 550 with a on
    two VMs. Of 16 pairs those on the fullest small VM stay.
    """
    old = solve(Problem(workload, [SMALL], 30, window_seconds=1)).plan
    new = solve(Problem(workload, [LARGE], 30, window_seconds=1)).plan
    comparison = compare_fleets(old, new)
    facts = comparison.facts
    assert facts["vm_type"] == {"old": "mine/small", "new": "mine/large"}
    assert facts["vms"] == {"old": 3, "new": 1}
    assert facts["cost"]["vms"] == {"old": 0.003, "new": 0.002, "change": -0.001}
    assert facts["cost"]["incoming"] == {"old": 0.00055, "new": 0.00045, "change": -0.0001}
    assert facts["cost"]["outgoing"] == {"old": 0.0039, "new": 0.0039, "change": 0.0}
    assert facts["cost"]["total"]["change"] == pytest.approx(-0.0011)
    fullest = max(old.decisions("vms")["pairs"].to_pylist())
    assert facts["pairs"] == {"kept": fullest, "moved": 16 - fullest, "added": 0, "dropped": 0}
    assert comparison.sentences[0] == "fleet: 3 x mine/small -> 1 x mine/large"


def test_pairs_come_and_go(workload: Workload) -> None:
    """With threshold 5, u and w take less: a or c instead of b, which is sent to no subscriber any more."""
    old = solve(Problem(workload, [LARGE], 30, window_seconds=1)).plan
    new = solve(Problem(workload, [LARGE], 5, window_seconds=1)).plan
    pairs = [
        {
            (row["subscriber"], topic)
            for row in plan.decisions_block("placements", 0).to_pylist()
            for topic in row["topics"]
        }
        for plan in (old, new)
    ]
    facts = compare_fleets(old, new).facts["pairs"]
    assert facts == {
        "kept": len(pairs[0] & pairs[1]),
        "moved": 0,
        "added": len(pairs[1] - pairs[0]),
        "dropped": len(pairs[0] - pairs[1]),
    }
    assert facts["dropped"] >= 2


def test_other_workloads_are_compared_by_price_alone(workload: Workload, make_workload) -> None:
    """Numbers of subscribers and topics mean nothing there."""
    other = make_workload({"a": 10}, {"u": ["a"]}, message_bytes=10)
    plans = [solve(Problem(one, [LARGE], 30, window_seconds=1)).plan for one in (workload, other)]
    comparison = compare_fleets(*plans)
    assert comparison.facts["pairs"] is None
    assert "different workloads" in comparison.sentences[-1]
    assert comparison.facts["cost"]["incoming"]["new"] == 0.0001


def test_a_damaged_plan_is_refused(workload: Workload, tmp_path: Path) -> None:
    """Lists of topics and VMs must be as many."""
    plan = solve(Problem(workload, [SMALL], 30, window_seconds=1), out=tmp_path / "plan").plan
    other = forge(plan, tmp_path / "other", tables={BLOCK: with_vms(lambda vms: vms[:-1])})
    with pytest.raises(InputError, match="not as many"):
        compare_fleets(plan, other)


def test_vms_are_matched_for_the_most_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As trying every matching finds; greedily at least half of that, and all of it for a renumbering."""
    draws = np.random.default_rng(0)
    for _ in range(50):
        rows, columns = draws.integers(1, 5, 2)
        table = draws.integers(0, 10, (rows, columns))
        overlaps = {int(cell): int(count) for cell, count in enumerate(table.ravel()) if count}
        square = np.zeros((5, 5), dtype=int)
        square[:rows, :columns] = table
        best = max(sum(square[row, column] for row, column in enumerate(order)) for order in permutations(range(5)))
        assert _best_match(overlaps, int(rows), int(columns)) == best
        with monkeypatch.context() as patch:
            patch.setattr("pubplan.problems.provision.compare.MAX_MATCHED_PAIRS", 0)
            assert best / 2 <= _best_match(overlaps, int(rows), int(columns)) <= best
            assert _best_match({1: 5, 3: 7, 8: 2}, 3, 3) == 14  # 0 -> 1, 1 -> 0, 2 -> 2
