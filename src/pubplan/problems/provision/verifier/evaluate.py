"""Recomputes a plan from the tables on disk, block by block, with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.engine import Store, block_groups, block_range, map_blocks, open_store
from pubplan.errors import InputError, Violation
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
from pubplan.problems.provision.verifier.bounds import BlockRows, BoundChecks, BoundSums
from pubplan.problems.provision.verifier.costs import MICROS_PER_DOLLAR, Terms
from pubplan.problems.provision.verifier.fleet import collected, count_pairs, merged, wrong_fleet, wrong_splits
from pubplan.problems.provision.verifier.types import wrong_budget, wrong_types
from pubplan.text import listed
from pubplan.workload import Int64Array, Threshold, TopicWorkload, list_column

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

_SHOWN = 5


def verify(problem: Problem, plan: Plan, spark: SparkSession | None = None) -> Verdict:
    """Check that every subscriber is satisfied by real interests, placed once on VMs that carry them, and recompute the
    cost.

    Nothing here is shared with the methods or the bounds: it reads the tables and follows the definitions.
    """
    violations, num_vms = _wrong_tables(problem, plan)
    if violations:
        return Verdict(plan.exact, tuple(violations))
    terms = Terms.of(problem)
    checks = BoundChecks.of(terms, plan)
    groups = block_groups(problem.workload.num_blocks, spark)
    store = open_store(spark)
    evaluate = _evaluator(problem, terms, plan, num_vms, checks, groups, store)
    evaluated = list(map_blocks(evaluate, len(groups), spark))
    violations += _summed([group.violations for group in evaluated])
    if violations:  # blocks with wrong pairs are not counted, so the fleet cannot be either
        return Verdict(plan.exact, tuple(violations))
    subscribers = problem.workload.topic_array("subscribers")
    wrong_bounds, proven = checks.finish(plan, subscribers, [group.sums for group in evaluated], store)
    portions = merged(problem, num_vms, len(groups), store)
    chosen = next(row["type"] for row in plan.decisions(TYPES).to_pylist() if row["chosen"])
    vm_type, limit = next(pair for pair in zip(terms.types, terms.limits, strict=True) if pair[0].name == chosen)
    traffic, wrong = wrong_fleet(terms, plan, portions, num_vms, vm_type, limit)
    cost = Exact(sum(terms.costs(vm_type, num_vms, traffic.incoming, traffic.outgoing)), MICROS_PER_DOLLAR)
    lacking = [sum(counts) for counts in zip(*(group.lacking for group in evaluated), strict=True)] or [0] * len(
        terms.types
    )
    violations = [
        *wrong_bounds,
        *wrong,
        *wrong_splits(problem, plan, portions),
        *wrong_types(terms, plan, traffic, problem.workload.counts.pairs, lacking, proven),
        *wrong_budget(terms, plan, cost),
    ]
    return Verdict(cost, tuple(violations))


def _wrong_tables(problem: Problem, plan: Plan) -> tuple[list[Violation], int]:
    """Tables have the columns they should, and a row for each VM and VM type. Also the number of VMs."""
    violations: list[Violation] = []
    for name, schema in ((VMS, VMS_SCHEMA), (SPLITS, SPLITS_SCHEMA), (TYPES, TYPES_SCHEMA)):
        table = plan.decisions(name)
        violations += wrong_columns(name, table, schema)
    if violations:
        return violations, 0
    vms, types = plan.decisions(VMS), plan.decisions(TYPES)
    if vms["vm"].to_pylist() != list(range(vms.num_rows)):
        violations.append(Violation("VMs not numbered 0, 1, 2 …", VMS))
    names = [vm_type.name for vm_type in problem.types]
    stated = types["type"].to_pylist()
    if stated != names:
        violations.append(Violation("wrong VM types", TYPES, stated=listed(stated), expected=listed(names)))
    chosen = [row["type"] for row in types.to_pylist() if row["chosen"]]
    if len(chosen) != 1:
        violations.append(Violation("wrong number of chosen VM types", TYPES, stated=len(chosen), expected=1))
    else:
        num_others = sum(name != chosen[0] for name in vms["type"].to_pylist())
        if num_others:
            violations.append(Violation("VMs of a type that is not chosen", VMS, num_others))
    return violations, vms.num_rows


@dataclass(frozen=True)
class _Evaluated:
    """Of some blocks: violations, sums for the bounds, and by VM type who cannot be satisfied by what fits its VMs."""

    violations: list[Violation]
    sums: BoundSums
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
    workload, threshold = problem.workload, problem.threshold  # tasks must not take the whole problem along
    num_topics, num_subscribers = len(rates), workload.counts.subscribers
    masks = [2 * terms.streams > limit for limit in terms.limits]
    too_big = [mask if mask.any() else None for mask in masks]

    def evaluate(group: int) -> _Evaluated:
        homes = np.full(num_topics, -1, dtype=np.int32)
        counts = np.zeros(num_topics, dtype=np.int64)
        others: list[tuple[Int64Array, Int64Array]] = []
        violations: list[Violation] = []
        lacking = [0] * len(too_big)
        state = checks.start(num_topics)
        for block in groups[group]:
            rows = _read_rows(workload, threshold, block, rates)
            lacking = [total + more for total, more in zip(lacking, _lacking(rows, too_big), strict=True)]
            table = plan.decisions_block(PLACEMENTS, block)
            placed = _placed(table, block, num_subscribers)
            if isinstance(placed, Violation):
                violations.append(placed)
                continue
            lengths, topics, vms = placed
            sent, wrong = _wrong_pairs(rows, lengths, topics, vms, rates, num_vms)
            violations += wrong
            if not wrong:
                count_pairs(homes, counts, others, topics, vms, num_vms)
                checks.add_block(state, rows, sent, plan, block)
        store.put(group, homes=homes, counts=counts.astype(np.uint32))
        keys, pairs = collected(others)
        store.put(group, keys=keys, pairs=pairs)
        checks.keep(state, store, group)
        return _Evaluated(violations, state.sums, lacking)

    return evaluate


def _lacking(rows: BlockRows, too_big: list[npt.NDArray[np.bool_] | None]) -> Iterator[int]:
    """For each VM type how many subscribers get less than they need from the topics that fit its VMs."""
    for is_left_out in too_big:
        if is_left_out is None:
            yield 0
            continue
        reachable = sums_by_row(np.where(is_left_out[rows.topics], 0, rows.rates), rows.offsets)
        yield int(np.count_nonzero(reachable < rows.needed))


def _read_rows(workload: TopicWorkload, asked: Threshold, block: int, rates: Int64Array) -> BlockRows:
    """The subscribers of a block; ``asked`` is the threshold, all, or None where the workload has one for each."""
    columns = ("topics",) if asked is not None else ("topics", "threshold")
    table = workload.interests_block(block, *columns)
    offsets, topics = list_column(table, "topics")
    if len(topics) and (topics.min() < 0 or topics.max() >= len(rates)):
        raise InputError(f"Block {block} of {workload.path}/interests names topics that do not exist.")
    lengths = np.diff(offsets)
    by_entry = rates[topics]
    wanted = sums_by_row(by_entry, offsets)
    needed = wanted if asked == "all" else np.minimum(table["threshold"].to_numpy() if asked is None else asked, wanted)
    return BlockRows(offsets, lengths, topics, by_entry, needed)


def _placed(table: pa.Table, block: int, num_subscribers: int) -> tuple[Int64Array, Int64Array, Int64Array] | Violation:
    """The lists of a block of placements: how many pairs each subscriber has, their topics and VMs."""
    if not table.schema.equals(PLACEMENTS_SCHEMA) or any(column.null_count for column in table.columns):
        return Violation("blocks with wrong columns or nulls", PLACEMENTS, 1)
    first, last = block_range(block, num_subscribers)
    subscribers = table["subscriber"].to_numpy()
    topic_offsets, topics = list_column(table, "topics")
    vm_offsets, vms = list_column(table, "vms")
    is_whole = np.array_equal(subscribers, np.arange(first, last)) and np.array_equal(topic_offsets, vm_offsets)
    if not is_whole:
        return Violation("blocks without a list of topics and one of VMs for every subscriber", PLACEMENTS, 1)
    return np.diff(topic_offsets), topics.astype(np.int64), vms.astype(np.int64)


def _wrong_pairs(
    rows: BlockRows, lengths: Int64Array, topics: Int64Array, vms: Int64Array, rates: Int64Array, num_vms: int
) -> tuple[Int64Array, list[Violation]]:
    """Every subscriber satisfied, every pair a real interest and placed once, every VM there is.

    Also which entries of the rows are sent.
    """
    num_topics = len(rates)
    if len(topics) and (topics.min() < 0 or topics.max() >= num_topics):
        unknown = int(np.count_nonzero((topics < 0) | (topics >= num_topics)))
        return topics[:0], [Violation("placements of topics that do not exist", PLACEMENTS, unknown)]
    violations = []
    if len(vms) and (vms.min() < 0 or vms.max() >= num_vms):
        unknown = int(np.count_nonzero((vms < 0) | (vms >= num_vms)))
        violations.append(Violation("placements on VMs that do not exist", PLACEMENTS, unknown))
    owners = np.repeat(np.arange(len(lengths)), lengths)
    keys = owners * num_topics + topics
    repeated = int(np.count_nonzero(np.diff(keys) <= 0))
    if repeated:
        violations.append(Violation("pairs placed twice or out of order", PLACEMENTS, repeated))
    wanted = np.repeat(np.arange(len(rows.lengths)), rows.lengths) * num_topics + rows.topics
    entries = np.searchsorted(wanted, keys)
    is_real = wanted[np.minimum(entries, len(wanted) - 1)] == keys if len(wanted) else np.zeros(len(keys), dtype=bool)
    if not is_real.all():
        num_foreign = int(np.count_nonzero(~is_real))
        violations.append(Violation("placed pairs that are not interests", PLACEMENTS, num_foreign))
    received = sums_by_row(rates[topics], np.concatenate([[0], np.cumsum(lengths)]))
    unsatisfied = int(np.count_nonzero(received < rows.needed))
    if unsatisfied:
        violations.append(Violation("subscribers not satisfied", PLACEMENTS, unsatisfied))
    return entries, violations


def _summed(by_group: list[list[Violation]]) -> list[Violation]:
    """The same violation of several blocks as one, with all cases."""
    sums: dict[tuple[str, str], Violation] = {}
    for violation in (violation for violations in by_group for violation in violations):
        key = (violation.fault, violation.where)
        earlier = sums[key].cases or 0 if key in sums else 0
        sums[key] = replace(violation, cases=earlier + (violation.cases or 0))
    return list(sums.values())[:_SHOWN]
