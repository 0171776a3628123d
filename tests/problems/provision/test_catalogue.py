"""Prices: the files that come with pubplan, a user's file, and what VMs and traffic cost by them."""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pubplan.problems.provision
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.problems.provision import DEFAULT_VM_TYPE
from pubplan.problems.provision.catalogue import (
    Origin,
    Tariff,
    Tier,
    VmType,
    all_vm_types,
    find_vm_types,
    read_catalogue,
    transfer_cost,
    vm_cost,
)

SHIPPED = sorted((Path(pubplan.problems.provision.__file__).parent / "catalogue").iterdir())
HOUR = 3600
FLAT = (Tier(None, 120_000),)
TIERS = (Tier(10, 90_000), Tier(50, 50_000), Tier(None, 10_000))  # 10 GB at $0.09, 40 GB at $0.05, the rest at $0.01
ORIGIN = Origin("Us", "cellar", "2026-01-31", "the invoice")
TYPE = VmType("mine/small", 150_000, 64_000_000, Tariff(730 * HOUR, FLAT, TIERS), ORIGIN)

GOOD = """
[catalogue]
provider = "Us"
region = "cellar"
date = 2026-01-31
source = "the invoice"
[transfer]
period_hours = 730
in = [{ price_per_gb = "0" }]
out = [{ up_to_gb = 10, price_per_gb = "0.09" }, { price_per_gb = "0.05" }]
[vm."small"]
price_per_hour = "0.015"
mbit_per_second = 100
[vm."c3.large"]
price_per_hour = "0.25"
mbit_per_second = 200
"""


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    return path


def test_vms_are_paid_by_the_second() -> None:
    """2 x $0.15 x half an hour = $0.15; a window of ten days is 240 hours: 3 x $0.15 x 240 = $108."""
    assert vm_cost(TYPE, 2, Fraction(1800)) == 150_000
    assert vm_cost(TYPE, 3, Fraction(10 * 24 * HOUR)) == 108_000_000
    assert vm_cost(TYPE, 0, Fraction(HOUR)) == 0


def test_vms_are_rounded_up_once_for_all() -> None:
    """150 000 micro-dollars / 3600 = 41.67 a second: 42 for one VM, and 125 for three, not 3 x 42."""
    assert vm_cost(TYPE, 1, Fraction(1)) == 42
    assert vm_cost(TYPE, 3, Fraction(1)) == 125
    assert vm_cost(TYPE, 1, Fraction(1, 10**9)) == 1


def test_flat_traffic_costs_by_the_byte() -> None:
    """$0.12 per GB of 10^9 bytes, a micro-dollar begun counts: one byte is 0.00012 of one."""
    assert transfer_cost(FLAT, HOUR, 10**9, Fraction(HOUR)) == 120_000
    assert transfer_cost(FLAT, HOUR, 10**9 + 1, Fraction(7)) == 120_001
    assert transfer_cost(FLAT, HOUR, 1, Fraction(HOUR)) == 1
    assert transfer_cost(FLAT, HOUR, 0, Fraction(HOUR)) == 0


def test_a_tier_is_charged_for_what_falls_into_it() -> None:
    """60 GB in a whole period: 10 x $0.09 + 40 x $0.05 + 10 x $0.01 = $3.00; up to a limit only the tiers below."""
    assert transfer_cost(TIERS, HOUR, 60 * 10**9, Fraction(HOUR)) == 3_000_000
    assert transfer_cost(TIERS, HOUR, 50 * 10**9, Fraction(HOUR)) == 2_900_000
    assert transfer_cost(TIERS, HOUR, 10 * 10**9, Fraction(HOUR)) == 900_000
    assert transfer_cost(TIERS, HOUR, 4 * 10**9, Fraction(HOUR)) == 360_000


def test_limits_scale_with_the_window() -> None:
    """60 GB in half a period pass limits of 5 and 25 GB: 5 x $0.09 + 20 x $0.05 + 35 x $0.01 = $1.80."""
    assert transfer_cost(TIERS, HOUR, 60 * 10**9, Fraction(HOUR, 2)) == 1_800_000


def test_limits_scale_exactly_and_the_sum_is_rounded_once() -> None:
    """A seventh of a period has 10/7 GB at 90 000 and 3/7 GB at 50 000: 150 000 together, with no rounding between.

    One byte more costs 0.00005 of a micro-dollar more.
    """
    a_seventh = Fraction(HOUR, 7)
    assert transfer_cost((Tier(10, 90_000), Tier(None, 50_000)), HOUR, 13 * 10**9 // 7, a_seventh) == 150_000
    assert transfer_cost((Tier(10, 90_000), Tier(None, 50_000)), HOUR, 13 * 10**9 // 7 + 1, a_seventh) == 150_001


@given(
    num_bytes=st.integers(0, 10**12),
    more=st.integers(0, 10**12),
    seconds=st.fractions(Fraction(1, 1000), 10**7),
    factor=st.integers(1, 50),
)
def test_traffic_costs_add_up(num_bytes: int, more: int, seconds: Fraction, factor: int) -> None:
    """More never costs less; with falling tiers one bill is at most that of two; k-fold time and bytes cost k-fold."""
    cost = transfer_cost(TIERS, HOUR, num_bytes, seconds)
    both = transfer_cost(TIERS, HOUR, num_bytes + more, seconds)
    assert cost <= both <= cost + transfer_cost(TIERS, HOUR, more, seconds)
    longer = transfer_cost(TIERS, HOUR, factor * num_bytes, factor * seconds)
    assert factor * (cost - 1) < longer <= factor * cost or longer == cost == 0


def size_of(name: str) -> tuple[str, int]:
    """A VM type's family, and where it stands in it."""
    if "." in name:
        family, size = name.split(".")
        return family, ["medium", "large", "xlarge", "2xlarge", "4xlarge", "8xlarge"].index(size)
    family, _, size = name.rpartition("-")
    return family, int(size)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_files_say_where_they_come_from(path: Path) -> None:
    """Provider, region and source are filled in, the date is neither before the cloud nor in the future."""
    header = tomllib.loads(path.read_text())["catalogue"]
    assert all(len(header[key]) >= 9 for key in ("provider", "region"))
    assert len(header["source"]) > 50
    assert date(2006, 8, 25) < header["date"] <= date.today()
    assert path.suffix == ".toml"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_prices_are_plausible(path: Path) -> None:
    """Prices and rates are positive, traffic gets cheaper by volume, and a larger size costs more and is not slower."""
    families = defaultdict(list)
    for name, vm_type in read_catalogue(path).items():
        assert name == vm_type.name
        assert vm_type.name.startswith(f"{path.stem}/")
        assert 10_000 <= vm_type.micros_per_hour <= 10_000_000
        assert 50_000_000 <= vm_type.bits_per_second <= 100_000_000_000
        for tiers in (vm_type.tariff.incoming, vm_type.tariff.outgoing):
            assert all(left.micros_per_gb > right.micros_per_gb for left, right in pairwise(tiers))
            assert all(tier.micros_per_gb <= 200_000 for tier in tiers)
        assert vm_type.tariff.outgoing[-1].micros_per_gb > 0
        assert vm_type.tariff.period_seconds == 730 * HOUR
        family, size = size_of(name.partition("/")[2])
        families[family].append((size, vm_type))
    for members in families.values():
        for (_, smaller), (_, larger) in pairwise(sorted(members, key=lambda member: member[0])):
            assert smaller.micros_per_hour < larger.micros_per_hour
            assert smaller.bits_per_second <= larger.bits_per_second


def test_there_is_a_choice_of_current_providers() -> None:
    """At least two current catalogues of six to twelve types each, apart from the paper's; every name is unique."""
    names = [vm_type.name for vm_type in all_vm_types()]
    assert len(set(names)) == len(names)
    current = [path for path in SHIPPED if path.stem != "paper-2013"]
    assert len({tomllib.loads(path.read_text())["catalogue"]["provider"] for path in current}) >= 2
    assert all(6 <= len(read_catalogue(path)) <= 12 for path in current)


def test_the_papers_figures_are_exact() -> None:
    """c3.large $0.15 at 64 Mbit/s, c3.xlarge $0.30 at 128 Mbit/s, $0.12 per GB both ways, no tiers."""
    tariff = Tariff(730 * HOUR, FLAT, FLAT)
    path = next(path for path in SHIPPED if path.stem == "paper-2013")
    large, xlarge = read_catalogue(path).values()
    assert large == VmType("paper-2013/c3.large", 150_000, 64_000_000, tariff, large.origin)
    assert xlarge == VmType("paper-2013/c3.xlarge", 300_000, 128_000_000, tariff, large.origin)
    assert str(large.origin) == "Amazon Web Services, us-east-1, 2013-12-01"
    assert "10.1109/ICDCS.2014.63" in path.read_text()


def test_google_bills_by_the_gibibyte() -> None:
    """Its prices of $0.12, $0.11, $0.08 per GiB and limits of 1024 and 10 240 GiB are converted, rounding up."""
    gib = Fraction(2**30, 10**9)
    (vm_type,) = find_vm_types(["gcp-us-central1/e2-standard-2"])
    tiers = vm_type.tariff.outgoing
    assert [tier.micros_per_gb for tier in tiers] == [-(-price // gib) for price in (120_000, 110_000, 80_000)]
    assert [tier.up_to_gb for tier in tiers] == [-(-1024 * gib // 1), -(-10_240 * gib // 1), None]


def test_names_are_found_in_their_order() -> None:
    """Qualified, or bare when one catalogue has the type."""
    names = ["c3.xlarge", "paper-2013/c3.large", "e2-standard-2"]
    listed = [vm_type.name for vm_type in find_vm_types(names)]
    assert listed == ["paper-2013/c3.xlarge", "paper-2013/c3.large", "gcp-us-central1/e2-standard-2"]
    assert find_vm_types([]) == ()


def test_a_users_file_comes_first(user_file: Path) -> None:
    """Its types need no qualification, even when another catalogue has one of that name, which stays reachable."""
    vm_types = find_vm_types(["c3.large", "small", "paper-2013/c3.large"], user_file)
    assert [vm_type.name for vm_type in vm_types] == ["mine/c3.large", "mine/small", "paper-2013/c3.large"]
    assert [vm_type.name for vm_type in all_vm_types(user_file)][:2] == ["mine/small", "mine/c3.large"]
    assert all_vm_types(user_file)[2:] == all_vm_types()
    tariff = Tariff(730 * HOUR, (Tier(None, 0),), (Tier(10, 90_000), Tier(None, 50_000)))
    assert vm_types[1] == VmType("mine/small", 15_000, 100_000_000, tariff, ORIGIN)


def test_a_users_file_stands_in_for_one_of_its_name(tmp_path: Path) -> None:
    """A changed copy of a shipped catalogue is used instead of it."""
    path = tmp_path / "paper-2013.toml"
    path.write_text(GOOD)
    assert find_vm_types(["paper-2013/c3.large"], path)[0].micros_per_hour == 250_000
    with pytest.raises(InputError, match=r"no VM type 'paper-2013/c3\.xlarge'"):
        find_vm_types(["paper-2013/c3.xlarge"], path)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """Whether qualified or bare."""
    with pytest.raises(InputError, match=r"no VM type 'c3\.larg'\. Did you mean 'c3\.large'\?"):
        find_vm_types(["c3.larg"])
    with pytest.raises(InputError, match=r"no VM type 'paper/c3\.large'\. Did you mean 'paper-2013/c3\.large'\?"):
        find_vm_types(["paper/c3.large"])


@pytest.mark.parametrize("again", ["c3.large", "paper-2013/c3.large"])
def test_a_type_is_named_once(again: str) -> None:
    """In either spelling."""
    with pytest.raises(InputError, match=r"'paper-2013/c3\.large' is named twice"):
        find_vm_types(["c3.large", again])


def test_ambiguous_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names to choose from."""
    from pubplan.problems.provision import catalogue

    twice = {name: {f"{name}/big": VmType(f"{name}/big", 1, 1, TYPE.tariff)} for name in ("a", "b")}
    monkeypatch.setattr(catalogue, "_shipped", lambda: twice)
    with pytest.raises(InputError, match="'big' is in several catalogues; say which: a/big, b/big"):
        find_vm_types(["big"])
    assert find_vm_types(["b/big"])[0].name == "b/big"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('provider = "Us"', 'provder = "Us"', r"table \[catalogue\]: .* no key 'provder'. Did you mean 'provider'"),
        ('provider = "Us"', "", r"\[catalogue\]: the key 'provider' is missing; the keys are region, date, source"),
        ('provider = "Us"', 'provider = " "', "provider must be a string that says something, not ' '"),
        ('region = "cellar"', "region = 1", "region must be a string that says something, not 1"),
        ("2026-01-31", '"2026-01-31"', "date must be a day such as 2013-12-01, without quotes, not '2026-01-31'"),
        ("2026-01-31", "2026-01-31T10:00:00", "date must be a day"),
        ("[transfer]", "[transfers]", "no key 'transfers'. Did you mean 'transfer'"),
        ("period_hours = 730", "period_hours = 0", "period_hours must be a whole number from 1 to 10\\^9, not 0"),
        ("period_hours = 730", "period_hours = 730.5", "period_hours must be a whole number .* not 730.5"),
        ("period_hours = 730", "", "the key 'period_hours' is missing"),
        ('[{ price_per_gb = "0" }]', '"0"', "in must be a list of tiers such as .*, not '0'"),
        ('[{ price_per_gb = "0" }]', "[1]", r"in must be a list of tiers such as .*, not \[1\]"),
        ('[{ price_per_gb = "0" }]', "[]", "in has no tier; expected at least one"),
        ('price_per_gb = "0" ', 'price_per_gb = "0", up_to = 3 ', "tier 1 of in: .* Did you mean 'up_to_gb'"),
        ('{ price_per_gb = "0.05" }', "{ up_to_gb = 20 }", "tier 2 of out: the key 'price_per_gb' is missing"),
        ("up_to_gb = 10,", "up_to_gb = -1,", "tier 1 of out: up_to_gb must be a whole number from 1"),
        ("up_to_gb = 10,", "", "out has a tier without up_to_gb before the last"),
        (', { price_per_gb = "0.05" }', "", "out ends at 10 GB; expected a last tier without up_to_gb"),
        (
            ', { price_per_gb = "0.05" }',
            ', { up_to_gb = 10, price_per_gb = "0.05" }, { price_per_gb = "0.01" }',
            "out has tiers up to 10, 10 GB; expected ascending limits",
        ),
        ('"0.015"', "0.015", r'\[vm."small"\]: price_per_hour must be dollars as a decimal .* "0.15", not 0.015'),
        ('"0.015"', '"cheap"', "price_per_hour must be dollars as a decimal number in quotes, .* not 'cheap'"),
        ('"0.015"', '"1e-2"', "not '1e-2'"),
        ('"0.015"', '"0,015"', "not '0,015'"),
        ('"0.015"', '""', "not ''"),
        ('"0.015"', '"nan"', "not 'nan'"),
        ('"0.015"', '"-0.015"', "price_per_hour must not be negative, but is '-0.015'"),
        ('"0.015"', '"0.0150001"', "price_per_hour has at most six decimals .* but is '0.0150001'"),
        ("mbit_per_second = 100", "mbit_per_second = -100", "mbit_per_second must be a whole number from 0"),
        ("mbit_per_second = 100", "mbit_per_second = true", "mbit_per_second must be a whole number .* not True"),
        ("mbit_per_second = 100", "mbits = 100", "no key 'mbits'"),
        ("mbit_per_second = 100", "", r'\[vm."small"\]: the key .mbit_per_second. is missing'),
        ('[vm."small"]', '[vm."a/b"]', "name of a VM type must consist of letters, digits, .* not 'a/b'"),
        ('[vm."small"]', "[vm]\ntiny = 3\n[vm.small]", r"table \[vm\]: tiny must be a table, not 3"),
        ('[vm."small"]', "[vm.small", "is not readable TOML"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Each with the file, the key, what it says and what was expected."""
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as refusal:
        read_catalogue(path)
    assert str(path) in str(refusal.value)


def test_missing_and_unreadable_files_are_named(tmp_path: Path) -> None:
    """The path is in the error."""
    with pytest.raises(InputError, match=r"no price catalogue .*gone\.toml"):
        read_catalogue(tmp_path / "gone.toml")
    with pytest.raises(InputError, match="is not readable TOML"):
        read_catalogue(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'x = "\xe9"')
    with pytest.raises(InputError, match=r"latin\.toml is not readable TOML"):
        read_catalogue(tmp_path / "latin.toml")
    (tmp_path / "a,b.toml").write_text(GOOD)
    with pytest.raises(InputError, match=r"named after its file, and the name must consist of .* not 'a,b'"):
        read_catalogue(tmp_path / "a,b.toml")


@pytest.mark.parametrize("ending", ["", "[vm]\n"])
def test_an_empty_catalogue_is_infeasible(tmp_path: Path, ending: str) -> None:
    """One VM type is needed, none is there."""
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.partition("[vm")[0] + ending)
    with pytest.raises(Infeasible, match="has no VM type") as refusal:
        find_vm_types(["c3.large"], path)
    assert refusal.value.reasons == (Reason("VM types", 1, 0, str(path), "the catalogue lists no VM type"),)


def test_nothing_may_cost_nothing_and_carry_nothing(tmp_path: Path) -> None:
    """A price or a rate of zero can be written down; trailing zeros do not make a price too fine."""
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace('"0.015"', '"0"').replace("= 100", "= 0").replace('"0.25"', '"0.2500000"'))
    small, large = read_catalogue(path).values()
    assert (small.micros_per_hour, small.bits_per_second, large.micros_per_hour) == (0, 0, 250_000)


@pytest.mark.parametrize("vm_type", [*all_vm_types(), TYPE], ids=lambda vm_type: vm_type.name)
def test_vm_types_survive_json(vm_type: VmType) -> None:
    """With prices, rate and tariff."""
    assert VmType.from_dict(json.loads(json.dumps(vm_type.to_dict()))) == vm_type


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (["name"], 3, "name of a VM type must be a string, not 3"),
        (["name"], "", "name of a VM type must be a string"),
        (["micros_per_hour"], -1, "micros_per_hour must be a whole number from 0 to 10.15, not -1"),
        (["micros_per_hour"], True, "micros_per_hour must be a whole number"),
        (["bits_per_second"], 1.5, "bits_per_second must be a whole number from 0 to 10.15, not 1.5"),
        (["colour"], "blue", "unknown entries"),
        (["tariff"], None, "damaged"),
        (["tariff"], {}, "it has no 'period_seconds'"),
        (["tariff", "period_seconds"], 0, "period_seconds must be a whole number from 1 to 10.15"),
        (["tariff", "incoming"], [], "incoming has no tier"),
        (["tariff", "incoming"], "free", "damaged"),
        (["tariff", "outgoing", 0, "up_to_gb"], 60, "outgoing has tiers up to 60, 50 GB; expected ascending"),
        (["tariff", "outgoing", 0, "micros_per_gb"], "9", "micros_per_gb must be a whole number"),
        (["tariff", "outgoing", 2, "up_to_gb"], 90, "outgoing ends at 90 GB"),
        (["tariff", "outgoing", 1, "up_to_gb"], None, "without up_to_gb before the last"),
        (["tariff", "outgoing", 1, "price"], 1, "unknown entries"),
        (["origin"], None, "damaged"),
        (["origin"], {}, "damaged"),
        (["origin", "colour"], "blue", "damaged"),
        (["origin", "provider"], " ", "provider must be a string that says something"),
        (["origin", "source"], 3, "source must be a string that says something, not 3"),
        (["origin", "date"], "2026-02-3", "date must be a day such as 2013-12-01, not '2026-02-3'"),
        (["origin", "date"], None, "date must be a day"),
    ],
)
def test_damaged_records_are_refused(keys: list, value: object, said: str) -> None:
    """Whatever was changed, removed or added."""
    record = TYPE.to_dict()
    inner = record
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    with pytest.raises(InputError, match=said):
        VmType.from_dict(record)


def test_a_record_need_not_have_an_origin() -> None:
    """Types made in Python may have none; then their record says nothing of it."""
    unknown = replace(TYPE, origin=None)
    assert "origin" not in unknown.to_dict()
    assert VmType.from_dict(unknown.to_dict()) == unknown


def test_the_default_is_of_the_newest_catalogue() -> None:
    """No plan is made with the paper's prices unless they are named."""
    newest = max(vm_type.origin.date for vm_type in all_vm_types())
    (default,) = find_vm_types([DEFAULT_VM_TYPE])
    assert default.origin.date == newest


@pytest.mark.parametrize("record", [None, [], "c3.large", {}])
def test_other_things_are_not_vm_types(record: object) -> None:
    """A record of another shape is damaged, too."""
    with pytest.raises(InputError, match="record of a VM type is damaged"):
        VmType.from_dict(record)
