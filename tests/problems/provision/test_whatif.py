"""What-if tables: every row is what a plan of that VM type alone would say, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

import pubplan
from pubplan.errors import Infeasible, InputError
from pubplan.problems.provision import selection
from pubplan.problems.provision.catalogue import Tariff, Tier, VmType
from pubplan.workload import Workload

provision = pubplan.provision

TARIFF = Tariff(3600, (Tier(None, 120_000),), (Tier(None, 120_000),))
SMALL = VmType("mine/small", 150_000, 8_000, TARIFF)  # 1000 bytes a second
LARGE = VmType("mine/large", 280_000, 16_000, TARIFF)
IDLE = VmType("mine/idle", 1, 0, TARIFF)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return pubplan.generate.generate(pubplan.generate.spotify(0.001), tmp_path_factory.mktemp("made") / "workload")


@pytest.mark.parametrize("method", [None, "gsp+cbp", "rsp+ffbp"])
def test_rows_are_what_plans_say(made: Workload, method: str | None) -> None:
    """Cost, VMs, traffic, bound and gap of each row are those of a plan for that VM type alone."""
    types = ["paper-2013/c3.large", "paper-2013/c3.xlarge", "aws-us-east-1/c7g.medium"]
    table = provision.what_if(
        made, thresholds=[10, 100], vm_types=types, rate_factors=[1, "1.5"], method=method, peak_factor=10_000
    )
    asked = [(case.threshold, case.rate_factor, case.vm_type) for case in table]
    assert asked == [(tau, factor, name) for tau in (10, 100) for factor in ("1", "1.5") for name in types]
    for case in table:
        problem = provision.Problem(
            made, [case.vm_type], case.threshold, peak_factor=10_000, rate_factor=case.rate_factor
        )
        if case.refused:
            with pytest.raises(Infeasible, match="No VM type can satisfy every subscriber"):
                provision.solve(problem, method)
            continue
        result = provision.solve(problem, method)
        vms = result.plan.decisions("vms")
        assert (case.cost, case.vms) == (result.exact.value, vms.num_rows)
        assert case.bandwidth == sum(vms["used"].to_pylist())
        assert case.gap == result.gap
        assert case.bound == max(result.plan.certificate(name).bound.value for name in result.bounds)


def test_vm_types_share_passes(made: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two VM types at the same price per bit take as many passes over the subscribers as one."""
    passes = []
    real = selection.map_blocks
    monkeypatch.setattr(selection, "map_blocks", lambda *given: passes.append(1) or real(*given))
    for types in (["paper-2013/c3.large"], ["paper-2013/c3.large", "paper-2013/c3.xlarge"]):
        provision.what_if(made, thresholds=[10], vm_types=types)
        passes.append(0)
    first, second = "".join(map(str, passes)).split("0")[:2]
    assert first == second != ""


def test_what_cannot_be_is_a_row_that_says_why(make_workload) -> None:
    """In one second, a has a stream of 600 bytes: it fits the large VM (2000) with one subscriber, not the small.

    With twice the rates it fits neither; a VM type without a line carries nothing.
    """
    workload = make_workload({"a": 6, "b": 1}, {"x": ["a"], "y": ["b"]}, message_bytes=100)
    table = provision.what_if(
        workload, thresholds=[5], vm_types=[SMALL, LARGE, IDLE], rate_factors=[1, 2], window_seconds=1
    )
    small, large, idle, *doubled = table
    assert small.refused == (
        "1 topic fits no VM of type mine/small: with one subscriber the largest, 'a', takes 1.20 kB, and a VM carries "
        "1.00 kB; 1 of 2 subscribers cannot be satisfied without what fits no VM of type mine/small; the most that one "
        "lacks is 5 events"
    )
    assert (large.vms, large.incoming, large.outgoing, large.refused) == (1, 700, 700, "")
    assert idle.refused == "a VM of type mine/idle can carry nothing"
    assert all(case.refused and case.cost is None and case.bandwidth is None for case in doubled)
    (case,) = provision.what_if(workload, thresholds=[5], vm_types=[IDLE], window_seconds=1)
    assert case.refused == "No VM type can carry anything; a VM of type mine/idle can carry nothing"


def test_rows_as_json(make_workload) -> None:
    """Dollars and bytes, with the same names as the columns. One hour of a small VM is $0.15; 200 bytes are a micro-
    dollar in and one out."""
    workload = make_workload({"a": 1}, {"x": ["a"]}, message_bytes=200)
    (case,) = provision.what_if(workload, thresholds=[1], vm_types=[SMALL], window_seconds=3600, bound="none")
    assert case.to_dict() == {
        "threshold": 1,
        "rate_factor": "1",
        "vm_type": "mine/small",
        "cost": 0.150002,
        "vms": 1,
        "incoming": 200,
        "outgoing": 200,
        "bandwidth": 400,
        "bound": None,
        "gap": None,
        "refused": "",
    }


def test_thresholds_of_the_workload(make_workload) -> None:
    """Without thresholds those of the workload count."""
    workload = make_workload({"a": 1, "b": 2}, {"x": ["a", "b"]}, thresholds={"x": 2}, message_bytes=10)
    (case,) = provision.what_if(workload, vm_types=[SMALL], window_seconds=60)
    assert (case.threshold, case.outgoing) == (None, 20)


def test_no_subscribers_to_satisfy(make_workload) -> None:
    """Without subscribers nothing is rented, even where a topic is too big for every VM."""
    (case,) = provision.what_if(make_workload({"a": 10**9}, {}), thresholds=[5], vm_types=[SMALL], window_seconds=1)
    assert (case.cost, case.vms, case.bound, case.gap, case.refused) == (0, 0, 0, 0.0, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"thresholds": []}, "thresholds is empty"),
        ({"vm_types": []}, "vm_types is empty"),
        ({"vm_types": ["c3.larg"]}, "Did you mean 'c3.large'"),
        ({"rate_factors": ["fast"]}, "rate_factor is a number"),
        ({"peak_factor": float("inf")}, "peak_factor is a number"),
        ({"peak_factor": float("nan")}, "peak_factor is a number"),
        ({"method": "gsp"}, "no method of provision 'gsp'"),
        ({"bound": "price"}, "Did you mean 'prices'"),
        ({"budget": 5}, "budget is asked of one plan"),
        ({"parameters": {"rounds": 0}}, "rounds must be"),
    ],
)
def test_wrong_questions_are_errors(made: Workload, options: dict, said: str) -> None:
    """What is asked wrongly is not a row."""
    with pytest.raises(InputError, match=said):
        provision.what_if(made, **({"thresholds": [10]} | options))


def test_nothing_is_written(made: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither plan nor placements."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pubplan.problems.provision.stages.draft_of", None)
    before = made.digest
    provision.what_if(made, thresholds=[10])
    assert list(tmp_path.iterdir()) == []
    assert pubplan.read_workload(made.path).digest == before


def test_on_spark(made: Workload, spark) -> None:
    """The same table on Spark."""
    options = {"thresholds": [10], "vm_types": ["c3.large", "c3.xlarge"], "peak_factor": 10_000}
    assert provision.what_if(made, **options, spark=spark) == provision.what_if(made, **options)
