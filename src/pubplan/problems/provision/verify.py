"""Recomputes a plan from the tables on disk, block by block, with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pubplan.engine import Store, block_groups, block_range, map_blocks, open_store
from pubplan.errors import InputError, Reason
from pubplan.planning import Exact, Plan, Verdict, sums_by_row, wrong_columns
from pubplan.problems.provision.plan import (
    PLACEMENTS,
    PLACEMENTS_SCHEMA,
    SPLITS,
    SPLITS_SCHEMA,
    TYPES,
    TYPES_SCHEMA,
    VMS,
    VMS_SCHEMA,
)
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.verify_bounds import BlockRows, BoundChecks
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_SHOWN = 5


@dataclass(frozen=True)
class _Parts:
    """Which topics are on which VMs, with how many pairs: ascending by topic and VM."""

    topics: Int64Array
    vms: Int64Array
    pairs: Int64Array


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that everybody is satisfied by real interests, placed once on VMs that carry them, and recompute the cost.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    violations, num_vms = _wrong_tables(problem, plan)
    if violations:
        return Verdict(plan.exact, tuple(violations))
    checks = BoundChecks.of(problem, plan)
    groups = block_groups(len(problem.workload.interests_blocks), spark)
    store = open_store(spark)
    evaluate = _evaluator(problem, plan, num_vms, checks, groups, store)
    found = list(map_blocks(evaluate, len(groups), spark))
    violations += _summed([reasons for reasons, _ in found])
    if violations:  # blocks with wrong pairs are not counted, so the fleet cannot be either
        return Verdict(plan.exact, tuple(violations))
    violations += checks.conclude(problem, plan, [sums for _, sums in found], store)
    parts = _merged(problem, num_vms, len(groups), store)
    objective, wrong = _wrong_fleet(problem, plan, parts, num_vms)
    return Verdict(Exact(objective, problem.scale), (*violations, *wrong))


def _wrong_tables(problem: Problem, plan: Plan) -> tuple[list[Reason], int]:
    """Tables have the columns they should, placements a block for each of the interests. Also the number of VMs."""
    found = []
    for name, schema in ((VMS, VMS_SCHEMA), (SPLITS, SPLITS_SCHEMA), (TYPES, TYPES_SCHEMA)):
        table = plan.decisions(name)
        found += wrong_columns(name, table, schema)
    num_blocks = plan.num_decision_blocks(PLACEMENTS)
    expected = len(problem.workload.interests_blocks)
    if num_blocks != expected:
        found.append(Reason("blocks of placements", expected, num_blocks, PLACEMENTS))
    if found:
        return found, 0
    vms, types = plan.decisions(VMS), plan.decisions(TYPES)
    if vms["vm"].to_pylist() != list(range(vms.num_rows)):
        found.append(Reason("VMs are numbered from 0", "0, 1, 2 …", "other numbers", VMS))
    names = [vm_type.name for vm_type in problem.types]
    if types["type"].to_pylist() != names:
        found.append(Reason("one row per VM type", ", ".join(names), ", ".join(types["type"].to_pylist()), TYPES))
    chosen = [row["type"] for row in types.to_pylist() if row["chosen"]]
    if len(chosen) != 1:
        found.append(Reason("one VM type is chosen", 1, len(chosen), TYPES))
    elif set(vms["type"].to_pylist()) - set(chosen):
        found.append(Reason("VMs are of the chosen type", chosen[0], "others too", VMS))
    return found, vms.num_rows


def _evaluator(
    problem: Problem, plan: Plan, num_vms: int, checks: BoundChecks, groups: list[range], store: Store
) -> Callable[[int], tuple[list[Reason], list[int]]]:
    """Evaluates one group of blocks: violations, and sums for the bounds; (topic, VM) counts stay in the store."""
    workload, rates = problem.workload, problem.rates
    num_topics, num_subscribers = len(rates), workload.counts.subscribers
    asked = problem.threshold

    def evaluate(group: int) -> tuple[list[Reason], list[int]]:
        homes = np.full(num_topics, -1, dtype=np.int32)
        counts = np.zeros(num_topics, dtype=np.int64)
        others: list[tuple[Int64Array, Int64Array]] = []
        reasons: list[Reason] = []
        state = checks.start(num_topics)
        for block in groups[group]:
            rows = _read_rows(problem, block, rates, asked)
            table = plan.decisions_block(PLACEMENTS, block)
            placed = _placed(table, block, num_subscribers)
            if isinstance(placed, Reason):
                reasons.append(placed)
                continue
            lengths, topics, vms = placed
            sent, wrong = _wrong_pairs(rows, lengths, topics, vms, rates, num_vms)
            reasons += wrong
            if not wrong:
                _count(homes, counts, others, topics, vms, num_vms)
                checks.look(state, rows, sent, plan, block)
        store.put(group, homes=homes, counts=counts.astype(np.uint32))
        keys, pairs = _collected(others)
        store.put(group, keys=keys, pairs=pairs)
        checks.keep(state, store, group)
        return reasons, state.sums

    return evaluate


def _read_rows(problem: Problem, block: int, rates: Int64Array, asked: int | None) -> BlockRows:
    columns = ("topics",) if asked is not None else ("topics", "threshold")
    table = problem.workload.interests_block(block, *columns)
    offsets, topics = topic_lists(table)
    if len(topics) and (topics.min() < 0 or topics.max() >= len(rates)):
        raise InputError(f"Block {block} of {problem.workload.path}/interests names topics that do not exist.")
    lengths = np.diff(offsets)
    by_entry = rates[topics]
    wanted = sums_by_row(by_entry, offsets)
    needed = np.minimum(asked if asked is not None else table["threshold"].to_numpy(), wanted)
    return BlockRows(offsets, lengths, topics, by_entry, needed)


def _placed(table: pa.Table, block: int, num_subscribers: int) -> tuple[Int64Array, Int64Array, Int64Array] | Reason:
    """The lists of a block of placements: how many pairs each subscriber has, their topics and VMs."""
    if not table.schema.equals(PLACEMENTS_SCHEMA) or any(column.null_count for column in table.columns):
        return Reason("placements are as many lists", "subscriber, topics, vms", str(table.schema.names), PLACEMENTS)
    first, last = block_range(block, num_subscribers)
    subscribers = table["subscriber"].to_numpy()
    topic_offsets, topics = topic_lists(table)
    vm_offsets, vms = topic_lists(table.select(["vms"]).rename_columns(["topics"]))
    is_whole = np.array_equal(subscribers, np.arange(first, last)) and np.array_equal(topic_offsets, vm_offsets)
    if not is_whole:
        return Reason("placements are as many lists", last - first, table.num_rows, f"block {block} of {PLACEMENTS}")
    return np.diff(topic_offsets), topics.astype(np.int64), vms.astype(np.int64)


def _wrong_pairs(
    rows: BlockRows, lengths: Int64Array, topics: Int64Array, vms: Int64Array, rates: Int64Array, num_vms: int
) -> tuple[Int64Array, list[Reason]]:
    """Every subscriber satisfied, every pair a real interest and placed once, every VM there is.

    Also which entries of the rows are sent.
    """
    num_topics = len(rates)
    if len(topics) and (topics.min() < 0 or topics.max() >= num_topics):
        unknown = int(np.count_nonzero((topics < 0) | (topics >= num_topics)))
        return topics[:0], [Reason("topic exists", 0, unknown, PLACEMENTS)]
    found = []
    if len(vms) and (vms.min() < 0 or vms.max() >= num_vms):
        found.append(Reason("VM exists", 0, int(np.count_nonzero((vms < 0) | (vms >= num_vms))), PLACEMENTS))
    owners = np.repeat(np.arange(len(lengths)), lengths)
    keys = owners * num_topics + topics
    repeated = int(np.count_nonzero(np.diff(keys) <= 0))
    if repeated:
        found.append(Reason("pairs placed once, ascending", 0, repeated, PLACEMENTS))
    wanted = np.repeat(np.arange(len(rows.lengths)), rows.lengths) * num_topics + rows.topics
    places = np.searchsorted(wanted, keys)
    is_real = wanted[np.minimum(places, len(wanted) - 1)] == keys if len(wanted) else np.zeros(len(keys), dtype=bool)
    if not is_real.all():
        found.append(Reason("only interests are placed", 0, int(np.count_nonzero(~is_real)), PLACEMENTS))
    received = sums_by_row(rates[topics], np.concatenate([[0], np.cumsum(lengths)]))
    unsatisfied = int(np.count_nonzero(received < rows.needed))
    if unsatisfied:
        found.append(Reason("subscribers satisfied", 0, unsatisfied, PLACEMENTS))
    return places, found


def _summed(parts: list[list[Reason]]) -> list[Reason]:
    """The same violation of several blocks as one, with the number of cases."""
    sums: dict[tuple[str, str], Reason] = {}
    for reason in (reason for reasons in parts for reason in reasons):
        key = (reason.limit, reason.where)
        if key in sums and isinstance(reason.have, int) and isinstance(sums[key].have, int):
            sums[key] = Reason(reason.limit, reason.need, sums[key].have + reason.have, reason.where)  # type: ignore[operator]
        else:
            sums.setdefault(key, reason)
    return list(sums.values())[:_SHOWN]


def _count(
    homes: np.ndarray,
    counts: Int64Array,
    others: list[tuple[Int64Array, Int64Array]],
    topics: Int64Array,
    vms: Int64Array,
    num_vms: int,
) -> None:
    """Count pairs by topic where they are on the VM on which the topic was first seen, else by topic and VM."""
    new = homes[topics] < 0
    homes[topics[new]] = vms[new]
    is_home = homes[topics] == vms
    np.add.at(counts, topics[is_home], 1)
    away = ~is_home
    if away.any():
        others.append(np.unique(topics[away].astype(np.int64) * num_vms + vms[away], return_counts=True))


def _collected(others: list[tuple[Int64Array, Int64Array]]) -> tuple[Int64Array, Int64Array]:
    """Counts by key, from several tables of them."""
    if not others:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    keys, places = np.unique(np.concatenate([keys for keys, _ in others]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, places, np.concatenate([counts for _, counts in others]))
    return keys, counts


def _merged(problem: Problem, num_vms: int, num_groups: int, store: Store) -> _Parts:
    """All pairs by topic and VM."""
    num_topics = problem.workload.counts.topics
    homes = np.full(num_topics, -1, dtype=np.int64)
    counts = np.zeros(num_topics, dtype=np.int64)
    others: list[tuple[Int64Array, Int64Array]] = []
    for group in range(num_groups):
        group_homes = store.get(group, "homes").astype(np.int64)
        group_counts = store.get(group, "counts").astype(np.int64)
        homes = np.where(homes < 0, group_homes, homes)
        is_home = homes == group_homes
        counts += np.where(is_home, group_counts, 0)
        away = np.flatnonzero(~is_home & (group_counts > 0))
        others += [(away * num_vms + group_homes[away], group_counts[away])]
        others += [(store.get(group, "keys"), store.get(group, "pairs"))]
    seen = np.flatnonzero(counts)
    keys, pairs = _collected([(seen * num_vms + homes[seen], counts[seen]), *others])
    topics, vms = np.divmod(keys, max(1, num_vms))
    return _Parts(topics, vms, pairs)


def _wrong_fleet(problem: Problem, plan: Plan, parts: _Parts, num_vms: int) -> tuple[int, list[Reason]]:
    """The cost recomputed, VMs above their limit, and rows of the tables that are not as recomputed."""
    table = plan.decisions(VMS)
    streams = problem.streams[parts.topics]
    by_vm = {
        "incoming": _by_vm(parts, streams, num_vms),
        "outgoing": _by_vm(parts, parts.pairs * streams, num_vms),
        "topics": _by_vm(parts, np.ones_like(parts.pairs), num_vms),
        "pairs": _by_vm(parts, parts.pairs, num_vms),
    }
    by_vm["used"] = by_vm["incoming"] + by_vm["outgoing"]
    types = plan.decisions(TYPES).to_pylist()
    chosen = next(row for row in types if row["chosen"])
    vm_type = next(vm_type for vm_type in problem.types if vm_type.name == chosen["type"])
    limit = problem.limit(vm_type)
    incoming, outgoing = int(by_vm["incoming"].sum()), int(by_vm["outgoing"].sum())
    costs = problem.costs(vm_type, num_vms, incoming, outgoing)
    by_vm["price"] = np.full(num_vms, problem.costs(vm_type, 1, 0, 0)[0], dtype=np.int64)
    found = [
        Reason("bytes per VM", int(by_vm["used"][vm]), limit, f"VM {vm}")
        for vm in np.flatnonzero(by_vm["used"] > limit)[:_SHOWN]
    ]
    for name, values in by_vm.items():
        wrong = int(np.count_nonzero(table[name].to_numpy() != values))
        if wrong:
            found.append(Reason(f"{name} of VMs as recomputed", 0, wrong, VMS))
    found += _wrong_splits(problem, plan, parts)
    said = {
        "limit": limit,
        "vms": num_vms,
        "incoming": incoming,
        "outgoing": outgoing,
        "vm_cost": costs[0],
        "incoming_cost": costs[1],
        "outgoing_cost": costs[2],
        "cost": sum(costs),
    }
    found += [
        Reason(f"{k} as recomputed", v, chosen[k], f"{TYPES}: {vm_type.name}")
        for k, v in said.items()
        if chosen[k] != v
    ]
    cheaper = [row["type"] for row in types if not row["refused"] and row["cost"] < chosen["cost"]]
    found += [Reason("the cheapest VM type is chosen", name, chosen["type"], TYPES) for name in cheaper]
    return sum(costs), found


def _by_vm(parts: _Parts, values: Int64Array, num_vms: int) -> Int64Array:
    sums = np.zeros(num_vms, dtype=np.int64)
    np.add.at(sums, parts.vms, values)
    return sums


def _wrong_splits(problem: Problem, plan: Plan, parts: _Parts) -> list[Reason]:
    """The table of splits has exactly the topics on several VMs."""
    table = plan.decisions(SPLITS)
    is_split = np.bincount(parts.topics, minlength=1)[parts.topics] > 1 if len(parts.topics) else np.zeros(0, bool)
    expected = [parts.topics[is_split], parts.vms[is_split], parts.pairs[is_split]]
    found = [table[name].to_numpy() for name in ("topic", "vm", "pairs")]
    if not all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True)):
        return [Reason("topics on several VMs as recomputed", int(is_split.sum()), table.num_rows, SPLITS)]
    ids = problem.workload.topics("topic_id")["topic_id"].take(table["topic"])
    wrong = sum(one != other for one, other in zip(ids.to_pylist(), table["topic_id"].to_pylist(), strict=True))
    return [Reason("topic_id belongs to topic", 0, wrong, SPLITS)] if wrong else []
