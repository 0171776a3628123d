"""Why a client attaches to its broker, and what brokers, links and channels carry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pubplan.engine import BLOCK_ROWS, MAX_INT64
from pubplan.errors import InputError
from pubplan.planning import Explanation, Plan
from pubplan.problems.federate.measures import Measures, attached_brokers, measures_of
from pubplan.problems.federate.money import money_up
from pubplan.problems.federate.moving import Move, moves_of
from pubplan.problems.federate.plan import BROKERS, BROKERS_SCHEMA, LINKS, LINKS_SCHEMA
from pubplan.problems.federate.problem import Problem
from pubplan.problems.federate.routing import Network
from pubplan.problems.federate.trees import Tree, forwarding_edges, read_trees
from pubplan.text import MICROS, counted, listed, percent

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

MAX_NAMED = 10
"""Sentences name at most this many brokers, links or clients; facts name all brokers and links."""


@dataclass(frozen=True)
class _PlanReader:
    """A plan and its workload, read as far as they are asked about."""

    problem: Problem
    plan: Plan

    @cached_property
    def ids(self) -> list[str]:
        ids: list[str] = self.problem.workload.brokers.ids.to_pylist()
        return ids

    @cached_property
    def measures(self) -> Measures:
        return measures_of(self.plan)

    @cached_property
    def links(self) -> list[dict[str, Any]]:
        """Every link and direction with messages, what it costs in dollars, and the channels that take it."""
        rows = self.plan.decisions(LINKS, LINKS_SCHEMA).to_pylist()
        return [
            {
                "from": row["broker_id"],
                "to": row["other_id"],
                "messages": row["messages"],
                "price": row["price"],
                "cost": self.measures.dollars(row["messages"] * row["price"]),
            }
            for row in rows
        ]

    @cached_property
    def trees(self) -> list[Tree]:
        return list(read_trees(self.plan, len(self.ids)))

    def channels_over(self, one: int, other: int) -> list[int]:
        """The channels whose trees have the link between two brokers; none where a tree carries all of them."""
        ends = {(one, other), (other, one)}
        return sorted({tree.channel for tree in self.trees if tree.channel is not None and ends & set(tree.edges)})

    def paid(self, messages: int, price: int) -> str:
        return money_up(self.measures.micros(messages * price))


def explain_client(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """The traffic of a client, and every broker that it may use with what the plan would cost with the client there.

    Raises:
        InputError: there is no such client.
    """
    block, row = problem.workload.find_client(name, spark)
    client = block * BLOCK_ROWS + row
    problem.instance.load(spark)
    reader, instance, network = _PlanReader(problem, plan), problem.instance, Network(problem)
    home = int(attached_brokers(plan, instance.num_brokers)[client])
    demand, sent = int(instance.demand[client]), int(instance.sent[client])
    moves = moves_of(network, plan, client)
    planned = reader.measures.access + reader.measures.core
    first, last = instance.wanted_offsets[client : client + 2].tolist()
    facts = {
        "client": name,
        "broker": reader.ids[home],
        "sends": sent,
        "receives": demand - sent,
        "channels": instance.wanted[first:last].tolist(),
        "cost": reader.measures.dollars(planned),
        "brokers": [
            {
                "broker": reader.ids[move.broker],
                "is_attached": move.broker == home,
                "price": move.price,
                "cost": reader.measures.dollars(move.cost),
                "is_exact": move.is_exact,
                "has_room": demand <= move.room,
                "room": None if move.room > MAX_INT64 // 4 else move.room,
            }
            for move in moves
        ],
    }
    return Explanation(facts, tuple(_client_sentences(reader, facts, moves, planned)))


def _client_sentences(reader: _PlanReader, facts: dict[str, Any], moves: list[Move], planned: int) -> list[str]:
    brokers = facts["brokers"]
    lines = [
        f"{facts['client']} attaches to {facts['broker']}. It wants {counted(len(facts['channels']), 'channel')}, "
        f"sends {facts['sends']:,} and receives {counted(facts['receives'], 'message')} per window.",
        f"{counted(len(brokers), 'broker')} {'is' if len(brokers) == 1 else 'are'} allowed. The plan would cost",
    ]
    for move, row in list(zip(moves, brokers, strict=True))[:MAX_NAMED]:
        change = move.cost - planned
        amount = money_up(reader.measures.micros(abs(change)))
        more = "as much as it does" if not change else f"{amount} {'more' if change > 0 else 'less'}"
        at_most = "" if move.is_exact else "at most "
        room = "" if row["has_room"] or row["is_attached"] else f", but has room for {move.room:,} messages only"
        here = " (attached)" if row["is_attached"] else ""
        lines.append(f"  {row['broker']}: {at_most}{more}; {_per_gigabyte(move.price)}{room}{here}")
    if len(brokers) > MAX_NAMED:
        lines.append(f"  … {len(brokers) - MAX_NAMED:,} more")
    if len(brokers) == 1:
        return [*lines, "It may use no other broker."]
    better = [row for move, row in zip(moves, brokers, strict=True) if move.cost < planned and row["has_room"]]
    if not better:
        lines.append("No other broker with room makes the plan cheaper.")
    if reader.problem.routing == "acyclic":
        lines.append("The tree between brokers stays as it is; another one may suit the change better.")
    return lines


def explain_broker(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """The clients and the load of a broker, and what it exchanges with others.

    Raises:
        InputError: there is no such broker.
    """
    reader = _PlanReader(problem, plan)
    broker = problem.workload.broker_number(name)
    row = plan.decisions(BROKERS, BROKERS_SCHEMA).slice(broker, 1).to_pylist()[0]
    links = [link for link in reader.links if name in (link["from"], link["to"])]
    channels = sorted(
        {tree.channel for tree in reader.trees if tree.channel is not None and tree.parents[broker] >= -1}
    )
    facts = {
        "broker": name,
        "clients": row["clients"],
        "load": row["load"],
        "capacity": row["capacity"],
        "published": row["published"],
        "forwarded": row["forwarded"],
        "channels": channels,
        "links": sorted(links, key=lambda link: (-link["messages"], link["from"], link["to"])),
    }
    return Explanation(facts, tuple(_broker_sentences(reader, facts)))


def _broker_sentences(reader: _PlanReader, facts: dict[str, Any]) -> list[str]:
    name, load, capacity = facts["broker"], facts["load"], facts["capacity"]
    limit = f" of at most {capacity:,}" if capacity else ""
    share = f" ({percent(load / capacity)})" if capacity else ""
    lines = [
        f"{name} has {counted(facts['clients'], 'client')}, with {load:,}{limit} messages to and from them per "
        f"window{share}."
    ]
    if not facts["links"]:
        return [*lines, "It exchanges nothing with other brokers."]
    lines.append(f"{_through(reader, facts['channels'])}; {name} forwards {facts['forwarded']:,} messages to others.")
    lines += [f"  {_link_sentence(reader, link)}" for link in facts["links"][:MAX_NAMED]]
    if len(facts["links"]) > MAX_NAMED:
        lines.append(f"  … {len(facts['links']) - MAX_NAMED:,} more")
    return lines


def _link_sentence(reader: _PlanReader, link: dict[str, Any]) -> str:
    return (
        f"{link['from']} -> {link['to']}: {counted(link['messages'], 'message')} per window for "
        f"{reader.paid(link['messages'], link['price'])}"
    )


def _through(reader: _PlanReader, channels: list[int]) -> str:
    """Which channels pass, as the beginning of a sentence."""
    if reader.problem.routing == "acyclic":
        return "One tree carries all channels"
    if reader.problem.cost == "replicating":
        return "Every subscriber gets a copy of its own straight from the publisher's broker"
    return f"{counted(len(channels), 'channel')} {'passes' if len(channels) == 1 else 'pass'}: {_numbers(channels)}"


def _per_gigabyte(price: int) -> str:
    """A price in micro-dollars per GB as dollars, with all its digits."""
    return f"${price / MICROS:,.6f}".rstrip("0").rstrip(".") + " per GB"


def _numbers(channels: list[int]) -> str:
    return listed([str(channel) for channel in channels])


def explain_link(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What two brokers, given as ``A,B``, send each other.

    Raises:
        InputError: that does not name two different brokers.
    """
    reader = _PlanReader(problem, plan)
    one, other = _ends(problem, name)
    ends = (reader.ids[one], reader.ids[other])
    links = [link for link in reader.links if (link["from"], link["to"]) in (ends, ends[::-1])]
    price = int(problem.instance.link_prices[one, other])
    channels = reader.channels_over(one, other)
    facts = {"brokers": list(ends), "price": price, "channels": channels, "directions": links}
    if not links:
        return Explanation(
            facts, (f"Nothing goes between {ends[0]} and {ends[1]}; it would cost {_per_gigabyte(price)}.",)
        )
    messages = sum(link["messages"] for link in links)
    lines = [
        f"{ends[0]} and {ends[1]} exchange {counted(messages, 'message')} per window for "
        f"{reader.paid(messages, price)}, at {_per_gigabyte(price)}.",
        *(f"  {_link_sentence(reader, link)}" for link in links),
        f"{_through(reader, channels)}.",
    ]
    return Explanation(facts, tuple(lines))


def _ends(problem: Problem, name: str) -> tuple[int, int]:
    """The two brokers of a link; ids may have commas themselves."""
    numbers = {broker: number for number, broker in enumerate(problem.workload.brokers.ids.to_pylist())}
    parts = name.split(",")
    for cut in range(1, len(parts)):
        one, other = (",".join(some).strip() for some in (parts[:cut], parts[cut:]))
        if one in numbers and other in numbers:
            if one == other:
                raise InputError(f"A link is between two different brokers, not {one!r} and itself.")
            return numbers[one], numbers[other]
    if len(parts) != 2:
        raise InputError(f"A link is two brokers with a comma between them, such as A,B, not {name!r}.")
    unknown = next(part.strip() for part in parts if part.strip() not in numbers)
    raise InputError(f"{problem.workload.path} has no broker {unknown!r}.")


def explain_channel(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What a channel is, who publishes and wants it, and who forwards it to whom.

    Raises:
        InputError: there is no such channel.
    """
    problem.instance.load(spark)
    instance, reader = problem.instance, _PlanReader(problem, plan)
    if not name.isascii() or not name.isdigit() or int(name) >= instance.num_channels:
        raise InputError(f"Channels are numbered from 0 to {instance.num_channels - 1:,}, not {name!r}.")
    channel = int(name)
    brokers = attached_brokers(plan, instance.num_brokers)
    is_sent, is_wanted = instance.published == channel, instance.wanted == channel
    senders = np.repeat(np.arange(instance.num_clients), np.diff(instance.published_offsets))[is_sent]
    takers = np.repeat(np.arange(instance.num_clients), np.diff(instance.wanted_offsets))[is_wanted]
    published = np.zeros(instance.num_brokers, dtype=np.int64)
    np.add.at(published, brokers[senders], instance.counts[is_sent])
    wanted = np.bincount(brokers[takers], minlength=instance.num_brokers)
    trees = [tree for tree in reader.trees if tree.channel in (channel, None)]
    lows, highs = (corners[channel] for corners in instance.channels.boxes(problem.workload.space.cell_widths))
    facts = {
        "channel": channel,
        "ranges": {
            attribute.name: [f"{attribute.value(int(end)):f}" for end in (lows[axis], highs[axis])]
            for axis, attribute in enumerate(problem.workload.space.attributes)
        },
        "messages": int(instance.messages[channel]),
        "publishers": len(senders),
        "subscribers": len(takers),
        "published_at": {reader.ids[b]: int(published[b]) for b in np.flatnonzero(published).tolist()},
        "wanted_at": {reader.ids[b]: int(wanted[b]) for b in np.flatnonzero(wanted).tolist()},
        "trees": [
            {
                "origin": None if tree.origin is None else reader.ids[tree.origin],
                "forwards": [[reader.ids[a], reader.ids[b]] for a, b in forwarding_edges(tree)],
            }
            for tree in trees
        ],
    }
    return Explanation(facts, tuple(_channel_sentences(reader, facts)))


def _channel_sentences(reader: _PlanReader, facts: dict[str, Any]) -> list[str]:
    ranges = ", ".join(f"{name} {low} to {high}" for name, (low, high) in facts["ranges"].items())
    takers = f"{counted(facts['subscribers'], 'client')} {_verb(facts['subscribers'], 'want')} it"
    if not facts["messages"]:
        return [f"Channel {facts['channel']} is {ranges}. Nobody publishes in it what others want; {takers}."]
    lines = [
        f"Channel {facts['channel']} is {ranges}. {counted(facts['publishers'], 'client')} "
        f"{_verb(facts['publishers'], 'publish', 'es')} {counted(facts['messages'], 'message')} per window in it that "
        f"others want; {takers}.",
        f"Published at {_counts(facts['published_at'], 'message')}; wanted at {_counts(facts['wanted_at'], 'client')}.",
    ]
    if reader.problem.cost == "replicating" and not facts["trees"]:
        return [*lines, "Every subscriber gets a copy of its own straight from the publisher's broker."]
    if not any(tree["forwards"] for tree in facts["trees"]):
        return [*lines, "No broker forwards it."]
    for tree in facts["trees"]:
        lines.append(_tree_heading(reader, tree["origin"]))
        to: dict[str, list[str]] = {}
        for source, target in tree["forwards"]:
            to.setdefault(source, []).append(target)
        lines += [f"  {source} forwards to {listed(targets, MAX_NAMED)}" for source, targets in to.items()]
    return lines


def _verb(number: int, verb: str, ending: str = "s") -> str:
    return verb + ending if number == 1 else verb


def _tree_heading(reader: _PlanReader, origin: str | None) -> str:
    if origin is not None:
        return f"What is published at {origin}:"
    rest = "a broker forwards to all but the one that a message came from"
    if reader.problem.routing == "acyclic":
        return f"In the one tree of all channels {rest}, where somebody behind it wants the message:"
    return f"What is published at brokers that want it; {rest}:"


def _counts(by_broker: dict[str, int], noun: str) -> str:
    return listed([f"{broker} ({counted(number, noun)})" for broker, number in by_broker.items()], MAX_NAMED)
