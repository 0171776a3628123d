"""Recomputes a plan from the tables on disk, block by block, with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
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
from pubplan.problems.provision.verify_costs import MICROS_PER_DOLLAR, Terms
from pubplan.problems.provision.verify_fleet import collected, count_pairs, merged, wrong_fleet, wrong_splits
from pubplan.problems.provision.verify_types import wrong_budget, wrong_types
from pubplan.workload import Int64Array, topic_lists

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_SHOWN = 5


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that everybody is satisfied by real interests, placed once on VMs that carry them, and recompute the cost.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    violations, num_vms = _wrong_tables(problem, plan)
    if violations:
        return Verdict(plan.exact, tuple(violations))
    terms = Terms.of(problem)
    checks = BoundChecks.of(terms, plan)
    groups = block_groups(len(problem.workload.interests_blocks), spark)
    store = open_store(spark)
    evaluate = _evaluator(problem, terms, plan, num_vms, checks, groups, store)
    evaluated = list(map_blocks(evaluate, len(groups), spark))
    violations += _summed([part.reasons for part in evaluated])
    if violations:  # blocks with wrong pairs are not counted, so the fleet cannot be either
        return Verdict(plan.exact, tuple(violations))
    subscribers = problem.workload.topic_array("subscribers")
    wrong_bounds, proven = checks.conclude(plan, subscribers, [part.sums for part in evaluated], store)
    parts = merged(problem, num_vms, len(groups), store)
    chosen = next(row["type"] for row in plan.decisions(TYPES).to_pylist() if row["chosen"])
    vm_type, limit = next(pair for pair in zip(terms.types, terms.limits, strict=True) if pair[0].name == chosen)
    traffic, wrong = wrong_fleet(terms, plan, parts, num_vms, vm_type, limit)
    cost = Exact(sum(terms.costs(vm_type, num_vms, traffic.incoming, traffic.outgoing)), MICROS_PER_DOLLAR)
    lacking = [sum(counts) for counts in zip(*(part.lacking for part in evaluated), strict=True)] or [0] * len(
        terms.types
    )
    violations = [
        *wrong_bounds,
        *wrong,
        *wrong_splits(problem, plan, parts),
        *wrong_types(terms, plan, traffic, problem.workload.counts.pairs, lacking, proven),
        *wrong_budget(terms, plan, cost),
    ]
    return Verdict(cost, tuple(violations))


def _wrong_tables(problem: Problem, plan: Plan) -> tuple[list[Reason], int]:
    """Tables have the columns they should, and a row for each VM and VM type. Also the number of VMs."""
    found = []
    for name, schema in ((VMS, VMS_SCHEMA), (SPLITS, SPLITS_SCHEMA), (TYPES, TYPES_SCHEMA)):
        table = plan.decisions(name)
        found += wrong_columns(name, table, schema)
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


@dataclass(frozen=True)
class _Evaluated:
    """Of some blocks: violations, sums for the bounds, and by VM type who cannot be satisfied by what fits its VMs."""

    reasons: list[Reason]
    sums: list[int]
    lacking: list[int]


def _evaluator(
    problem: Problem,
    terms: Terms,
    plan: Plan,
    num_vms: int,
    checks: BoundChecks,
    groups: list[range],
    store: Store,
) -> Callable[[int], _Evaluated]:
    """Evaluates one group of blocks; counts by topic and VM stay in the store."""
    rates = terms.rates
    num_topics, num_subscribers = len(rates), problem.workload.counts.subscribers
    masks = [2 * terms.streams > limit for limit in terms.limits]
    too_big = [mask if mask.any() else None for mask in masks]

    def evaluate(group: int) -> _Evaluated:
        homes = np.full(num_topics, -1, dtype=np.int32)
        counts = np.zeros(num_topics, dtype=np.int64)
        others: list[tuple[Int64Array, Int64Array]] = []
        reasons: list[Reason] = []
        lacking = [0] * len(too_big)
        state = checks.start(num_topics)
        for block in groups[group]:
            rows = _read_rows(problem, block, rates)
            lacking = [total + more for total, more in zip(lacking, _lacking(rows, too_big), strict=True)]
            table = plan.decisions_block(PLACEMENTS, block)
            placed = _placed(table, block, num_subscribers)
            if isinstance(placed, Reason):
                reasons.append(placed)
                continue
            lengths, topics, vms = placed
            sent, wrong = _wrong_pairs(rows, lengths, topics, vms, rates, num_vms)
            reasons += wrong
            if not wrong:
                count_pairs(homes, counts, others, topics, vms, num_vms)
                checks.look(state, rows, sent, plan, block)
        store.put(group, homes=homes, counts=counts.astype(np.uint32))
        keys, pairs = collected(others)
        store.put(group, keys=keys, pairs=pairs)
        checks.keep(state, store, group)
        return _Evaluated(reasons, state.sums, lacking)

    return evaluate


def _lacking(rows: BlockRows, too_big: list[npt.NDArray[np.bool_] | None]) -> Iterator[int]:
    """For each VM type how many subscribers get less than they need from the topics that fit its VMs."""
    for is_left_out in too_big:
        if is_left_out is None:
            yield 0
            continue
        reachable = sums_by_row(np.where(is_left_out[rows.topics], 0, rows.rates), rows.offsets)
        yield int(np.count_nonzero(reachable < rows.needed))


def _read_rows(problem: Problem, block: int, rates: Int64Array) -> BlockRows:
    asked = problem.threshold
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
