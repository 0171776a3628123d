"""``pubplan federate`` and everything that reads its plans, from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from oracles.federate_example import BROKERS, CLIENTS, LINKS, SPACE, TERABYTE, hub
from oracles.forge import forge

import pubplan
from pubplan.workload import Broker, Client, ContentWorkload, build_content_workload

QUESTION = ("--channels", 2, "--message-bytes", 1000)


@pytest.fixture
def clients(tmp_path: Path) -> ContentWorkload:
    return hub(tmp_path / "clients")


@pytest.fixture
def planned(cli, clients: ContentWorkload, tmp_path: Path) -> Path:
    """Spanning trees: $128.40."""
    answer = cli("federate", clients.path, *QUESTION, "--method", "exact", "--out", tmp_path / "planned", "--quiet")
    assert answer.code == 0, answer.err
    return tmp_path / "planned"


@pytest.fixture
def over_hub(cli, clients: ContentWorkload, tmp_path: Path) -> Path:
    """Steiner trees: $99."""
    options = ("--routing", "steiner", "--method", "greedy-packing", "--out", tmp_path / "over-hub", "--quiet")
    answer = cli("federate", clients.path, *QUESTION, *options)
    assert answer.code == 0, answer.err
    return tmp_path / "over-hub"


def test_answers_in_sentences(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """The worked example of the docs."""
    out = tmp_path / "plan"
    answer = cli("federate", clients.path, *QUESTION, "--method", "exact", "--out", out, "--quiet")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[:3] == [
        "3 clients attach to 3 of 4 brokers for $128.40 per 1 day, or $3,908.18 per month.",
        "That is $9.00 between clients and brokers and $119.40 between brokers.",
        "No cheaper plan exists.",
    ]
    assert lines[-2:] == [
        "A Steiner tree per channel would save $29.40, 24.6 % of the cost between brokers.",
        f"Verified. Plan written to {out}",
    ]


def test_answers_in_json(cli, clients: ContentWorkload) -> None:
    """The plan's record with a summary, and nothing else on stdout."""
    answer = cli("federate", clients.path, *QUESTION, "--routing", "steiner", "--method", "exact", "--json", "--quiet")
    assert (answer.code, answer.err) == (0, "")
    value = json.loads(answer.out)
    assert (value["family"], value["method"], value["objective"], value["gap"]) == ("federate", "exact", 99, 0)
    assert value["path"] is None
    summary = value["summary"]
    assert (summary["cost"], summary["access_cost"], summary["core_cost"]) == (99, 9, 90)
    assert (summary["used_brokers"], summary["loads"]) == (3, [3 * TERABYTE, 0, 3 * TERABYTE, 3 * TERABYTE])


def test_the_default_method_is_local_moves(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """Its parameters are set by --set."""
    answer = cli("federate", clients.path, *QUESTION, "--set", "kicks=3", "--out", tmp_path / "plan", "--quiet")
    assert answer.code == 0, answer.err
    record = pubplan.read_plan(tmp_path / "plan").record
    assert (record["method"], record["parameters"]["kicks"], record["objective"]) == ("local-moves", 3, 128.4)


def test_parameter_files_are_read(cli, clients: ContentWorkload, tmp_path: Path) -> None:
    """The command line wins over the file."""
    (tmp_path / "p.toml").write_text(
        '[federate]\nmethod = "greedy-packing"\nchannels = 2\ncut = "traffic"\nrouting = "acyclic"\n'
        'cost = "replicating"\nmessage_bytes = 500\nbound = "access"\n'
    )
    options = ("--parameters", tmp_path / "p.toml", "--message-bytes", 1000, "--out", tmp_path / "plan", "--quiet")
    answer = cli("federate", clients.path, *options)
    assert answer.code == 0, answer.err
    record = pubplan.read_plan(tmp_path / "plan").record
    asked = {"channels": 2, "cut": "traffic", "routing": "acyclic", "cost": "replicating", "message_bytes": 1000}
    assert (record["method"], list(record["bounds"])) == ("greedy-packing", ["access"])
    assert record["parameters"] == asked


@pytest.mark.parametrize(
    ("bound", "names"),
    [("none", []), ("access", ["access"]), ("laminar", ["access", "laminar"]), ("search", ["search"])],
)
def test_bounds_are_chosen(cli, clients: ContentWorkload, tmp_path: Path, bound: str, names: list[str]) -> None:
    """None, one alone, or laminar with access."""
    options = ("--method", "greedy-packing", "--bound", bound, "--out", tmp_path / "plan", "--quiet")
    answer = cli("federate", clients.path, *QUESTION, *options)
    assert answer.code == 0, answer.err
    assert sorted(pubplan.read_plan(tmp_path / "plan").record["bounds"]) == names
    assert ("No plan costs less" in answer.out or "No cheaper plan exists" in answer.out) == bool(names)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--channels", 0], "There are 1 to 4,096 channels, not 0."),
        (["--channels", "2x2"], "Channels 2x2 are for 2 attributes; the space has 1."),
        (["--channels", "axb"], "such as 10x5, not 'axb'"),
        (["--channels", "few"], "a whole number such as 50, or one per attribute such as 10x5"),
        (["--cut", "height"], "The cut is width or traffic, not 'height'."),
        (["--routing", "star"], "The routing is spanning, steiner or acyclic, not 'star'."),
        (["--cost", "free"], "The cost is shared or replicating, not 'free'."),
        (["--message-bytes", 0], "The size of a message is 1 to 1,000,000,000 bytes, not 0."),
        (["--message-bytes", "large"], "whole number"),
        (["--method", "greedy"], "method"),
        (["--method", "random", "--set", "steps=1"], "has no parameters to set"),
        (["--set", "kick=1"], "Did you mean 'kicks'?"),
        (["--set", "starts=1"], "starts"),
        (["--bound", "lamina"], "Did you mean 'laminar'?"),
    ],
)
def test_wrong_options_are_refused(cli, clients: ContentWorkload, tmp_path: Path, options: list, said: str) -> None:
    """A sentence that helps, exit code 2, and nothing written."""
    answer = cli("federate", clients.path, *options, "--out", tmp_path / "plan", "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())
    assert not (tmp_path / "plan").exists()


def test_topic_workloads_are_refused(cli, make_workload) -> None:
    """They have no content."""
    answer = cli("federate", make_workload({"x": 1}, {"a": ["x"]}).path, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "federate plans content workloads" in " ".join(answer.err.split())


def test_workloads_without_publications_are_refused(cli, tmp_path: Path) -> None:
    """What clients publish has to be known."""
    silent = {name: {"publishes": None} for name in CLIENTS}
    answer = cli("federate", hub(tmp_path / "silent", silent, density=[1, 0]).path, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "does not say what its clients publish" in " ".join(answer.err.split())


def test_clients_that_are_too_large(cli, tmp_path: Path) -> None:
    """ann may use east alone, which takes 1 TB of her 3."""
    changes = {name: {"allowed": ["east"] if name == "ann" else list(BROKERS)} for name in CLIENTS}
    brokers = {**BROKERS, "east": replace(BROKERS["east"], capacity=TERABYTE)}
    answer = cli("federate", hub(tmp_path / "hub", changes, brokers=brokers).path, *QUESTION, "--json", "--quiet")
    assert answer.code == 3
    error = json.loads(answer.out)["error"]
    assert error["kind"] == "infeasible"
    assert error["reasons"][0]["sentence"] == (
        "ann sends and receives 3,000,000,000 messages per window; no broker that it may use takes more than "
        "1,000,000,000"
    )


def test_brokers_that_cannot_take_all(cli, tmp_path: Path) -> None:
    """Four brokers of 2 TB each take 8 of 9 TB; nobody fits alone either."""
    brokers: dict[str, Broker] = {name: replace(broker, capacity=2 * TERABYTE) for name, broker in BROKERS.items()}
    answer = cli("federate", hub(tmp_path / "hub", brokers=brokers).path, *QUESTION, "--quiet")
    assert (answer.code, answer.out) == (3, "")
    assert "Brokers cannot take all clients." in answer.err
    assert "all brokers together take 8,000,000,000" in " ".join(answer.err.split())


def test_plans_are_shown_and_verified(cli, planned: Path, clients: ContentWorkload) -> None:
    """What was said is said again, and recomputed."""
    answer = cli("show", planned, "--quiet")
    assert answer.code == 0
    assert "That is $9.00 between clients and brokers and $119.40 between brokers." in answer.out
    assert cli("verify", planned, "--workload", clients.path, "--replan", "--quiet").code == 0


def test_changed_plans_are_refused(cli, planned: Path, clients: ContentWorkload, tmp_path: Path) -> None:
    """A plan without one of its links."""
    forge(pubplan.read_plan(planned), tmp_path / "forged", tables={"decisions/links.parquet": lambda t: t.slice(1)})
    answer = cli("verify", tmp_path / "forged", "--workload", clients.path, "--quiet")
    assert answer.code == 4
    assert "links" in answer.out + answer.err


def test_stale_plans_are_refused(cli, planned: Path, tmp_path: Path) -> None:
    """The workload has become another one."""
    other = hub(tmp_path / "other", {"cid": {"publishes": {0: 1}}})
    assert cli("verify", planned, "--workload", other.path, "--quiet").code == 5


def test_decisions_are_explained(cli, over_hub: Path) -> None:
    """A client, a broker, a link and a channel, in sentences and in JSON."""
    client = cli("explain", over_hub, "--client", "bea", "--quiet")
    assert (client.code, client.err) == (0, "")
    assert client.out.splitlines()[2] == "  north: as much as it does; $0.001 per GB (attached)"
    broker = cli("explain", over_hub, "--broker", "hub", "--quiet")
    assert "hub forwards 6,000,000,000 messages to others." in broker.out
    link = json.loads(cli("explain", over_hub, "--link", "hub,south", "--json", "--quiet").out)
    assert [row["messages"] for row in link["directions"]] == [2 * TERABYTE, TERABYTE]
    channel = cli("explain", over_hub, "--channel", "0", "--quiet")
    assert "  hub forwards to east, north, south" in channel.out.splitlines()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--client", "eve"], "has no client 'eve'"),
        (["--broker", "west"], "has no broker 'west'"),
        (["--link", "hub"], "A link is two brokers with a comma between them"),
        (["--channel", "7"], "Channels are numbered from 0 to 1, not '7'."),
        (["--topic", "x"], "Plans of federate explain client, broker, link, channel, not topic."),
    ],
)
def test_what_cannot_be_explained(cli, planned: Path, options: list[str], said: str) -> None:
    """A sentence says why."""
    answer = cli("explain", planned, *options, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())


def test_plans_are_compared(cli, planned: Path, over_hub: Path) -> None:
    """Nobody moves; traffic goes over the hub and costs less."""
    lines = cli("diff", planned, over_hub).out.splitlines()
    assert "clients: 0 moved, 3 stayed" in lines
    assert "  between brokers: $119.40 -> $90.00 (-$29.40)" in lines
    assert "links whose traffic changes: 10" in lines


@pytest.mark.parametrize(
    ("table", "header", "first"),
    [
        ("attachments", "client_id,broker_id", "ann,east"),
        ("links", "broker_id,other_id,messages,price", "east,hub,1000000000,10000"),
        ("trees", "channel,origin_id,broker_id,forwards_to", "0,,east,hub"),
        ("channels", "channel,attribute,low,high,messages,subscribers", "0,price,0.0,5.0,3000000000,3"),
        (
            "brokers",
            "broker_id,clients,load,capacity,published,forwarded",
            "east,1,3000000000,9000000000,1000000000,1000000000",
        ),
    ],
)
def test_tables_are_exported(cli, over_hub: Path, tmp_path: Path, table: str, header: str, first: str) -> None:
    """As CSV and as Parquet, with the same columns."""
    answer = cli("export", over_hub, "--table", table, "--quiet")
    assert (answer.code, answer.out.splitlines()[:2]) == (0, [header, first])
    assert cli("export", over_hub, "--table", table, "--out", tmp_path / "t.parquet", "--quiet").code == 0
    assert pq.read_table(tmp_path / "t.parquet").column_names == header.split(",")


def test_plans_are_reported(cli, planned: Path, over_hub: Path, tmp_path: Path) -> None:
    """The page has both."""
    answer = cli("report", planned, over_hub, "--out", tmp_path / "page.html", "--quiet")
    assert answer.code == 0, answer.err
    text = (tmp_path / "page.html").read_text()
    assert "Brokers and the traffic between them, exact, spanning" in text
    assert "$128.40" in text


def test_methods_are_listed(cli) -> None:
    """All six of them."""
    answer = cli("methods", "federate")
    assert answer.code == 0
    for name in ("local-moves", "greedy-packing", "clustering", "steiner-mixing", "random", "exact"):
        assert name in answer.out


@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [
        (12, 3, "no way to attach whole clients keeps every capacity"),
        (66, 2, "greedy-packing found no room for 2 of 66 clients, although nothing proves that there is none"),
    ],
)
def test_whole_clients_do_not_fit(cli, tmp_path: Path, number: int, code: int, sentence: str) -> None:
    """Clients of 2 messages each make as many as brokers of 3, 3, 3 and the rest take together, but two are left over:
    for a few clients that is proven by trying everything, for many the method only says that it found no way.
    """
    tiny = {f"c{n:02}": Client("amiens", [(0, 10)], publishes={0: 1} if n < 2 else {}) for n in range(number)}
    capacities = {name: 2 * number - 9 if name == "hub" else 3 for name in BROKERS}
    brokers = {name: Broker(share=1, capacity=capacity) for name, capacity in capacities.items()}
    one_site = {"amiens": dict.fromkeys(brokers, 1)}
    workload = build_content_workload(tmp_path / "tiny", SPACE, tiny, brokers, one_site, prices=one_site, links=LINKS)
    answer = cli("federate", workload.path, "--channels", 1, "--method", "greedy-packing", "--quiet")
    assert (answer.code, answer.out) == (code, "")
    assert sentence in answer.err
