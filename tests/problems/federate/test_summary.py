"""What a plan of federate costs and carries, and what the sentences say of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from oracles.federate_example import ASKED, BROKERS, TERABYTE, hub
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.generate import content_exchange, generate
from pubplan.planning import Result
from pubplan.problems.federate import Problem, measures_of, solve
from pubplan.problems.federate import summary as summary_module
from pubplan.problems.federate.summary import summarise
from pubplan.workload import Window


def summary_of(problem: Problem, method: str = "greedy-packing", **options: object) -> tuple[dict, tuple[str, ...]]:
    explanation = summarise(problem, solve(problem, method, **options))
    return explanation.facts["summary"], explanation.sentences


def test_copies_are_compared_with_copies(tmp_path: Path) -> None:
    """Six flows of a terabyte over the hub cost 6 x $20, straight 6 x $19.90: copies need no tree per channel."""
    problem = Problem(hub(tmp_path / "hub"), **{**ASKED, "routing": "acyclic", "cost": "replicating"})
    _, sentences = summary_of(problem, "exact")
    assert sentences[-1] == (
        "Copies straight from the publisher's broker would save $0.600000, 0.5 % of the cost between brokers."
    )


def test_the_hub_in_sentences(tmp_path: Path) -> None:
    """$9 + $119.40 per day are 128.40 x 30.4375 = $3,908.175 per month; Steiner trees save 29.40 of 119.40, 24.6 %."""
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub"), **ASKED), "exact")
    assert sentences == (
        "3 clients attach to 3 of 4 brokers for $128.40 per 1 day, or $3,908.18 per month.",
        "That is $9.00 between clients and brokers and $119.40 between brokers.",
        "No cheaper plan exists.",
        "3,000,000,000 messages of 1,000 bytes per window in 1 of 2 channels are wanted by others; 6,000,000,000 cross "
        "2 links between brokers.",
        "The fullest broker, east, takes 3,000,000,000 of at most 9,000,000,000 messages (33.3 %).",
        "A Steiner tree per channel would save $29.40, 24.6 % of the cost between brokers.",
    )
    assert facts == {
        "cost": 128.4,
        "access_cost": 9.0,
        "core_cost": 119.4,
        "cost_per_month": 3908.175,
        "window_seconds": 86_400,
        "clients": 3,
        "brokers": 4,
        "used_brokers": 3,
        "channels": 2,
        "live_channels": 1,
        "message_bytes": 1000,
        "messages": 3 * TERABYTE,
        "forwarded": 6 * TERABYTE,
        "links": 2,
        "clients_per_broker": [1, 0, 1, 1],
        "loads": [3 * TERABYTE, 0, 3 * TERABYTE, 3 * TERABYTE],
        "capacities": [9 * TERABYTE] * 4,
        "fullest_broker": "east",
        "other_routings": {"steiner": 90.0},
    }


def test_one_tree_is_compared_with_a_tree_per_channel(tmp_path: Path) -> None:
    """The star around the hub costs 90; spanning trees cost 29.40 more, which is 32.7 % of 90."""
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub"), routing="acyclic", **ASKED), "exact")
    assert facts["other_routings"] == {"spanning": 119.4}
    assert sentences[-1] == "A spanning tree per channel would cost $29.40 more, 32.7 % of the cost between brokers."


def test_one_tree_that_costs_more(tmp_path: Path) -> None:
    """On a generated exchange the tree per channel is cheaper, by the difference of the two costs."""
    exchange = generate(content_exchange(60, 6, niche="5%"), tmp_path / "exchange")
    facts, sentences = summary_of(Problem(exchange, channels=20, routing="acyclic"))
    assert facts["other_routings"]["spanning"] < facts["core_cost"]
    assert any(sentence.startswith("A spanning tree per channel would save $") for sentence in sentences)


@pytest.mark.parametrize("asked", [{"routing": "steiner"}, {"cost": "replicating"}])
def test_nothing_better_to_compare_with(tmp_path: Path, asked: dict[str, str]) -> None:
    """Steiner trees are the best there is, and copies of their own take no tree."""
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub"), **ASKED, **asked))
    assert facts["other_routings"] == {}
    assert not any("tree per channel would" in sentence for sentence in sentences)


def test_steiner_trees_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is much to compute the sentence is left out."""
    monkeypatch.setattr(summary_module, "MAX_COMPARED_WORK", 2 * 4**3 - 1)
    facts, _ = summary_of(Problem(hub(tmp_path / "hub"), **ASKED))
    assert facts["other_routings"] == {}


def test_routings_that_cost_the_same(tmp_path: Path) -> None:
    """bea publishes nothing and nobody but her wants anything: two brokers need no hub, at 19,900 against 20,000."""
    changes = {"bea": {"publishes": {}}, "ann": {"box": [(10, 20)]}, "cid": {"box": [(10, 20)], "publishes": {}}}
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub", changes), **ASKED))
    assert facts["other_routings"]["steiner"] == facts["core_cost"] == 19.9
    assert "A Steiner tree per channel would cost the same." in sentences


def test_copies_cost_their_way_each(tmp_path: Path) -> None:
    """Six ways of 1,000 GB x $0.0199 are $119.40, as with spanning trees: each TB takes two links either way."""
    facts, _ = summary_of(Problem(hub(tmp_path / "hub"), cost="replicating", **ASKED))
    assert (facts["core_cost"], facts["forwarded"], facts["links"]) == (119.4, 6 * TERABYTE, 3)


def test_windows_of_unknown_length(tmp_path: Path) -> None:
    """Then there is no month."""
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub", window=Window()), **ASKED))
    assert (facts["window_seconds"], facts["cost_per_month"]) == (None, None)
    assert sentences[0] == "3 clients attach to 3 of 4 brokers for $128.40 per window."


def test_brokers_without_capacities(tmp_path: Path) -> None:
    """There is no fullest one."""
    brokers = {name: replace(broker, capacity=0) for name, broker in BROKERS.items()}
    facts, sentences = summary_of(Problem(hub(tmp_path / "hub", brokers=brokers), **ASKED))
    assert facts["fullest_broker"] is None
    assert "Brokers have no capacities." in sentences


def test_gaps_are_said(tmp_path: Path) -> None:
    """laminar proves $69: 128.40 is 86.1 % more. Without a bound nothing is said."""
    problem = Problem(hub(tmp_path / "hub"), **ASKED)
    assert "No plan costs less than $69.00: this one is within 86.09 % of that." in summary_of(problem)[1]
    assert not any("No " in sentence for sentence in summary_of(problem, bound="none")[1])


def test_small_amounts_add_up(tmp_path: Path) -> None:
    """Of 2 bytes instead of 1000, costs are a five hundredth: $0.018 and $0.2388, which cents would hide."""
    _, sentences = summary_of(Problem(hub(tmp_path / "hub"), channels=2, message_bytes=2))
    assert sentences[1] == "That is $0.018000 between clients and brokers and $0.238800 between brokers."
    assert "$0.256800 per 1 day" in sentences[0]


def test_damaged_tables_are_refused(tmp_path: Path) -> None:
    """Links of a broker that does not exist."""
    plan = solve(Problem(hub(tmp_path / "hub"), **ASKED), "greedy-packing").plan
    damaged = forge(plan, tmp_path / "forged", tables={"decisions/brokers.parquet": lambda rows: rows.slice(0, 1)})
    with pytest.raises(InputError, match="'links' are damaged: they name brokers that do not exist"):
        measures_of(damaged)


def test_what_binds_is_said(tmp_path: Path) -> None:
    """east takes 2 TB less than ann needs: she goes elsewhere, and the sentence names the broker."""
    brokers = {**BROKERS, "east": replace(BROKERS["east"], capacity=TERABYTE)}
    problem = Problem(hub(tmp_path / "hub", brokers=brokers), **ASKED)
    result: Result = solve(problem, "greedy-packing")
    (said,) = [line for line in summarise(problem, result).sentences if line.startswith("Binding")]
    assert "capacity of east: 3,000,000,000 messages per window needed, 1,000,000,000 left" in said
