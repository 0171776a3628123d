"""``pubplan overlay`` as a user meets it: answers, parameters, explanations, and sentences for what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracles.forge import forge

import pubplan
from pubplan.workload import Workload

WANTED = {"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["y", "z"], "d": ["z"]}
"""GM-M: the path a - b - c - d; b - c comes last, since it gives nodes a second link."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """Forty nodes, twelve topics."""
    shape = pubplan.generate.uniform(40, 12, 1, (2, 6))
    return pubplan.generate.generate(shape, tmp_path_factory.mktemp("nodes") / "workload")


@pytest.fixture
def path(make_workload) -> Workload:
    return make_workload(dict.fromkeys("xyz", 1), WANTED)


@pytest.fixture
def planned(cli, path: Workload, tmp_path: Path) -> Path:
    answer = cli("overlay", path.path, "--method", "gm-m", "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    return tmp_path / "plan"


def test_answers_in_words(cli, nodes: Workload, tmp_path: Path) -> None:
    """Links, the busiest node and its bound, distances, the division, what binds, where the plan is."""
    answer = cli("overlay", nodes.path, "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    plan = pubplan.read_plan(tmp_path / "plan")
    lines = answer.out.splitlines()
    assert lines[0] == f"{plan.decisions('links').num_rows} links connect every topic of 40 nodes."
    bound = int(plan.record["bound"])
    assert lines[1].startswith(f"No node has more than {plan.exact.value} links; proven at least {bound}. On average ")
    assert lines[2].startswith("Nodes of a topic are at most ")
    assert lines[3].startswith("Divided: ")
    assert "; parts joined through " in lines[3]
    assert lines[4].startswith("Binding: node 's")
    assert f"has the most links, {plan.exact.value}; without its least used link, " in lines[4]
    assert lines[5:] == [f"Verified. Plan written to {tmp_path / 'plan'}"]
    assert "planning with dcbr-repair" in answer.err


def test_answers_in_json(cli, nodes: Workload, tmp_path: Path) -> None:
    """The plan's record with its measures, and nothing else on stdout."""
    answer = cli("overlay", nodes.path, "--out", tmp_path / "plan", "--json", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    value = json.loads(answer.out)
    assert value["family"] == "overlay"
    assert value["verified"] is True
    assert value["measures"]["nodes"] == 40
    assert value["measures"]["maximum_degree"] == value["objective"]
    (reason,) = value["reasons"]
    assert reason["limit"] == "links per node"
    assert reason["sentence"].startswith(f"{reason['where']} has the most links, ")


@pytest.mark.parametrize(
    ("method", "options", "recorded"),
    [
        ("gm-m", [], {}),
        ("ring-per-topic", [], {}),
        ("naive-dc", ["--parts", 3], {"parts": 3}),
        ("dcb-m", ["--eta", 4, "--set", "parts=2"], {"eta": 4, "parts": 2}),
        ("dcbr-m", ["--coverage", 2, "--set", "model=paper"], {"coverage": 2, "model": "paper"}),
        ("dcbr-repair", ["--effort", 0.5, "--set", "eta=none"], {"effort": 0.5, "eta": None}),
    ],
)
def test_parameters_reach_the_method(
    cli, nodes: Workload, tmp_path: Path, method: str, options: list, recorded: dict
) -> None:
    """By their option or by --set; the plan records them."""
    answer = cli("overlay", nodes.path, "--method", method, *options, "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    plan = pubplan.read_plan(tmp_path / "plan")
    assert plan.method == method
    assert recorded.items() <= plan.record["parameters"].items()


def test_parameter_files_are_read(cli, nodes: Workload, tmp_path: Path) -> None:
    """The command line wins over the file."""
    (tmp_path / "p.toml").write_text(
        '[overlay]\nmethod = "dcb-m"\nbound = "forced"\n[overlay.dcb-m]\neta = 5\nparts = 4\n'
    )
    answer = cli(
        "overlay", nodes.path, "--parameters", tmp_path / "p.toml", "--parts", 2, "--out", tmp_path / "plan", "--quiet"
    )
    assert answer.code == 0, answer.err
    record = pubplan.read_plan(tmp_path / "plan").record
    assert (record["method"], record["parameters"]["eta"], record["parameters"]["parts"]) == ("dcb-m", 5, 2)
    assert list(record["bounds"]) == ["forced"]


@pytest.mark.parametrize(
    ("bound", "names"), [("none", []), ("forced", ["forced"]), ("joins", ["forced", "joins", "node"])]
)
def test_bounds_are_chosen(cli, path: Workload, tmp_path: Path, bound: str, names: list[str]) -> None:
    """None, one alone, or joins with the others."""
    answer = cli("overlay", path.path, "--bound", bound, "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    assert sorted(pubplan.read_plan(tmp_path / "plan").record["bounds"]) == names
    assert ("proven at least" in answer.out) == bool(names)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "gm-n"], "Did you mean 'gm-m'?"),
        (["--method", "gm-m", "--eta", 3], "method gm-m: There is no parameter 'eta'"),
        (["--method", "gm-m", "--set", "eta=3"], "method gm-m has no parameters to set"),
        (["--set", "part=3"], "method dcbr-repair: There is no parameter 'part'. Did you mean 'parts'?"),
        (["--set", "parts=some"], "method dcbr-repair: parts is a whole number"),
        (["--set", "model=pages"], "method dcbr-repair: There is no model of the work 'pages'"),
        (["--set", "parts=3", "--parts", 3], "parts is given twice"),
        (["--eta", -1], "method dcbr-repair: eta is a whole number, at least 0"),
        (["--parts", 0], "method dcbr-repair: parts is a whole number, at least 1"),
        (["--coverage", 0], "method dcbr-repair: coverage is a whole number, at least 1"),
        (["--effort", -1], "method dcbr-repair: effort is a number from 0"),
        (["--effort", "nan"], "--effort must be a number, not 'nan'"),
        (["--eta", "many"], "--eta"),
        (["--bound", "nodes"], "Did you mean 'node'?"),
        (["--parameters", "missing.toml"], "There is no parameter file missing.toml"),
    ],
)
def test_wrong_options_are_refused_before_spark_starts(
    cli, path: Workload, tmp_path: Path, monkeypatch, options: list, said: str
) -> None:
    """A sentence that helps, exit code 2, and nothing written."""

    def start(*_: object) -> None:
        raise AssertionError("a session was started")

    monkeypatch.setattr("pubplan.api.session.spark_session", start)
    answer = cli("overlay", path.path, *options, "--out", tmp_path / "plan", "--master", "local[1]")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())
    assert not (tmp_path / "plan").exists()


def test_other_workloads_are_refused(cli, tmp_path: Path) -> None:
    """One that is not there."""
    answer = cli("overlay", tmp_path / "nowhere", "--out", tmp_path / "plan")
    assert (answer.code, answer.out) == (2, "")
    assert "nowhere" in answer.err


def test_existing_plans_are_kept(cli, planned: Path, path: Workload) -> None:
    """Unless --replace says otherwise; a directory that is not a plan is never replaced."""
    before = pubplan.read_plan(planned).digest
    answer = cli("overlay", path.path, "--method", "ring-per-topic", "--out", planned, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "--replace" in answer.err
    assert pubplan.read_plan(planned).digest == before
    assert cli("overlay", path.path, "--out", path.path, "--replace", "--quiet").code == 2
    answer = cli("overlay", path.path, "--method", "ring-per-topic", "--out", planned, "--replace", "--quiet")
    assert answer.code == 0, answer.err
    assert pubplan.read_plan(planned).method == "ring-per-topic"


def test_plans_may_go_unverified(cli, path: Workload, tmp_path: Path) -> None:
    """And say so."""
    answer = cli("overlay", path.path, "--no-verify", "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == f"NOT verified. Plan written to {tmp_path / 'plan'}"


def test_links_nodes_and_topics_are_explained(cli, planned: Path) -> None:
    """What each is for, in sentences."""
    link = cli("explain", planned, "--link", "b,c", "--quiet")
    assert (link.code, link.err) == (0, "")
    assert link.out.splitlines() == [
        "The link between b and c was chosen as number 3 (greedily among all nodes), when it joined 2 topics.",
        "Its nodes have 2 topics in common: y, z.",
        "It carries 2 topics: y, z.",
        "Without it, 2 topics would fall apart: y, z.",
    ]
    node = cli("explain", planned, "--node", "d", "--quiet")
    assert node.out.splitlines() == [
        "d has 1 link; the busiest node has 2.",
        "It wants 1 topic and is the root of 0 trees.",
        "  c: 1 of 1 common topic goes this way; 1 would fall apart without it (greedily among all nodes)",
    ]
    topic = cli("explain", planned, "--topic", "z", "--quiet")
    assert topic.out.splitlines() == [
        "z has 3 nodes, and 2 links between them.",
        "Its tree starts at c and is 1 link deep; the largest distance between two of its nodes is 2.",
    ]
    facts = json.loads(cli("explain", planned, "--link", "a,b", "--json", "--quiet").out)
    assert (facts["common"], facts["step"], facts["joined"]) == (["x", "y"], 1, 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--link", "a,c"], "has no link between 'a' and 'c'; they share 1 topic."),
        (["--link", "a"], "Name a link by its two nodes with a comma between them"),
        (["--node", "e"], "has no node 'e'"),
        (["--topic", "w"], "'w'"),
        (["--vm", "1"], "Plans of overlay explain link, node, topic, not vm."),
        ([], "Name one thing to explain"),
        (["--node", "a", "--topic", "x"], "Name one thing to explain"),
    ],
)
def test_what_cannot_be_explained(cli, planned: Path, options: list[str], said: str) -> None:
    """A sentence says why."""
    answer = cli("explain", planned, *options, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())


def test_plans_are_verified_and_reported(cli, planned: Path, path: Workload, tmp_path: Path) -> None:
    """A plan as it was written holds; the page shows it."""
    answer = cli("verify", planned, "--workload", path.path, "--quiet")
    assert answer.code == 0, answer.err
    answer = cli("report", planned, "--out", tmp_path / "page.html", "--quiet")
    assert answer.code == 0, answer.err
    assert "Links per node" in (tmp_path / "page.html").read_text()


def test_changed_plans_are_refused(cli, planned: Path, path: Workload, tmp_path: Path) -> None:
    """A link that is gone is missed, in words: a is cut off from x and y."""
    forge(pubplan.read_plan(planned), tmp_path / "forged", tables={"decisions/links.parquet": lambda t: t.slice(1)})
    answer = cli("verify", tmp_path / "forged", "--workload", path.path, "--quiet")
    assert answer.code == 4
    assert "topics not connected: 2" in answer.out + answer.err


def test_overlays_are_compared(cli, planned: Path, path: Workload, tmp_path: Path) -> None:
    """Links kept, added and dropped."""
    assert cli("overlay", path.path, "--method", "ring-per-topic", "--out", tmp_path / "rings", "--quiet").code == 0
    answer = cli("diff", planned, tmp_path / "rings")
    assert answer.code in (0, 1)
    assert "links: 3 kept, 2 added, 0 dropped" in answer.out
