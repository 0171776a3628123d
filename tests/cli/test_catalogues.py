"""``pubplan catalogues`` and what takes all types of one: which VM types there are, and which is the cheapest."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from pubplan.problems.provision.catalogue import all_vm_types
from pubplan.workload import Window, Workload

MINE = """
[catalogue]
provider = "Us"
region = "cellar"
date = 2026-01-31
source = "the invoice"

[transfer]
period_hours = 730
in = [{ price_per_gb = "0" }]
out = [{ up_to_gb = 10240, price_per_gb = "0.09" }, { price_per_gb = "0.0855" }]

[vm."small"]
price_per_hour = "0.015"
mbit_per_second = 100

[vm."big"]
price_per_hour = "2"
mbit_per_second = 1000
"""


@pytest.fixture
def workload(make_workload) -> Workload:
    return make_workload({"a": 2, "b": 3}, {"v": ["a", "b"], "w": ["b"]}, window=Window(seconds=864_000))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path / "mine.toml"


def test_catalogues_are_listed(cli, mine: Path) -> None:
    """Provider, region, date, source, types and prices, in words and in JSON; a file of one's own comes first."""
    answer = cli("catalogues", "--catalogue", mine)
    assert answer.code == 0, answer.err
    for part in (
        "mine: Us, cellar, prices of 2026-01-31",
        "from the invoice",
        "$0.015 per hour",
        "$2.00 per hour",
        "out: $0.09 per GB up to 10,240 GB, then $0.0855 per GB",
        "aws-us-east-1: Amazon Web Services, us-east-1",
    ):
        assert part in answer.out
    assert all(vm_type.name in answer.out for vm_type in all_vm_types())
    first, *others = json.loads(cli("catalogues", "--catalogue", mine, "--json").out)
    assert {name: first[name] for name in ("name", "date", "source")} == {
        "name": "mine",
        "date": "2026-01-31",
        "source": "the invoice",
    }
    assert first["vm_types"][0] == {
        "name": "mine/small",
        "price_microusd_per_hour": 15_000,
        "mbit_per_second": 100,
    }
    assert {catalogue["name"] for catalogue in others} == {"paper-2013", "aws-us-east-1", "gcp-us-central1"}
    assert cli("catalogues", "--catalogue", mine.parent / "nothing.toml").code == 2


def test_all_types_of_a_catalogue_compete(cli, workload: Workload, mine: Path) -> None:
    """A star takes every type of a catalogue; the table marks the cheapest and says what a month costs."""
    options = ["provision", workload.path, "--threshold", 4, "--catalogue", mine, "--vm-type", "mine/*,paper-2013/*"]
    rows = json.loads(cli(*options, "--what-if", "--json").out)
    names = [row["vm_type"] for row in rows]
    assert names[:2] == ["mine/small", "mine/big"]
    assert names[2:] == [vm_type.name for vm_type in all_vm_types() if vm_type.name.startswith("paper-2013/")]
    assert [row["vm_type"] for row in rows if row["is_cheapest"]] == ["mine/small"]
    for row in rows:  # a month has 30.4375 days, and the window ten
        assert math.isclose(row["cost_per_month"], row["cost"] * 3.04375, abs_tol=1e-6)
    header, *lines = cli(*options, "--what-if").out.splitlines()
    assert ("cost per 10 days" in header, "per month" in header) == (True, True)
    assert [line.split()[2] for line in lines if line.endswith("cheapest")] == ["mine/small"]
    assert json.loads(cli(*options, "--json").out)["summary"]["vm_type"] == "mine/small"


def test_one_type_has_nothing_to_compete_with(cli, workload: Workload) -> None:
    """With a single VM type no row is marked."""
    answer = cli("provision", workload.path, "--threshold", "2,4")
    assert (answer.code, "cheapest" in answer.out) == (0, False)


def test_stars_that_name_nothing(cli, workload: Workload) -> None:
    """A catalogue that does not exist is named with the nearest one; types are named once."""
    options = ["provision", workload.path, "--threshold", 4, "--vm-type"]
    for names, said in (
        ("aws-us-east/*", "Did you mean 'aws-us-east-1'"),
        ("paper-2013/*,paper-2013/c3.large", "named twice"),
    ):
        answer = cli(*options, names)
        assert (answer.code, said in answer.err) == (2, True), answer.err
