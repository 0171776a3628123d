"""``pubplan assign`` as a user meets it: answers, limits, explanations, exports, and sentences for what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from oracles.assign_example import CLIENTS, example, tree
from oracles.forge import forge

import pubplan
from pubplan.workload import ContentWorkload

QUESTION = ("--boxes", 1, "--max-delay", "0.5", "--load", 1, "--max-load", 1, "--quiet")
"""That of the worked example: two clients for each of two brokers."""


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> ContentWorkload:
    return example(tmp_path_factory.mktemp("clients") / "workload")


@pytest.fixture(scope="module")
def planned(clients: ContentWorkload, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The best plan: ann and bob on north, carl and dora on south, 3 + 4 grid steps."""
    problem = pubplan.assign.Problem(clients, boxes=1, max_delay="0.5", load=1, max_load=1)
    return pubplan.assign.solve(problem, "gr-star", out=tmp_path_factory.mktemp("planned") / "plan").plan.path


@pytest.fixture(scope="module")
def overloaded(clients: ContentWorkload, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everybody at the nearest broker: dora too goes to north, the first of two that are equally near."""
    problem = pubplan.assign.Problem(clients, boxes=1, max_delay="0.5", load=1, max_load=1)
    path = tmp_path_factory.mktemp("overloaded") / "plan"
    return pubplan.assign.solve(problem, "closest-unbalanced", out=path).plan.path


def test_answers_in_words(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """7 of 12 grid steps are 0.5833 brokers per event, rounded up; what is proven is the same."""
    answer = cli("assign", clients.path, *QUESTION, "--method", "gr-star", "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "4 clients are served by 2 of 2 leaf brokers.",
        "An event anywhere in the space goes into 0.584 of 2 brokers on average (7 grid steps of all filters).",
        "No assignment needs less bandwidth.",
        "The busiest leaf serves 1 times its share of the clients; at most 1 was wanted, at most 1 is allowed.",
        "Events take up to 0.0 % longer than the shortest way, 0.0 % in the root mean square; at most 50.0 % is "
        "allowed.",
        f"Verified. Plan written to {tmp_path / 'plan'}",
    ]


def test_answers_in_json(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """The plan's record with a summary, and nothing else on stdout."""
    answer = cli("assign", clients.path, *QUESTION, "--method", "gr-star", "--out", tmp_path / "plan", "--json")
    assert (answer.code, answer.err) == (0, "")
    value = json.loads(answer.out)
    assert (value["family"], value["method"], value["objective"], value["gap"]) == ("assign", "gr-star", 7, 0)
    assert value["path"] == str(tmp_path / "plan")
    summary = value["summary"]
    assert summary["copies_per_event"] == pytest.approx(7 / 12)
    assert (summary["brokers"], summary["leaves"], summary["clients"], summary["boxes"]) == (2, 2, 4, 2)
    assert (summary["loads"], summary["limits"], summary["load_factor"]) == ([2, 2], [2, 2], 1.0)
    assert (summary["bandwidth"], summary["scale"], summary["by_level"], summary["delays"]) == (7, 1, [7], [4])


def test_the_default_method_is_refined(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """It begins with the best there is and does not get worse; its parameter is set by --set."""
    answer = cli("assign", clients.path, *QUESTION, "--set", "steps=50", "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    record = pubplan.read_plan(tmp_path / "plan").record
    assert (record["method"], record["parameters"]["steps"], record["objective"]) == ("refined", 50, 7)


def test_parameter_files_are_read(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """The command line wins over the file."""
    (tmp_path / "p.toml").write_text(
        '[assign]\nmethod = "gr-star"\nboxes = 2\nmax_delay = 0.5\nload = 1\nmax_load = "1.5"\n'
        'hop = "last"\nbound = "union"\n'
    )
    answer = cli(
        "assign", clients.path, "--parameters", tmp_path / "p.toml", "--boxes", 1, "--out", tmp_path / "plan", "--quiet"
    )
    assert answer.code == 0, answer.err
    record = pubplan.read_plan(tmp_path / "plan").record
    asked = {"boxes": 1, "max_delay": "0.5", "load": "1", "max_load": "1.5", "hop": "last"}
    assert (record["method"], list(record["bounds"])) == ("gr-star", ["union"])
    assert asked.items() <= record["parameters"].items()
    assert "longer than the shortest last hop" in answer.out


@pytest.mark.parametrize(
    ("bound", "names"), [("none", []), ("union", ["union"]), ("forced", ["capacity", "forced", "union"])]
)
def test_bounds_are_chosen(cli, clients: ContentWorkload, tmp_path: Path, bound: str, names: list[str]) -> None:
    """None, one alone, or forced with the others."""
    answer = cli("assign", clients.path, *QUESTION, "--method", "gr-star", "--bound", bound, "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    assert sorted(pubplan.read_plan(tmp_path / "plan").record["bounds"]) == names
    assert ("No assignment" in answer.out) == bool(names)


def test_without_a_limit_anybody_may_wait(cli, clients: ContentWorkload) -> None:
    """--max-delay none lets every leaf serve everybody."""
    answer = cli("assign", clients.path, "--max-delay", "none", "--method", "gr-star", "--quiet")
    assert answer.code == 0, answer.err
    assert "; any delay is allowed." in answer.out


def test_clients_may_have_limits(cli, tmp_path: Path) -> None:
    """Without --max-delay those of the workload hold: ann accepts 10 us, which only north keeps."""
    limits = {"ann": 10, "bob": 20, "carl": 40, "dora": 15}
    workload = example(tmp_path / "workload", {name: {"limit": limit} for name, limit in limits.items()})
    answer = cli("assign", workload.path, "--method", "gr-star", "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    assert "; each client's own limit is allowed." in answer.out
    assert pubplan.read_plan(tmp_path / "plan").record["parameters"]["max_delay"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "No latency limit: pass --max-delay, a number such as 0.3 or none, or plan for clients"),
        (["--max-delay", "-1"], "--max-delay is a number such as 2 or 1.5, not '-1'."),
        (["--max-delay", "far"], "a number such as 0.3, or none"),
        (["--max-delay", "0.3", "--boxes", 6], "--boxes is a number from 1 to 5, not 6."),
        (["--max-delay", "0.3", "--boxes", 0], "--boxes is a number from 1 to 5, not 0."),
        (["--max-delay", "0.3", "--load", 2], "--max-load must be at least --load, 2, not 1.8."),
        (["--max-delay", "0.3", "--load", -1], "--load is a number such as 2 or 1.5, not '-1'."),
        (
            ["--max-delay", "0.3", "--hop", "first"],
            "--hop is 'path' for the latency of the whole path, or 'last'",
        ),
        (["--max-delay", "0.3", "--method", "gr*"], "method"),
        (["--max-delay", "0.3", "--method", "gr-star", "--set", "steps=1"], "has no parameters to set"),
        (["--max-delay", "0.3", "--set", "step=1"], "Did you mean 'steps'?"),
        (["--max-delay", "0.3", "--method", "gr", "--set", "eviction=all"], "eviction"),
        (["--max-delay", "0.3", "--bound", "unions"], "Did you mean 'union'?"),
    ],
)
def test_wrong_options_are_refused(cli, clients: ContentWorkload, tmp_path: Path, options: list, said: str) -> None:
    """A sentence that helps, exit code 2, and nothing written."""
    answer = cli("assign", clients.path, *options, "--out", tmp_path / "plan", "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())
    assert not (tmp_path / "plan").exists()


def test_topic_workloads_are_refused(cli, make_workload) -> None:
    """And content workloads by the other families."""
    topics = make_workload({"x": 1}, {"a": ["x"]})
    answer = cli("assign", topics.path, "--max-delay", "0.3", "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "assign plans content workloads" in " ".join(answer.err.split())


def test_content_workloads_are_refused_elsewhere(cli, clients: ContentWorkload) -> None:
    """Families of topics say what they plan."""
    answer = cli("overlay", clients.path, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "topic workload" in " ".join(answer.err.split())


def test_clients_out_of_reach(cli, tmp_path: Path) -> None:
    """ann may use south only, which takes 30 us; 50 % more than the 10 us of north are 15."""
    both = ["north", "south"]
    changes = {name: {"allowed": ["south"] if name == "ann" else both} for name in CLIENTS}
    answer = cli("assign", example(tmp_path / "workload", changes).path, *QUESTION)
    assert (answer.code, answer.out) == (3, "")
    assert "1 client of 4 cannot be served in time." in answer.err
    assert "ann at oslo accepts 15 us; the nearest leaf that it may use takes 30" in answer.err


def test_leaves_that_cannot_take_all(cli, tmp_path: Path) -> None:
    """Everybody is in oslo and reaches north alone, whose share is a half: all are two times that."""
    workload = example(tmp_path / "workload", {name: {"site": "oslo"} for name in CLIENTS})
    answer = cli("assign", workload.path, "--max-delay", "0.5", "--json", "--quiet")
    assert answer.code == 3
    error = json.loads(answer.out)["error"]
    (reason,) = error["reasons"]
    assert error["kind"] == "infeasible"
    assert (reason["limit"], reason["need"], reason["have"]) == ("load", "2", "1.8")
    assert reason["sentence"] == "no assignment has a load factor below 2; at most 1.8 is allowed"


def test_overloaded_leaves_are_said(cli, overloaded: Path, clients: ContentWorkload) -> None:
    """north serves three where two are allowed; the plan says so and is verified as what it is."""
    answer = cli("show", overloaded, "--quiet")
    said = "Broken: 1 leaf broker of 2 is overloaded: north serves 3 clients and may serve 2."
    assert said in answer.out.splitlines()
    assert "The busiest leaf serves 1.5 times its share of the clients" in answer.out
    assert cli("verify", overloaded, "--workload", clients.path, "--quiet").code == 0


def test_late_clients_are_said(cli, tmp_path: Path) -> None:
    """carl wants what ann wants; without latency it joins her on north, 30 us away where 15 are accepted."""
    workload = example(tmp_path / "workload", {"carl": {"box": [(0, 2)]}})
    question = ("--boxes", 1, "--max-delay", "0.5", "--load", 2, "--max-load", 2, "--quiet")
    answer = cli("assign", workload.path, *question, "--method", "gr-no-latency", "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    assert "Broken: 1 client of 4 is served later than allowed." in answer.out.splitlines()
    assert "Events take up to 200.0 % longer than the shortest way" in answer.out
    explained = cli("explain", tmp_path / "plan", "--client", "carl", "--quiet")
    assert explained.out.splitlines()[-1] == (
        "north is not one of them: the plan serves this client later than allowed."
    )


def test_clients_and_brokers_are_explained(cli, planned: Path) -> None:
    """Who could serve bob and at what price, and why the box of north is as large as it is."""
    client = cli("explain", planned, "--client", "bob", "--quiet")
    assert (client.code, client.err) == (0, "")
    assert client.out.splitlines() == [
        "bob at kiel wants price 1 to 3, and is served by north.",
        "2 leaf brokers are near enough and allowed:",
        "  north: 15 us (0.0 % longer), 2 of 2 clients; lets it through already (serves it)",
        "  south: 15 us (0.0 % longer), 2 of 2 clients, full; filters would grow by 58.3 % of all events",
        "Every other leaf broker is full, or would have to let more events through.",
    ]
    broker = cli("explain", planned, "--broker", "north", "--quiet")
    assert broker.out.splitlines() == [
        "north serves 2 of at most 2 clients; 25 % of all events go into it.",
        "  box 0: price 0 to 3 (25 %), because of ann, bob",
    ]
    facts = json.loads(cli("explain", planned, "--client", "ann", "--json", "--quiet").out)
    assert (facts["broker"], facts["limit_us"], len(facts["candidates"])) == ("north", 15, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--client", "eve"], "has no client 'eve'"),
        (["--broker", "east"], "has no broker 'east'"),
        (["--topic", "x"], "Plans of assign explain client, broker, not topic."),
        ([], "Name one thing to explain"),
    ],
)
def test_what_cannot_be_explained(cli, planned: Path, options: list[str], said: str) -> None:
    """A sentence says why."""
    answer = cli("explain", planned, *options, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())


def test_plans_are_compared(cli, planned: Path, overloaded: Path) -> None:
    """dora moves to north, whose filter grows from 3 to 12 while that of south shrinks from 4 to 2."""
    answer = cli("diff", planned, overloaded)
    assert answer.code in (0, 1)
    lines = answer.out.splitlines()
    assert lines[-5:] == [
        "clients: 1 moved, 3 stayed",
        "  south -> north: 1 client",
        "brokers whose filters change: 2",
        "  north: 3 -> 12",
        "  south: 4 -> 2",
    ]


def test_plans_of_other_workloads_are_compared(cli, planned: Path, tmp_path: Path) -> None:
    """Clients are matched by their ids; hub is a broker of the other workload only."""
    workload = tree(tmp_path / "workload")
    answer = cli("assign", workload.path, *QUESTION, "--method", "gr-star", "--out", tmp_path / "plan")
    assert answer.code == 0, answer.err
    assert "(19 grid steps of all filters)" in answer.out
    lines = cli("diff", planned, tmp_path / "plan").out.splitlines()
    assert "clients: 0 moved, 4 stayed" in lines
    assert lines[-1] == "  hub: absent -> 12"


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("assignments", ["client_id,broker_id", "ann,north", "bob,north", "carl,south", "dora,south"]),
        ("filters", ["broker_id,box,attribute,low,high", "north,0,price,0,3", "south,0,price,8,12"]),
        ("brokers", ["broker_id,level,clients,limit,volume", "north,1,2,2,3", "south,1,2,2,4"]),
    ],
)
def test_tables_are_exported(cli, planned: Path, tmp_path: Path, table: str, lines: list[str]) -> None:
    """As CSV, as JSON lines and as Parquet, with the same columns."""
    answer = cli("export", planned, "--table", table, "--quiet")
    assert (answer.code, answer.out.splitlines()) == (0, lines)
    rows = cli("export", planned, "--table", table, "--format", "json", "--quiet").out.splitlines()
    assert list(json.loads(rows[0])) == lines[0].split(",")
    assert len(rows) == len(lines) - 1
    assert cli("export", planned, "--table", table, "--out", tmp_path / "t.parquet", "--quiet").code == 0
    assert pq.read_table(tmp_path / "t.parquet").column_names == lines[0].split(",")


def test_changed_plans_are_refused(cli, planned: Path, clients: ContentWorkload, tmp_path: Path) -> None:
    """A broker without its box lets nothing through: two clients are not served."""
    forge(pubplan.read_plan(planned), tmp_path / "forged", tables={"decisions/filters.parquet": lambda t: t.slice(1)})
    answer = cli("verify", tmp_path / "forged", "--workload", clients.path, "--quiet")
    assert answer.code == 4
    assert "clients whose subscription is not inside the filter of their leaf: 2" in answer.out + answer.err


def test_stale_plans_are_refused(cli, planned: Path, tmp_path: Path) -> None:
    """The workload has become another one."""
    other = example(tmp_path / "workload", {"carl": {"box": [(0, 2)]}})
    answer = cli("verify", planned, "--workload", other.path, "--quiet")
    assert answer.code == 5


def test_methods_are_listed(cli) -> None:
    """With what they guarantee, and the default marked."""
    answer = cli("methods", "assign")
    assert answer.code == 0
    for name in ("refined", "gr-star", "gr", "gr-no-latency", "closest", "closest-unbalanced", "balance"):
        assert name in answer.out


def test_plans_are_reported(cli, planned: Path, overloaded: Path, tmp_path: Path) -> None:
    """The page has both, and says what is broken."""
    answer = cli("report", planned, overloaded, "--out", tmp_path / "page.html", "--quiet")
    assert answer.code == 0, answer.err
    text = (tmp_path / "page.html").read_text()
    assert "Bandwidth" in text
    assert "Broken: 1 leaf broker of 2 is overloaded" in text
