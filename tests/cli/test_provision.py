"""``pubplan provision`` as a user meets it: answers, budgets, what-if tables, and sentences for what went wrong."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import pubplan
from pubplan.workload import Workload

CATALOGUE = """
[catalogue]
provider = "Us"
region = "cellar"
date = 2026-01-31
source = "the invoice"
[transfer]
period_hours = 730
in = [{ price_per_gb = "0" }]
out = [{ price_per_gb = "0" }]
"""
MACHINES = """
[vm."small"]
price_per_hour = "3.60"
mbit_per_second = 1
[vm."large"]
price_per_hour = "7.00"
mbit_per_second = 2
[vm."none"]
price_per_hour = "0.01"
mbit_per_second = 0
"""
AMOUNT = re.compile(r"\$([0-9,]+\.[0-9]+)")
TWO_TYPES = ["--vm-type", "c3.large,c3.xlarge", "--peak-factor", 20_000]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return pubplan.generate.generate(pubplan.generate.spotify(0.001), tmp_path_factory.mktemp("made") / "workload")


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(CATALOGUE + MACHINES)
    return tmp_path / "mine.toml"


@pytest.fixture
def tiny(make_workload) -> Workload:
    """In one second: a has a stream of 100 000 bytes, b of 10 000; a small VM carries 125 000, a large one 250 000."""
    return make_workload({"a": 10, "b": 1}, {"x": ["a"], "y": ["b"]}, message_bytes=10_000)


def test_of_many_types_the_cheapest_is_named(cli, made: Workload) -> None:
    """With four other VM types a sentence names the cheapest of them; with three, each has its own."""
    types = ["c7g.medium", "c7g.large", "c7g.xlarge", "m7i.large", "m7i.xlarge"]
    answers = [
        cli("provision", made.path, "--threshold", 10, "--vm-type", ",".join(f"aws-us-east-1/{name}" for name in some))
        for some in (types, types[:4])
    ]
    many, few = ([line for line in answer.out.splitlines() if "would cost" in line] for answer in answers)
    assert len(few) == 3
    assert len(many) == 1
    assert many[0].removeprefix("Of 4 other types the cheapest, ") in few


def test_answers_in_words(cli, made: Workload, tmp_path: Path) -> None:
    """Cost and its parts, VMs and how full they are, the other type, the bound, what binds, where it is."""
    answer = cli("provision", made.path, "--threshold", 10, *TWO_TYPES, "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    types = pubplan.read_plan(tmp_path / "plan").decisions("types").to_pylist()
    chosen, other = sorted(types, key=lambda row: not row["chosen"])
    lines = answer.out.splitlines()
    assert lines[0].startswith(f"{chosen['vms']} VMs of {chosen['type']} satisfy all 4,900 subscribers for $")
    assert lines[0].endswith(" per 10 days.")
    together, *parts = (Decimal(amount.replace(",", "")) for line in lines[:2] for amount in AMOUNT.findall(line))
    assert (len(parts), sum(parts)) == (3, together)
    for said in (
        "for the VMs",
        "MB in and",
        "The VMs are",
        "% full, from",
        f"{other['type']} would cost $",
        f"with {other['vms']} VMs",
        "No plan costs less than $",
        ": this one is within ",
        "Binding: 4 VMs carry 1.38 GB; 1.63 GB are needed.",
    ):
        assert said in answer.out
    assert lines[-1] == f"Verified. Plan written to {tmp_path / 'plan'}"
    assert "planning with joint+level" in answer.err


def test_prices_say_where_they_come_from(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """Provider, region and date in words, also of the table; the source in the plan, which verify holds to."""
    options = ["--threshold", 10, "--window", "1h", "--catalogue", catalogue, "--vm-type", "large"]
    answer = cli("provision", tiny.path, *options, "--out", tmp_path / "plan")
    assert "Prices: Us, cellar, 2026-01-31 (mine)." in answer.out.splitlines()
    (vm_type,) = pubplan.read_plan(tmp_path / "plan").record["parameters"]["vm_types"]
    origin = {"provider": "Us", "region": "cellar", "date": "2026-01-31", "source": "the invoice"}
    assert vm_type["origin"] == origin
    assert cli("verify", tmp_path / "plan", "--workload", tiny.path).code == 0
    assert "Prices: Us, cellar, 2026-01-31 (mine)." in cli("provision", tiny.path, *options, "--what-if").out
    default = cli("provision", tiny.path, "--threshold", 10, "--window", "1h", "--out", tmp_path / "default")
    assert "Prices: Amazon Web Services, us-east-1, 2026-10-08 (aws-us-east-1)." in default.out.splitlines()


def test_money_is_rounded_up(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """A large VM for one second is 7.00 / 3600 = $0.0019444, shown to the next micro-dollar."""
    options = ["--threshold", 10, "--catalogue", catalogue, "--vm-type", "large", "--window", "1s"]
    answer = cli("provision", tiny.path, *options, "--out", tmp_path / "plan")
    assert answer.out.startswith("1 VM of mine/large satisfies all 2 subscribers for $0.001945 per 1 second.")
    assert "That is $0.001945 for the VMs, $0.00 for 110.0 kB in and $0.00 for 110.0 kB out." in answer.out
    assert "The VM is 88.0 % full; it may carry 250.0 kB." in answer.out
    assert "No cheaper plan exists." in answer.out
    assert "0.1 US dollars per window" in cli("verify", tmp_path / "plan", "--workload", tiny.path).out


def test_answers_in_json(cli, made: Workload, tmp_path: Path) -> None:
    """--json prints plan.json with a summary and the path, and nothing else."""
    options = ["--threshold", 10, "--method", "gsp+cbp", "--bound", "paper", "--out", tmp_path / "plan"]
    answer = cli("provision", made.path, *options, "--json", "--quiet")
    shown, record = json.loads(answer.out), json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert {name: shown.pop(name) for name in record} == record
    assert set(shown) == {"summary", "path"}
    assert (record["family"], record["method"], list(record["bounds"])) == ("provision", "gsp+cbp", ["paper"])
    assert answer.err == ""


@pytest.mark.parametrize(
    ("window", "seconds"),
    [
        ("10d", "864000"),
        ("240h", "864000"),
        ("864000s", "864000"),
        ("1800", "1800"),
        ("36 h", "129600"),
        ("2w", "1209600"),
        (".5h", None),
    ],
)
def test_windows(cli, tiny: Workload, tmp_path: Path, window: str, seconds: str | None) -> None:
    """Weeks, days, hours, seconds; anything else is refused with examples."""
    options = ["--threshold", 1, "--window", window, "--out", tmp_path / "plan", "--json"]
    answer = cli("provision", tiny.path, *options)
    if seconds is None:
        assert (answer.code, "such as 36h, 10d, 2w" in answer.err) == (2, True)
    else:
        assert json.loads(answer.out)["parameters"]["window_seconds"] == seconds


def test_options_from_a_file(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """The table [provision] fills in what the command line leaves open; the command line wins."""
    (tmp_path / "p.toml").write_text(
        f'[provision]\nthreshold = 3\nvm_type = ["small", "large"]\ncatalogue = "{catalogue}"\nwindow = "1s"\n'
        'peak_factor = 1\nheadroom = "10%"\nrate_factor = 0.5\nmethod = "gsp+cbp"\n'
        '[provision."gsp+cbp"]\nsteps = "bc"\n'
    )
    arguments = ["provision", tiny.path, "--parameters", tmp_path / "p.toml", "--json"]
    record = json.loads(cli(*arguments, "--threshold", 4, "--out", tmp_path / "plan").out)
    parameters = record["parameters"]
    assert (parameters["threshold"], parameters["headroom"], parameters["rate_factor"]) == (4, "10%", "0.5")
    assert [vm_type["name"] for vm_type in parameters["vm_types"]] == ["mine/small", "mine/large"]
    assert (record["method"], parameters["steps"], parameters["order"]) == ("gsp+cbp", "bc", "stream")
    (tmp_path / "p.toml").write_text("[provision]\ntreshold = 3\n")
    refused = cli(*arguments, "--out", tmp_path / "other")
    assert (refused.code, "Did you mean 'threshold'" in refused.err) == (2, True)


def test_a_catalogue_alone_means_all_its_types(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """The type without a line is refused; small VMs cannot carry a, whose only subscriber needs it."""
    options = ["--threshold", 10, "--catalogue", catalogue, "--window", "1s", "--out", tmp_path / "plan"]
    answer = cli("provision", tiny.path, *options)
    assert "1 VM of mine/large" in answer.out
    assert "mine/none cannot do it: a VM of type mine/none can carry nothing." in answer.out
    assert "mine/small cannot do it" in answer.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", "10", "--vm-type", "c3.larg"], "Did you mean 'c3.large'"),
        (["--threshold", "10", "--vm-type", "paper-2013/c3.xlarg"], "Did you mean 'paper-2013/c3.xlarge'"),
        (["--threshold", "10", "--vm-type", "c3.large,paper-2013/c3.large"], "named twice"),
        (["--threshold", "10", "--headroom", "0.2"], "Did you mean '20%'"),
        (["--threshold", "10", "--headroom", "100%"], "below 100%"),
        ([], "No threshold"),
        (["--threshold", "ten"], "--threshold must be a whole number"),
        (["--threshold", "-1"], "between 0 and"),
        (["--threshold", "10", "--peak-factor", "0.5"], "at least 1"),
        (["--threshold", "10", "--rate-factor", "fast"], "--rate-factor must be a number"),
        (["--threshold", "10", "--message-bytes", "-1"], "whole number of bytes"),
        (["--threshold", "10", "--window", "a week"], "such as 36h, 10d"),
        (["--threshold", "10", "--window", "0"], "longer than 0 seconds"),
        (["--threshold", "10", "--budget", "much"], "--budget must be a number"),
        (["--threshold", "10", "--catalogue", "nowhere.toml"], "no price catalogue nowhere.toml"),
        (["--threshold", "10", "--method", "gsp+cpb"], "Did you mean 'gsp+cbp'"),
        (["--threshold", "10", "--bound", "price"], "Did you mean 'prices'"),
        (["--threshold", "10,100"], "A comparison writes no plan: leave out --out"),
        (["--threshold", "10", "--what-if"], "A comparison writes no plan: leave out --out"),
    ],
)
def test_wrong_options_exit_with_2(cli, made: Workload, tmp_path: Path, options: list[str], said: str) -> None:
    """A sentence that helps, exit code 2, and nothing written."""
    answer = cli("provision", made.path, *options, "--out", tmp_path / "plan")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert list(tmp_path.iterdir()) == []


def test_an_existing_plan_is_kept(cli, tiny: Workload, tmp_path: Path) -> None:
    """The refusal comes before the work, and says how to overwrite; nor may a plan lie in its workload."""
    options = ["provision", tiny.path, "--threshold", 1, "--window", "1h"]
    assert cli(*options, "--out", tmp_path / "plan").code == 0
    refused = cli(*options, "--out", tmp_path / "plan")
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert cli(*options, "--out", tmp_path / "plan", "--replace", "--no-verify").out.splitlines()[-1].startswith("NOT")
    assert "contain each other" in cli(*options, "--out", tiny.path / "plan").err


def test_an_empty_catalogue_is_infeasible(cli, made: Workload, tmp_path: Path) -> None:
    """There is nothing to rent: exit code 3."""
    (tmp_path / "empty.toml").write_text(CATALOGUE)
    answer = cli(
        "provision", made.path, "--threshold", 10, "--catalogue", tmp_path / "empty.toml", "--out", tmp_path / "plan"
    )
    assert (answer.code, "the catalogue lists no VM type" in answer.err) == (3, True)


def test_a_limit_of_zero_is_infeasible(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """A VM without a line carries nothing; neither does one whose peak leaves less than a byte."""
    for options in (["--vm-type", "none"], ["--vm-type", "small", "--peak-factor", 10**9]):
        answer = cli(
            "provision",
            tiny.path,
            *["--threshold", 10, "--window", "1s", "--catalogue", catalogue, "--out", tmp_path / "plan"],
            *options,
        )
        assert (answer.code, "can carry nothing" in answer.err) == (3, True)
        assert not (tmp_path / "plan").exists()


def test_a_topic_that_fits_no_vm_is_infeasible(cli, tiny: Workload, catalogue: Path, tmp_path: Path) -> None:
    """a takes 200 000 bytes with its subscriber, a small VM carries 125 000; x cannot do without it."""
    options = ["--threshold", 10, "--catalogue", catalogue, "--vm-type", "small", "--window", "1s"]
    answer = cli("provision", tiny.path, *options, "--out", tmp_path / "plan")
    assert answer.code == 3
    assert "the largest, 'a', takes 200.0 kB, and a VM carries 125.0 kB" in answer.err
    assert "1 of 2 subscribers cannot be satisfied" in answer.err
    assert not (tmp_path / "plan").exists()


def test_budgets(cli, make_workload, catalogue: Path, tmp_path: Path) -> None:
    """Three topics that take 120 kB each: two large VMs carry them in an hour of $14.00, three are never needed.

    $14 is enough. $6 is less than one VM: no. With the bound of the paper, which only counts what goes out, 180 kB, one
    VM might do: $10 is undecided.
    """
    workload = make_workload({"a": 6, "b": 6, "c": 6}, {"x": ["a"], "y": ["b"], "z": ["c"]}, message_bytes=36_000_000)
    options = ["--threshold", 6, "--catalogue", catalogue, "--vm-type", "large", "--window", "1h", "--bound", "paper"]
    arguments = ["provision", workload.path, *options, "--out", tmp_path / "plan", "--replace"]
    answer = cli(*arguments, "--budget", 14)
    assert "Yes: this plan costs $14.00, within the budget of $14.00." in answer.out
    answer = cli(*arguments, "--budget", 10)
    assert (answer.code, "Verified" in answer.out) == (0, True)
    assert (
        "Undecided: this plan costs $14.00, above the budget of $10.00, but only plans below $7.00 are ruled out."
        in answer.out
    )
    answer = cli(*arguments, "--budget", 6)
    assert (answer.code, answer.out) == (3, "")
    assert "No: no plan costs less than $7.00, and the budget is $6.00." in answer.err
    answer = cli(*arguments, "--budget", 6, "--bound", "none")
    assert "Undecided: this plan costs $14.00, above the budget of $6.00, and no bound was asked for." in answer.out


def test_what_if(cli, made: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for every threshold, rate factor and VM type, under one header; nothing is written."""
    monkeypatch.chdir(tmp_path)
    options = ["--threshold", "10,100", *TWO_TYPES, "--rate-factor", "1,2"]
    answer = cli("provision", made.path, *options)
    assert answer.code == 0, answer.err
    header, *rows, prices = answer.out.splitlines()
    assert prices == "Prices: Amazon Web Services, us-east-1, 2013-12-01 (paper-2013)."
    columns = "threshold rates x VM type cost per 10 days per month VMs bandwidth no plan below gap"
    assert header.split() == columns.split()
    assert sum(row.endswith("cheapest") for row in rows) >= 4  # one for each threshold and rate factor
    assert [row.split()[:3] for row in rows] == [
        [threshold, factor, f"paper-2013/{name}"]
        for threshold in ("10", "100")
        for factor in ("1", "2")
        for name in ("c3.large", "c3.xlarge")
    ]
    assert len({row.rindex("$") for row in rows}) <= 2  # numbers end under each other
    assert list(tmp_path.iterdir()) == []


def test_what_if_in_json(cli, made: Workload) -> None:
    """A list of rows, with dollars and bytes."""
    answer = cli("provision", made.path, "--threshold", 10, *TWO_TYPES, "--what-if", "--json", "--quiet")
    large, xlarge = json.loads(answer.out)
    assert (large["vm_type"], xlarge["vm_type"]) == ("paper-2013/c3.large", "paper-2013/c3.xlarge")
    for case in (large, xlarge):
        assert case["bound"] <= case["cost"]
        assert case["gap"] == pytest.approx((case["cost"] - case["bound"]) / case["bound"])
        assert case["bandwidth"] == case["incoming"] + case["outgoing"]
    assert answer.err == ""


def test_what_if_says_why_not(cli, tiny: Workload, catalogue: Path) -> None:
    """A combination without a fleet is a row with a note, not an error."""
    options = ["--threshold", 10, "--catalogue", catalogue, "--window", "1s", "--what-if", "--bound", "none"]
    answer = cli("provision", tiny.path, *options)
    assert answer.code == 0
    _, small, large, none, *notes = answer.out.splitlines()
    assert small.endswith("none [1]")
    assert "$0.001945" in large
    assert none.endswith("none [2]")
    assert notes[0].startswith("[1] 1 topic fits no VM of type mine/small")
    assert notes[1] == "[2] a VM of type mine/none can carry nothing"


def test_what_if_from_a_file(cli, made: Workload, tmp_path: Path) -> None:
    """Lists of a parameter file, and the method's own parameters."""
    (tmp_path / "p.toml").write_text(
        '[provision]\nthreshold = [10, 100]\nrate_factor = [1, 1.5]\n[provision."joint+level"]\nrounds = 1\n'
    )
    answered = json.loads(cli("provision", made.path, "--parameters", tmp_path / "p.toml", "--json").out)
    assert [(case["threshold"], case["rate_factor"]) for case in answered] == [
        *((10, "1"), (10, "1.5"), (100, "1"), (100, "1.5"))
    ]
    refused = cli("provision", made.path, "--threshold", "10,100", "--budget", 5)
    assert (refused.code, "asked of one plan" in refused.err) == (2, True)


def test_explain(cli, made: Workload, tmp_path: Path) -> None:
    """A VM, a topic and a subscriber in words and in JSON; other families have no VMs."""
    plan = tmp_path / "plan"
    assert cli("provision", made.path, "--threshold", 10, *TWO_TYPES, "--out", plan).code == 0
    assert cli("explain", plan, "--vm", 0).out.startswith("VM 0 of paper-2013/")
    assert json.loads(cli("explain", plan, "--vm", 0, "--json").out)["vm"] == 0
    topic = made.topics("topic_id")["topic_id"][0].as_py()
    assert cli("explain", plan, "--topic", topic).out.startswith(f"{topic} has ")
    subscriber = made.interests_block(0, "subscriber_id")["subscriber_id"][0].as_py()
    assert cli("explain", plan, "--subscriber", subscriber).out.startswith(f"{subscriber} needs ")
    for options, said in (
        (["--vm", "many"], "no VM 'many'"),
        (["--vm", 0, "--topic", topic], "--vm or --topic or --subscriber"),
        ([], "--vm or --topic or --subscriber"),
    ):
        refused = cli("explain", plan, *options)
        assert (refused.code, said in refused.err) == (2, True)
    cli("select", made.path, "--threshold", 27, "--capacity", "10%", "--out", tmp_path / "other", "--bound", "none")
    assert "explain topic, subscriber, not vm" in cli("explain", tmp_path / "other", "--vm", 0).err


def test_diff(cli, made: Workload, tmp_path: Path) -> None:
    """Fleets, prices by part and pairs that move, in words and in JSON."""
    for name, options in (("a", ["--vm-type", "c3.large"]), ("b", ["--vm-type", "c3.xlarge"])):
        peak = ["--peak-factor", 20_000, "--bound", "none"]
        assert cli("provision", made.path, "--threshold", 10, *options, *peak, "--out", tmp_path / name).code == 0
    answer = cli("diff", tmp_path / "a", tmp_path / "b")
    assert "\nVM types: paper-2013/c3.large -> paper-2013/c3.xlarge\n" in answer.out
    assert "x paper-2013/c3.large -> " in answer.out
    rows = []
    for label in ("cost", "  VMs", "  bytes in", "  bytes out"):
        (row,) = (line for line in answer.out.splitlines() if line.startswith(f"{label}: $"))
        old, new, change = (Decimal(amount.replace(",", "")) for amount in AMOUNT.findall(row))
        rows.append((old, new, -change if "(-" in row else change))
    (objective,) = (line for line in answer.out.splitlines() if line.startswith("objective: "))
    assert objective == f"objective: {rows[0][0]:,} -> {rows[0][1]:,} US dollars per window"  # rounded up like the bill
    assert all(old + change == new for old, new, change in rows)
    assert all(sum(column[1:]) == column[0] for column in zip(*rows, strict=True))
    changes = json.loads(cli("diff", tmp_path / "a", tmp_path / "b", "--json").out)["further"]
    pairs = changes["pairs"]
    assert f"pairs: {pairs['kept']:,} kept, {pairs['moved']:,} moved, 0 added, 0 dropped" in answer.out
    assert changes["cost"]["total"]["change"] == pytest.approx(
        changes["cost"]["total"]["new"] - changes["cost"]["total"]["old"]
    )
    assert cli("diff", tmp_path / "a", tmp_path / "a").out == "The plans are the same.\n"


def test_spark_when_asked(cli, made: Workload, tmp_path: Path, shared_spark: list[str | None]) -> None:
    """With --master the blocks run on Spark; the digest is that of one process."""
    options = ["--threshold", 10, "--json"]
    alone = cli("provision", made.path, *options, "--out", tmp_path / "a")
    assert shared_spark == []
    on_spark = cli("provision", made.path, *options, "--out", tmp_path / "b", "--master", "local[2]", "--check")
    assert shared_spark == ["local[2]"]
    assert json.loads(alone.out)["digest"] == json.loads(on_spark.out)["digest"]
