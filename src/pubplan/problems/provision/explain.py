"""Why a VM carries what it carries, a topic is where it is, and a subscriber is sent what it is sent, in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pubplan.engine import exact_sum, map_blocks
from pubplan.errors import InputError
from pubplan.kernels import row_sums
from pubplan.planning import Explanation, Plan, cheapest_cover
from pubplan.problems.provision.catalogue import BYTES_PER_GB, MICROS
from pubplan.problems.provision.listing import exact_dollars
from pubplan.problems.provision.plan import SPLITS, SPLITS_SCHEMA, VMS, VMS_SCHEMA, chosen_type, placed_pairs
from pubplan.problems.provision.problem import Problem
from pubplan.text import counted, dollars_up, listed, traffic
from pubplan.workload import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_SHOWN = 10


def explain_vm(problem: Problem, plan: Plan, name: str, spark: SparkSession | None = None) -> Explanation:
    """What a VM carries and costs, its biggest topics, and what it would take to do without it.

    Raises:
        InputError: there is no such VM.
    """
    vms, splits = plan.decisions(VMS, VMS_SCHEMA), plan.decisions(SPLITS, SPLITS_SCHEMA)
    if not name.isascii() or not name.isdigit() or int(name) >= vms.num_rows:
        known = f"they are numbered from 0 to {vms.num_rows - 1}" if vms.num_rows else "it rents none"
        raise InputError(f"{plan.path} has no VM {name!r}: {known}.")
    number = int(name)
    row = vms.slice(number, 1).to_pylist()[0]
    limit = int(chosen_type(plan)["limit"])
    topics, pairs = _topics_on(problem, plan, number, spark)
    carried = (pairs + 1) * problem.instance.streams[topics]
    split = _other_homes(splits.to_pylist(), number)
    elsewhere = np.array([topic in split for topic in topics.tolist()], dtype=bool)
    names = problem.workload.topics("topic_id")["topic_id"]
    biggest = np.argsort(-carried, kind="stable")[:_SHOWN]
    facts: dict[str, Any] = {
        "vm": number,
        **{key: row[key] for key in ("type", "topics", "pairs", "incoming", "outgoing", "used")},
        "limit": limit,
        "fill": row["used"] / limit,
        "rent": row["price"] / MICROS,
        "rent_per_gb": row["price"] / MICROS / (row["used"] / BYTES_PER_GB) if row["used"] else None,
        "biggest": [
            {
                "topic": names[int(topics[position])].as_py(),
                "pairs": int(pairs[position]),
                "bytes": int(carried[position]),
                "other_vms": split.get(int(topics[position]), []),
            }
            for position in biggest
        ],
        "splits": [
            {"topic": names[int(topic)].as_py(), "pairs": int(count), "other_vms": split[int(topic)]}
            for topic, count in zip(topics[elsewhere], pairs[elsewhere], strict=True)
        ],
        "removal": {
            "vms": vms.num_rows - 1,
            "need": row["used"] - exact_sum(problem.instance.streams[topics[elsewhere]]),
            "have": (vms.num_rows - 1) * limit - (exact_sum(vms["used"].to_numpy()) - row["used"]),
        },
    }
    return Explanation(facts, tuple(_vm_sentences(facts, row["price"])))


def _vm_sentences(facts: dict[str, Any], price: int) -> list[str]:
    lines = [
        f"VM {facts['vm']} of {facts['type']} carries {counted(facts['pairs'], 'pair')} of "
        f"{counted(facts['topics'], 'topic')}: {traffic(facts['incoming'])} in and {traffic(facts['outgoing'])} out, "
        f"{100 * facts['fill']:.1f} % of the {traffic(facts['limit'])} that it may carry.",
    ]
    if facts["rent_per_gb"] is not None:
        per_gb = dollars_up(math.ceil(facts["rent_per_gb"] * MICROS))
        lines.append(f"Its rent is {exact_dollars(price)}, {per_gb} per GB that it carries.")
    biggest = [f"{topic['topic']} ({traffic(topic['bytes'])})" for topic in facts["biggest"][:5]]
    if biggest:
        lines.append(f"Its biggest topics are {', '.join(biggest)}.")
    split = facts["splits"]
    if split:
        named = listed([topic["topic"] for topic in split], 5)
        lines.append(f"It has a part of {counted(len(split), 'topic')} that other VMs carry too: {named}.")
    removal = facts["removal"]
    if not removal["vms"]:
        return [*lines, "It is the only VM."]
    verdict = (
        "which could be enough, packed without gaps" if removal["need"] <= removal["have"] else "which is too little"
    )
    lines.append(
        f"Without it, {counted(removal['vms'], 'other VM')} would have to take {traffic(removal['need'])} more; they "
        f"have {traffic(removal['have'])} free, {verdict}."
    )
    return lines


def explain_topic(problem: Problem, plan: Plan, topic_id: str, spark: SparkSession | None = None) -> Explanation:
    """Where a topic's pairs are and why there, what its streams cost, and who cannot do without it.

    Raises:
        InputError: there is no such topic.
    """
    topic = problem.workload.topic_number(topic_id)
    fleet = chosen_type(plan)
    limit, stream = int(fleet["limit"]), int(problem.instance.streams[topic])
    homes, num_needing = _homes(problem, plan, topic, limit, spark)
    num_pairs = sum(homes.values())
    incoming, outgoing = len(homes) * stream, num_pairs * stream
    pairs_per_vm = limit // stream - 1 if stream else num_pairs
    facts: dict[str, Any] = {
        "topic": topic_id,
        "rate": int(problem.instance.rates[topic]),
        "stream": stream,
        "fits": 2 * stream <= limit,
        "limit": limit,
        "interests": int(problem.workload.topic_array("subscribers")[topic]),
        "pairs": num_pairs,
        "vms": [{"vm": vm, "pairs": pairs} for vm, pairs in sorted(homes.items())],
        "whole": (num_pairs + 1) * stream,
        "least_vms": -(-num_pairs // pairs_per_vm) if num_pairs and pairs_per_vm > 0 else 0,
        "incoming": incoming,
        "outgoing": outgoing,
        "incoming_cost": _share_of(fleet["incoming_cost"], incoming, fleet["incoming"]) / MICROS,
        "outgoing_cost": _share_of(fleet["outgoing_cost"], outgoing, fleet["outgoing"]) / MICROS,
        "subscribers_that_need_it": num_needing,
    }
    return Explanation(facts, tuple(_topic_sentences(facts)))


def _topic_sentences(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"{facts['topic']} has {counted(facts['rate'], 'event')} per window, a stream of {traffic(facts['stream'])}, "
        f"and {counted(facts['interests'], 'subscriber')}."
    ]
    if not facts["fits"]:
        lines.append(
            f"It fits no VM: with one subscriber it takes {traffic(2 * facts['stream'])}, and a VM may carry "
            f"{traffic(facts['limit'])}."
        )
    if not facts["vms"]:
        return [*lines, "It is sent to no subscriber: all are satisfied without it."]
    homes = facts["vms"]
    senders = listed([f"VM {home['vm']} ({home['pairs']:,})" for home in homes], _SHOWN)
    lines.append(f"It is sent to {facts['pairs']:,} of them, by {senders}.")
    if len(homes) > 1:
        lines.append(_why_split(facts))
    paid = [math.ceil(facts[f"{way}_cost"] * MICROS) for way in ("incoming", "outgoing")]
    lines.append(
        f"Its streams take {traffic(facts['incoming'])} in and {traffic(facts['outgoing'])} out, which is "
        f"{dollars_up(paid[0])} and {dollars_up(paid[1])} of the bill."
    )
    needing = facts["subscribers_that_need_it"]
    if needing:
        lines.append(f"{counted(needing, 'subscriber')} cannot do without it: every plan with this VM type carries it.")
    else:
        lines.append("No subscriber needs it: all who want it could be satisfied by other topics.")
    return lines


def _why_split(facts: dict[str, Any]) -> str:
    homes = len(facts["vms"])
    if facts["whole"] > facts["limit"]:
        least = facts["least_vms"]
        exactly = "as many as it needs" if homes == least else f"it needs {least:,} at least"
        return (
            f"It does not fit one VM: whole it takes {traffic(facts['whole'])}, and a VM may carry "
            f"{traffic(facts['limit'])}. It is on {homes:,}, {exactly}."
        )
    return (
        f"It would fit one VM ({traffic(facts['whole'])} of {traffic(facts['limit'])}); on {homes:,} it fills gaps, "
        f"for {traffic((homes - 1) * facts['stream'])} more in."
    )


def explain_subscriber(
    problem: Problem, plan: Plan, subscriber_id: str, spark: SparkSession | None = None
) -> Explanation:
    """What a subscriber is sent by which VM, by how much that is too much, and whether less would do.

    Raises:
        InputError: there is no such subscriber.
    """
    block, row = problem.workload.find_subscriber(subscriber_id, spark)
    rows = problem.instance.reader().read(block)
    wanted = rows.topics[rows.offsets[row] : rows.offsets[row + 1]].astype(np.int64)
    needed = int(rows.thresholds[row])
    offsets, topics, vms = placed_pairs(plan, block)
    pairs = slice(int(offsets[row]), int(offsets[row + 1]))
    homes = dict(zip(topics[pairs].tolist(), vms[pairs].tolist(), strict=True))
    sent = np.array(sorted(homes), dtype=np.int64)
    usable = problem.instance.usable(int(chosen_type(plan)["limit"]))
    is_needed = (usable[wanted] > exact_sum(usable[wanted]) - needed) & (needed > 0)
    names = problem.workload.topics("topic_id")["topic_id"]
    received = exact_sum(problem.instance.rates[sent])
    topic_facts = [
        {
            "topic": names[int(topic)].as_py(),
            "rate": int(problem.instance.rates[topic]),
            "stream": int(problem.instance.streams[topic]),
            "vm": homes.get(int(topic)),
            "needed": bool(needs),
            "fits": bool(usable[topic] == problem.instance.rates[topic]),
        }
        for topic, needs in zip(wanted, is_needed, strict=True)
    ]
    facts: dict[str, Any] = {
        "subscriber": subscriber_id,
        "needed": needed,
        "received": received,
        "overshoot": received - needed,
        "bytes": exact_sum(problem.instance.streams[sent]),
        "topics": topic_facts,
        "least": _least(problem, names, wanted[usable[wanted] > 0], sent, needed, wanted[is_needed]),
    }
    return Explanation(facts, tuple(_subscriber_sentences(facts)))


def _least(
    problem: Problem,
    names: pa.ChunkedArray,
    candidates: Int64Array,
    sent: Int64Array,
    needed: int,
    mandatory: Int64Array,
) -> dict[str, Any]:
    """The least traffic that satisfies a subscriber as far as it is known, and whether that is what it is sent.

    With many topics: nothing is below the need in events of one size, or below the topics it cannot do without.
    """
    instance = problem.instance
    current = exact_sum(instance.streams[sent])
    positions, is_least = np.zeros(0, np.int64), True
    if needed > 0:
        cover, is_least = cheapest_cover(instance.rates[candidates], instance.streams[candidates], needed)
        positions = positions if cover is None else cover
    way = candidates[positions]
    least = exact_sum(instance.streams[way])
    if least < current or is_least:
        verdict: bool | None = least >= current
    else:
        is_tight = instance.common_size is not None and current == needed * instance.common_size
        verdict = True if is_tight or np.array_equal(sent, mandatory) else None
    return {
        "is_sent": verdict,
        "bytes": current if verdict is not False else least,
        "topics": [names[int(topic)].as_py() for topic in (sent if verdict is not False else way)],
        "is_proven": verdict is True or is_least,
    }


def _subscriber_sentences(facts: dict[str, Any]) -> list[str]:
    sent = [topic for topic in facts["topics"] if topic["vm"] is not None]
    lines = [
        f"{facts['subscriber']} needs {counted(facts['needed'], 'event')} per window and is sent "
        f"{facts['received']:,}, {facts['overshoot']:,} more than that: {traffic(facts['bytes'])} from "
        f"{len(sent):,} of its {counted(len(facts['topics']), 'topic')}."
    ]
    if sent:
        named = _some(sent, lambda topic: f" ({topic['rate']:,}) by VM {topic['vm']}")
        lines.append(f"It is sent {named}.")
    needed = [topic for topic in facts["topics"] if topic["needed"]]
    if needed:
        lines.append(f"It cannot do without {_some(needed)}.")
    least = facts["least"]
    if least["is_sent"] is None:
        lines.append("Whether less traffic would do is not known: it has too many topics to try all choices.")
    elif least["is_sent"]:
        lines.append("No choice of its topics takes less traffic.")
    else:
        kind = "The least that would do is" if least["is_proven"] else "Less would do:"
        named = listed(least["topics"], 5)
        lines.append(f"{kind} {traffic(least['bytes'])}, from {named}; what it is sent can spare streams into VMs.")
    unsent = [topic for topic in facts["topics"] if topic["vm"] is None]
    if unsent:
        named = _some(unsent, lambda topic: f" ({topic['rate']:,}{'' if topic['fits'] else ', fits no VM'})")
        lines.append(f"It is not sent {named}.")
    return lines


def _some(topics: list[dict[str, Any]], detail: Callable[[dict[str, Any]], str] = lambda topic: "") -> str:
    """The first topics, each with a detail, and how many more there are."""
    return listed([f"{topic['topic']}{detail(topic)}" for topic in topics], _SHOWN)


def _topics_on(problem: Problem, plan: Plan, vm: int, spark: SparkSession | None) -> tuple[Int64Array, Int64Array]:
    """The topics that have pairs on a VM, ascending, with how many."""

    def count(block: int) -> tuple[Int64Array, Int64Array]:
        _, topics, vms = placed_pairs(plan, block)
        return np.unique(topics[vms == vm], return_counts=True)

    total = np.zeros(problem.workload.counts.topics, dtype=np.int64)
    for topics, pairs in map_blocks(count, problem.workload.num_blocks, spark):
        total[topics] += pairs
    carried = np.flatnonzero(total)
    return carried, total[carried]


def _homes(
    problem: Problem, plan: Plan, topic: int, limit: int, spark: SparkSession | None
) -> tuple[dict[int, int], int]:
    """The VMs of a topic with its pairs on each, and how many subscribers cannot do without it."""
    reader, usable = problem.instance.reader(), problem.instance.usable(limit)

    def look(block: int) -> tuple[Int64Array, Int64Array, int]:
        rows = reader.read(block)
        reachable = np.empty(len(rows.thresholds), dtype=np.int64)
        row_sums(usable, rows.topics, rows.offsets, reachable)
        pairs = np.searchsorted(rows.offsets, np.flatnonzero(rows.topics == topic), side="right") - 1
        needing = (rows.thresholds[pairs] > 0) & (reachable[pairs] - usable[topic] < rows.thresholds[pairs])
        _, topics, vms = placed_pairs(plan, block)
        return *np.unique(vms[topics == topic], return_counts=True), int(np.count_nonzero(needing))

    homes: dict[int, int] = {}
    num_needing = 0
    for vms, pairs, needing in map_blocks(look, problem.workload.num_blocks, spark):
        num_needing += needing
        for vm, count in zip(vms.tolist(), pairs.tolist(), strict=True):
            homes[vm] = homes.get(vm, 0) + count
    return homes, num_needing if usable[topic] else 0


def _other_homes(splits: list[dict[str, Any]], vm: int) -> dict[int, list[int]]:
    """For each split topic of a VM, the other VMs that carry it."""
    homes: dict[int, list[int]] = {}
    for part in splits:
        homes.setdefault(part["topic"], []).append(part["vm"])
    return {topic: [other for other in vms if other != vm] for topic, vms in homes.items() if vm in vms}


def _share_of(cost: int, part: int, whole: int) -> int:
    """A part's share of a cost by volume, rounded up."""
    return -(-cost * part // whole) if whole else 0
