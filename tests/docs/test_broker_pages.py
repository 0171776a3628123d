"""The pages about Kafka, Pulsar and MQTT do what they say, on exports in the formats of these brokers' tools."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import pubplan

from .pages import HOW_TO, commands, run_command, write_files

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def run_page(cli, shared_spark, tmp_path: Path, monkeypatch):
    """Runs all commands of a page, in order, in a directory with its samples and the files that it shows."""

    def run(name: str) -> None:
        shutil.copytree(SAMPLES / name, tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        page = HOW_TO / f"{name}.md"
        write_files(page)
        for command in commands(page):
            run_command(command, cli)

    return run


def rates_of(path: str) -> dict[str, int]:
    table = pubplan.read_workload(path).topics("topic_id", "rate")
    return dict(zip(table["topic_id"].to_pylist(), table["rate"].to_pylist(), strict=True))


def rows_of(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


def test_kafka(run_page) -> None:
    """Offsets become rates, also where a topic is new (returns) or was made anew (carts); followers count as
    subscribers; every partition gets three brokers, its leader first.

    Of 492,053,880 events, 40 % may be mirrored: 196,821,552. Clicks (300 M) do not fit, so search, recommender and
    warehouse go without; orders, invoices and returns satisfy billing, orders and audit.log satisfy audit.
    """
    run_page("kafka")
    assert rates_of("topics") == {
        "orders": 12_000_000,
        "plays": 180_000_000,
        "clicks": 300_000_000,
        "invoices": 50_000,
        "audit.log": 80,
        "returns": 1400,
        "carts": 2400,
        "retired": 0,
    }
    partitions = rates_of("partitions")
    assert len(partitions) == 3 + 4 + 6 + 1 + 2 + 1 + 1 + 1
    assert partitions["clicks-5"] == 50_000_000
    sizes = pubplan.read_workload("partitions").topics("topic_id", "message_bytes").to_pylist()
    assert {"topic_id": "plays-0", "message_bytes": 450} in sizes

    reassigned = json.loads(Path("reassign.json").read_text())["partitions"]
    leaders = {f"{row['topic']}-{row['partition']}": row["replicas"][0] for row in reassigned}
    assert {name: leader - 101 for name, leader in leaders.items()} == {
        row["topic_id"]: int(row["vm"]) for row in rows_of("placements.csv")
    }
    assert all(len(set(row["replicas"])) == 3 for row in reassigned)

    assert {row["topic_id"] for row in rows_of("mirrored.csv")} >= {"orders", "invoices", "returns", r"audit.log"}
    properties = Path("topics.properties").read_text()
    assert properties.startswith("primary->backup.topics = ")
    assert r"audit\.log" in properties
    assert "clicks" not in properties


def test_pulsar(run_page) -> None:
    """Counters become rates, also of a topic that was unloaded (invoices); replicators count where the fleet is
    planned and not where replication is; every bundle goes to the broker of most of its deliveries.

    Of 252,550,000 events, half may be replicated: 126,275,000. Clicks (150 M) do not fit; orders (12.5 M) and invoices
    satisfy billing; warehouse, search and recommender want clicks.
    """
    run_page("pulsar")
    prefix = "persistent://shop/web/"
    assert rates_of("workload") == {
        f"{prefix}orders-partition-0": 6_000_000,
        f"{prefix}orders-partition-1": 6_500_000,
        f"{prefix}clicks": 150_000_000,
        f"{prefix}plays": 90_000_000,
        f"{prefix}invoices": 50_000,
        f"{prefix}refunds": 0,
    }
    counts = [pubplan.read_workload(name).counts.subscribers for name in ("workload", "local")]
    assert counts == [5, 4]  # billing, recommender, search, warehouse, and the replicator

    deliveries: Counter[tuple[str, str]] = Counter()
    bundles = dict(line.split() for line in Path("bundles.tsv").read_text().splitlines())
    rates = rates_of("workload")
    for row in rows_of("placements.csv"):
        deliveries[bundles[row["topic_id"]], row["vm"]] += rates[row["topic_id"]]
    moves = [line.split("  #")[0].split() for line in Path("unload.sh").read_text().splitlines()]
    assert sorted(move[5] for move in moves) == sorted(set(bundles.values()))
    for move in moves:
        vm = str("abcd".index(move[7].removeprefix("broker-")[0]))
        assert deliveries[move[5], vm] == max(number for (bundle, _), number in deliveries.items() if bundle == move[5])

    replicated = Path("replicate.sh").read_text().splitlines()
    command = "pulsar-admin topics set-replication-clusters {} --clusters us-east,us-west"
    assert {command.format(prefix + topic) for topic in ("orders", "invoices")} <= set(replicated)
    assert command.format(f"{prefix}clicks") not in replicated


def test_mqtt(run_page) -> None:
    """Filters are expanded, a shared group is one subscriber, the log of Mosquitto says what the list of EMQX says,
    and the bridges of every topic are a tree.
    """
    run_page("mqtt")
    assert rates_of("workload") == {
        "plant/1/temp": 12,
        "plant/1/vibration": 90,
        "plant/2/temp": 6,
        "plant/2/door": 3,
        "alarms/fire": 2,
        "alarms/flood": 0,
        "video/frames": 150,
    }
    assert Path("logged.csv").read_text() == Path("subscriptions.csv").read_text()
    assert {row["subscriber"] for row in rows_of("subscriptions.csv")} == {
        "dash-1",
        "dash-2",
        "guard",
        "share:ml",
        "viewer",
    }
    served = [row["topic_id"] for row in rows_of("bridged.csv")]
    bridge = Path("bridge.conf").read_text().splitlines()
    assert bridge == [
        "connection to-plant-2",
        "address plant-2.example:8883",
        *(f"topic {topic} out 1" for topic in served),
    ]
    nodes = Counter(row["topic_id"] for row in rows_of("forwarding.csv"))
    bridges = "".join(path.read_text() for path in Path().glob("emqx*.conf"))
    assert nodes["plant/1/temp"] == 3
    for topic, number in nodes.items():
        assert bridges.count(f"topic {topic} both 1\n") == number - 1
