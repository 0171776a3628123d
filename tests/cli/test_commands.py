"""The command line as a user meets it: answers, files, exit codes, and sentences for what went wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pubplan
from pubplan.engine import read_parquet, write_parquet
from pubplan.errors import Infeasible, Reason
from pubplan.problems import FAMILIES
from pubplan.workload import Workload


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return pubplan.generate.generate(pubplan.generate.spotify(0.001), tmp_path_factory.mktemp("made") / "workload")


@pytest.fixture
def planned(cli, made: Workload, tmp_path: Path) -> Path:
    answer = cli("select", made.path, "--threshold", 27, "--capacity", "10%", "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    return tmp_path / "plan"


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in (*FAMILIES, "explain"))])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """No Spark, no Arrow, no NumPy is imported to print a help."""
    script = (
        f"import sys; from pubplan.cli.main import run; code = run({arguments!r});"
        "print(sorted({'numpy', 'pyarrow', 'pyspark', 'numba', 'altair'} & set(sys.modules)), code)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.startswith("Usage: pubplan")
    assert answer.stdout.endswith("[] 0\n")


def test_version(cli) -> None:
    """--version prints the name and the version."""
    assert cli("--version").out == f"pubplan {pubplan.__version__}\n"


@pytest.mark.parametrize(
    ("shape", "options", "subscribers"),
    [
        ("spotify", ["--scale", "0.001"], 4900),
        ("twitter", ["--scale", "0.001"], 30_000),
        ("uniform", ["--nodes", "50", "--topics", "20"], 50),
        ("zipf", ["--nodes", "50", "--topics", "20"], 50),
        ("exponential", ["--nodes", "50", "--topics", "20"], 50),
    ],
)
def test_generate(cli, tmp_path: Path, shape: str, options: list[str], subscribers: int) -> None:
    """Every shape writes a workload; the answer counts it in words or in JSON."""
    out = tmp_path / "workload"
    answer = cli("generate", shape, *options, "--out", out)
    assert answer.code == 0
    assert f"{subscribers:,} subscribers" in answer.out
    again = cli("generate", shape, *options, "--out", out, "--replace", "--json", "--quiet")
    assert json.loads(again.out)["digest"] == pubplan.read_workload(out).digest
    assert again.err == ""
    refused = cli("generate", shape, *options, "--out", out)
    assert (refused.code, "--replace" in refused.err) == (2, True)


def test_select_answers_in_words(cli, made: Workload, tmp_path: Path) -> None:
    """Objective, capacity, bound and gap are in the answer; progress is on stderr."""
    answer = cli("select", made.path, "--threshold", 27, "--capacity", "10%", "--out", tmp_path / "plan")
    for part in ("of 1,100 topics", "of 4,900 subscribers", "No plan can satisfy more than", "Verified."):
        assert part in answer.out
    assert "planning with greedy-fb3m" in answer.err


def test_select_answers_in_json(cli, made: Workload, tmp_path: Path) -> None:
    """--json prints plan.json with a summary and the path, and nothing else on stdout."""
    options = ["--threshold", 27, "--capacity", "10%", "--out", tmp_path / "plan", "--json", "--quiet", "--seed", 3]
    answer = cli("select", made.path, *options)
    shown, record = json.loads(answer.out), json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert {name: shown.pop(name) for name in record} == record
    assert set(shown) == {"summary", "path"}
    assert (shown["path"], record["seed"]) == (str(tmp_path / "plan"), 3)
    assert answer.err == ""


def test_options_from_a_file(cli, made: Workload, tmp_path: Path) -> None:
    """The table [select] fills in what the command line leaves open; the command line wins."""
    (tmp_path / "p.toml").write_text('[select]\ncapacity = "10%"\nthreshold = 3\n[select.greedy-fb3m]\nrule = "gain"\n')
    arguments = ["select", made.path, "--parameters", tmp_path / "p.toml", "--threshold", 27, "--json"]
    answer = cli(*arguments, "--out", tmp_path / "plan")
    parameters = json.loads(answer.out)["parameters"]
    assert (parameters["capacity"], parameters["threshold"], parameters["rule"]) == ("10%", 27, "gain")
    (tmp_path / "p.toml").write_text("[select]\nthreshhold = 3\n")
    refused = cli(*arguments, "--out", tmp_path / "other")
    assert (refused.code, "Did you mean 'threshold'" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--capacity", "0.1", "--threshold", "27"], "Did you mean '10%'"),
        (["--threshold", "27"], "No capacity"),
        (["--capacity", "10%"], "No threshold"),
        (["--capacity", "10%", "--threshold", "-1"], "between 0 and"),
        (
            ["--capacity", "10%", "--threshold", "many"],
            "--threshold must be a whole number or all, or several with commas between them, not 'many'",
        ),
        (["--capacity", "10%", "--threshold", "27", "--method", "greedy-fb3"], "Did you mean 'greedy-fb3m'"),
        (["--capacity", "10%", "--threshold", "2", "--method", "greedy"], "Did you mean 'greedy-fb3m'"),
        (["--capacity", "10%", "--threshold", "27", "--bound", "papers"], "Did you mean 'paper'"),
        (["--capacity", "10%", "--threshold", "27", "--objective", "b4m"], "b3m or fb3m"),
        (["--capacity", "10%", "--threshold", "27", "--objective", "b3m", "--method", "greedy-max"], "cannot answer"),
        (["--capacity", "10%", "--threshold", "27", "--method", "enumerate-fb3m"], "small instances"),
        (["--capacity", "10%", "--threshold", "27", "--cost", "rates"], "Did you mean 'rate'"),
        (["--capacity", "10%", "--threshold", "27", "--cost", "rate", "--bound", "paper"], "rate x subscribers"),
        (["--capacity", "10%", "--threshold", "27", "--must-serve", "nothing"], "no topic 'nothing'"),
        (["--capacity", "10%", "--threshold", "27", "--must-not-serve", "@nothing"], "nothing cannot be read"),
        (["--capacity", "10%", "--threshold", "27", "--satisfy", "80%"], "not both"),
        (["--threshold", "27", "--satisfy", "0.8"], "Did you mean '80%'"),
        (["--threshold", "27", "--satisfy", "60"], "Did you mean '60%'"),
        (["--threshold", "27", "--satisfy", "600"], "such as 80%, not '600'."),
        (["--capacity", "10%", "--threshold", "27", "--master", "foo"], "not a Spark master URL"),
        (["--capacity", "10%", "--threshold", "27", "--conf", "x"], "--conf"),
        (["--capacity", "10%", "--threshold", "27", "--treshold", "27"], "--treshold"),
    ],
)
def test_wrong_options_exit_with_2(cli, made: Workload, tmp_path: Path, options: list[str], said: str) -> None:
    """A sentence that helps, exit code 2, and nothing written."""
    answer = cli("select", made.path, *options, "--out", tmp_path / "plan")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_workload_exits_with_2(cli, tmp_path: Path) -> None:
    """A directory that is no workload is named."""
    (tmp_path / "empty").mkdir()
    answer = cli("select", tmp_path / "empty", "--threshold", 1, "--capacity", "10%", "--out", tmp_path / "plan")
    assert (answer.code, "no manifest.json" in answer.err) == (2, True)


def test_an_existing_plan_is_kept(cli, made: Workload, planned: Path) -> None:
    """The refusal comes before the work, and says how to overwrite."""
    before = (planned / "plan.json").read_text()
    answer = cli("select", made.path, "--threshold", 2, "--capacity", "10%", "--out", planned)
    assert (answer.code, "--replace" in answer.err) == (2, True)
    assert (planned / "plan.json").read_text() == before


def test_infeasible_exits_with_3(cli, made: Workload, tmp_path: Path, monkeypatch) -> None:
    """Reasons with numbers on stderr, exit code 3, nothing written."""

    def refuse(*_: object) -> None:
        raise Infeasible("No plan keeps the limits:", [Reason("capacity", 5, 4, "topic news")])

    from pubplan.problems import select

    greedy = replace(select.FAMILY.methods["greedy-fb3m"], run=refuse)
    monkeypatch.setitem(select.FAMILY.methods, "greedy-fb3m", greedy)
    answer = cli("select", made.path, "--threshold", 2, "--capacity", "10%", "--out", tmp_path / "plan")
    assert answer.code == 3
    assert "capacity: 5 needed, 4 available, for topic news" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_verify(cli, made: Workload, planned: Path) -> None:
    """A good plan is confirmed in words and in JSON."""
    answer = cli("verify", planned, "--workload", made.path)
    assert (answer.code, "keeps its promises" in answer.out) == (0, True)
    verdict = json.loads(cli("verify", planned, "--workload", made.path, "--json").out)
    assert (verdict["ok"], verdict["violations"]) == (True, [])


def test_a_false_plan_exits_with_4(cli, made: Workload, planned: Path) -> None:
    """An edited plan.json is caught, in words and in JSON."""
    path = planned / "plan.json"
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "objective": raw["objective"] + 1}))
    answer = cli("verify", planned, "--workload", made.path)
    assert (answer.code, "wrong objective (objective)" in answer.err) == (4, True)
    answer = cli("verify", planned, "--workload", made.path, "--json")
    assert (answer.code, json.loads(answer.out)["ok"]) == (4, False)


def test_a_stale_plan_exits_with_5(cli, planned: Path, make_workload) -> None:
    """Another workload makes the plan stale."""
    other = make_workload({"a": 1}, {"x": ["a"]})
    answer = cli("verify", planned, "--workload", other.path)
    assert (answer.code, "stale" in answer.err) == (5, True)


def test_a_tampered_workload_exits_with_2(cli, made: Workload, tmp_path: Path) -> None:
    """verify and --check recompute the digests of the workload."""
    copy = Path(shutil.copytree(made.path, tmp_path / "copy"))
    plan = tmp_path / "plan"
    assert cli("select", copy, "--threshold", 2, "--capacity", "10%", "--out", plan, "--check").code == 0
    path = copy / "topics" / "00000.parquet"
    table, size = read_parquet(path), path.stat().st_size
    rates = table["rate"].to_numpy()
    for position in range(len(rates)):  # some rate can be changed without changing the size of the file
        changed = np.where(np.arange(len(rates)) == position, rates + 1, rates)
        if write_parquet(path, table.set_column(2, table.schema.field("rate"), pa.array(changed))) == size:
            break
    assert path.stat().st_size == size
    for command in (["verify", plan, "--workload", copy], ["select", copy, "--threshold", 2, "--capacity", "10%"]):
        extra = ["--check", "--out", tmp_path / "new"] if command[0] == "select" else []
        answer = cli(*command, *extra)
        assert (answer.code, "was changed" in answer.err) == (2, True)


def said(cli, plan: Path) -> str:
    """What a plan says, in one line."""
    return str(cli("show", plan).out).replace("\n", " ")


def test_diff(cli, made: Workload, planned: Path, tmp_path: Path) -> None:
    """Two plans are compared in words and in JSON; the same plan has nothing to say."""
    other = tmp_path / "other"
    cli("select", made.path, "--threshold", 2763, "--capacity", "5%", "--out", other)
    answer = cli("diff", planned, other)
    assert answer.code == 0
    assert "\nthreshold: 27 events per window -> 2,763 events per window\n" in answer.out
    assert "\ncapacity: 10% of all, 2,217,689 deliveries per window -> 5% of all, 1,108,844 deliveries" in answer.out
    assert "parameters" not in answer.out
    names = [line.partition(":")[0] for line in answer.out.splitlines() if " -> " in line]
    assert names[:3] == ["objective", "bound", "gap"]
    assert re.search(r"^objective: [0-9,.]+ -> [0-9,.]+ subscribers$", answer.out, flags=re.MULTILINE)
    assert re.search(r"^gap: [0-9.]+ % -> [0-9.]+ %$", answer.out, flags=re.MULTILINE)
    proven = [
        re.search(r"satisfies ([0-9,.]+) of .*more than ([0-9,.]+):", said(cli, plan)) for plan in (planned, other)
    ]
    old, new = (match.groups() for match in proven if match)
    assert f"objective: {old[0]} -> {new[0]} subscribers\nbound: {old[1]} -> {new[1]} subscribers\n" in answer.out
    assert "served:" in answer.out
    difference = json.loads(cli("diff", planned, other, "--json").out)
    assert difference["statements"]["parameters.capacity"] == {"old": "10%", "new": "5%"}
    assert cli("diff", planned, planned).out == "The plans are the same.\n"


def test_methods(cli) -> None:
    """The registry in words and in JSON."""
    assert "greedy-fb3m" in cli("methods").out
    listed = json.loads(cli("methods", "select", "--json").out)
    assert listed["select"]["greedy-fb3m"]["paper"].startswith("Setty")
    assert cli("methods", "nothing").code == 2
    assert "select --method greedy-fb3m  (default for fb3m)\n" in cli("methods", "select").out
    assert {name for name, facts in listed["select"].items() if facts["default"]} == {"greedy-fb3m", "greedy-b3m"}


def test_report(cli, planned: Path, tmp_path: Path) -> None:
    """One page, refused over an existing file, never over something else."""
    page = tmp_path / "deep" / "page.html"
    assert cli("report", planned, "--out", page).code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert cli("report", planned, "--out", page).code == 2
    assert cli("report", planned, "--out", page, "--replace").code == 0
    (tmp_path / "notes.txt").write_text("precious")
    answer = cli("report", planned, "--out", tmp_path / "notes.txt", "--replace")
    assert (answer.code, "not a page" in answer.err) == (2, True)
    assert (tmp_path / "notes.txt").read_text() == "precious"


def test_spark_when_asked(cli, made: Workload, tmp_path: Path, shared_spark: list[str | None]) -> None:
    """--master or --conf run the blocks on Spark; the digest is that of one process."""
    options = ["--threshold", 27, "--capacity", "10%", "--bound", "paper", "--json"]
    alone = cli("select", made.path, *options, "--out", tmp_path / "a")
    assert shared_spark == []
    on_spark = cli("select", made.path, *options, "--out", tmp_path / "b", "--master", "local[2]")
    assert shared_spark == ["local[2]"]
    assert json.loads(alone.out)["digest"] == json.loads(on_spark.out)["digest"]
    assert cli("verify", tmp_path / "b", "--workload", made.path, "--conf", "spark.x=y").code == 0
    assert shared_spark == ["local[2]", None]


def test_spark_when_it_pays(cli, made: Workload, tmp_path: Path, shared_spark, monkeypatch) -> None:
    """A workload with many blocks starts Spark by itself."""
    monkeypatch.setattr("pubplan.api.session.MIN_SPARK_BLOCKS", 1)
    options = ["--threshold", 27, "--capacity", "10%", "--bound", "paper", "--out", tmp_path / "plan"]
    assert cli("select", made.path, *options).code == 0
    assert shared_spark == [None]


def test_no_verify_says_so(cli, made: Workload, tmp_path: Path) -> None:
    """An unverified plan is marked in the answer and in the file."""
    options = ["--threshold", 27, "--capacity", "10%", "--out", tmp_path / "plan", "--no-verify"]
    assert "NOT verified" in cli("select", made.path, *options).out
    assert json.loads((tmp_path / "plan" / "plan.json").read_text())["verified"] is False


def test_an_output_inside_its_input_is_refused(cli, made: Workload, planned: Path) -> None:
    """A plan inside its workload or a page inside its plan would damage it."""
    options = ["--threshold", 27, "--capacity", "10%"]
    for command in (
        ["select", made.path, *options, "--out", made.path / "plan"],
        ["select", made.path, *options, "--out", made.path, "--replace"],
        ["report", planned, "--out", planned / "page.html"],
    ):
        answer = cli(*command)
        assert (answer.code, "contain each other" in answer.err) == (2, True)
    assert pubplan.read_workload(made.path).digest == made.digest


def test_changed_plans_are_neither_drawn_nor_compared(cli, planned: Path, tmp_path: Path) -> None:
    """report and diff refuse a plan that was edited; a family that does not exist is named."""
    path = planned / "plan.json"
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "objective": 999.0, "gap": 0.0}))
    for command in (["report", planned, "--out", tmp_path / "page.html"], ["diff", planned, planned]):
        answer = cli(*command)
        assert (answer.code, "was changed" in answer.err) == (4, True)
    assert not (tmp_path / "page.html").exists()


def test_stale_wins_over_another_problem(cli, make_workload, tmp_path: Path) -> None:
    """A plan with thresholds of its workload, checked against one without, is stale."""
    with_thresholds = make_workload({"a": 2}, {"x": ["a"]}, thresholds={"x": 1})
    assert cli("select", with_thresholds.path, "--capacity", "100%", "--out", tmp_path / "plan").code == 0
    other = make_workload({"a": 2}, {"x": ["a"]})
    assert cli("verify", tmp_path / "plan", "--workload", other.path).code == 5


def test_json_survives_a_plain_terminal(make_workload, tmp_path: Path) -> None:
    """Ids beyond ASCII are escaped in JSON, and never break the answer on a terminal that cannot show them."""
    plans = []
    for number, capacity in enumerate((2, 4)):
        workload = make_workload({"é😀": 2, "z": 4}, {"x": ["é😀"], "y": ["z"]})
        problem = pubplan.select.Problem(workload, capacity, 2)
        plans.append(pubplan.select.solve(problem, out=tmp_path / f"p{number}").plan.path)
    script = "from pubplan.cli.main import main; main()"
    for options in (["--json"], []):
        command = [sys.executable, "-c", script, "diff", *map(str, plans), *options]
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        if options:
            assert json.loads(answer.stdout)["decisions"]["served"]["dropped"] == ["é😀"]


def test_trouble_with_the_system_is_a_sentence(cli, made: Workload, tmp_path: Path, monkeypatch) -> None:
    """A full disk or a missing permission is named, and an engine that fails exits with 1."""
    options = ["select", made.path, "--threshold", 27, "--capacity", "10%", "--out", tmp_path / "plan"]

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr("os.fsync", fail)
    answer = cli(*options)
    assert (answer.code, answer.err.splitlines()[-1]) == (2, "pubplan: No space left on device (somewhere).")
    monkeypatch.undo()
    monkeypatch.setattr("pubplan.engine.memory.available_bytes", lambda: 10)
    answer = cli(*options)
    assert (answer.code, "Not enough memory" in answer.err) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_bars_on_a_terminal(made: Workload, tmp_path: Path) -> None:
    """On a terminal progress is drawn as bars and wiped at the end; the answer stays."""
    import pty

    leader, follower = pty.openpty()
    script = "from pubplan.cli.main import main; main()"
    options = ["select", str(made.path), "--threshold", "27", "--capacity", "10%", "--out", str(tmp_path / "plan")]
    process = subprocess.Popen([sys.executable, "-c", script, *options], stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    shown = b""
    with suppress(OSError):  # the terminal is gone with the process; until then, somebody must read it
        while part := os.read(leader, 1 << 16):
            shown += part
    os.close(leader)
    answer, _ = process.communicate()
    assert process.returncode == 0
    assert b"planning with greedy-fb3m" in shown
    assert b"\x1b[" in shown
    assert b"Verified." in answer


def test_lists_from_the_command_line_and_from_files(cli, made: Workload, tmp_path: Path) -> None:
    """Topics that must or must not be served; more than the capacity holds is infeasible, with the excess."""
    ids = made.topics("topic_id")["topic_id"].to_pylist()
    (tmp_path / "not.txt").write_text("\n".join(ids[1:5]) + "\n")
    options = [
        "--threshold",
        27,
        "--capacity",
        "10%",
        "--must-serve",
        ids[0],
        "--must-not-serve",
        f"@{tmp_path}/not.txt",
    ]
    answer = cli("select", made.path, *options, "--out", tmp_path / "plan", "--json", "--bound", "none")
    parameters = json.loads(answer.out)["parameters"]
    assert (parameters["must_serve"], parameters["must_not_serve"]) == ([ids[0]], ids[1:5])
    assert cli("verify", tmp_path / "plan", "--workload", made.path).code == 0
    options = ["--threshold", 27, "--capacity", 0, "--must-serve", ids[0], "--out", tmp_path / "none"]
    refused = cli("select", made.path, *options)
    assert (refused.code, "more than the capacity" in refused.err) == (3, True)
    assert not (tmp_path / "none").exists()


def test_the_curve_and_its_knee(cli, made: Workload, tmp_path: Path) -> None:
    """One plan answers for every smaller capacity, in words and in JSON."""
    options = ["--threshold", 27, "--capacity", "20%", "--curve"]
    answer = cli("select", made.path, *options, "--out", tmp_path / "a")
    assert "The knee is at" in answer.out
    curve = json.loads(cli("select", made.path, *options, "--out", tmp_path / "b", "--json").out)["curve"]
    assert [round(point["percent"]) for point in curve["points"]] == [1, 2, 5, 10, 20]
    shares = [point["satisfied_percent"] for point in curve["points"]]
    assert shares == sorted(shares)
    assert all(point["satisfied"] <= point["bound"] for point in (*curve["points"], curve["knee"]))


@pytest.mark.parametrize("objective", ["fb3m", "b3m"])
def test_the_least_capacity_for_a_share(cli, made: Workload, tmp_path: Path, objective: str) -> None:
    """--satisfy finds a capacity that is enough; a little less is not."""
    options = ["--threshold", 27, "--objective", objective, "--bound", "none"]
    answer = cli("select", made.path, *options, "--satisfy", "80%", "--out", tmp_path / "plan", "--json")
    record = json.loads(answer.out)
    assert record["objective"] >= 0.8 * 4900
    less = int(0.99 * record["parameters"]["capacity_cost"])
    below = cli("select", made.path, *options, "--capacity", less, "--out", tmp_path / "less", "--json")
    assert json.loads(below.out)["objective"] < 0.8 * 4900
    assert (
        "80% takes a capacity of"
        in cli("select", made.path, *options, "--satisfy", "80%", "--out", tmp_path / "words").out
    )


def test_explain(cli, planned: Path, made: Workload, tmp_path: Path) -> None:
    """A served topic, one that is not, a subscriber; the plan remembers where its workload is."""
    served = pubplan.read_plan(planned).decisions("served")["topic_id"].to_pylist()
    other = next(name for name in made.topics("topic_id")["topic_id"].to_pylist() if name not in set(served))
    assert f"{served[0]} is served" in cli("explain", planned, "--topic", served[0]).out
    facts = json.loads(cli("explain", planned, "--topic", other, "--json", "--workload", made.path).out)
    assert (facts["served"], facts["value_per_cost"] >= 0, facts["price"] > 0) == (False, True, True)
    subscriber = made.interests_block(0, "subscriber_id")["subscriber_id"][3].as_py()
    assert f"{subscriber} receives" in cli("explain", planned, "--subscriber", subscriber).out
    for options, said in (
        ([], "--topic or --subscriber"),
        (["--topic", "a", "--subscriber", "b"], "one thing"),
        (["--topic", "nothing"], "no topic 'nothing'"),
        (["--subscriber", "nobody"], "no subscriber 'nobody'"),
        (["--topic", other, "--workload", tmp_path], "not a workload"),
    ):
        refused = cli("explain", planned, *options)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    (planned / "run.json").unlink()
    assert "pass --workload" in cli("explain", planned, "--topic", other).err


def test_diff_says_what_changes_cost_and_bring(cli, planned: Path, made: Workload, tmp_path: Path) -> None:
    """Every topic that changes sides comes with its cost and what it brought."""
    cli("select", made.path, "--threshold", 27, "--capacity", "11%", "--bound", "none", "--out", tmp_path / "more")
    answer = cli("diff", planned, tmp_path / "more")
    assert "(cost " in answer.out
    assert "brings " in answer.out
    changes = json.loads(cli("diff", planned, tmp_path / "more", "--json").out)["decisions"]["served"]
    assert set(changes["measures"]) == {*changes["added"], *changes["dropped"]}
    everything = cli("diff", planned, tmp_path / "more", "--all").out
    for sign, ids in (("+", changes["added"]), ("-", changes["dropped"])):
        shown = re.findall(rf"^  \{sign} (\S+)", everything, flags=re.MULTILINE)
        assert sorted(shown) == sorted(ids)
        weights = [(changes["measures"][name]["brings"] or 0, changes["measures"][name]["cost"]) for name in shown]
        assert weights == sorted(weights, reverse=True)
    assert len(changes["added"]) > 10
    assert "more; --all shows them" in answer.out
    assert "more; --all" not in everything
    assert all(set(values) == {"cost", "brings"} for values in changes["measures"].values())
