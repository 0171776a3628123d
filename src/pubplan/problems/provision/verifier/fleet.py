"""Recomputes a fleet from its placements: which topics are on which VMs, what each carries, which topics are split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.engine import MAX_INT64, Store
from pubplan.errors import Violation
from pubplan.planning import Plan
from pubplan.problems.provision.catalogue import VmType
from pubplan.problems.provision.plan import SPLITS, VMS
from pubplan.problems.provision.problem import Problem
from pubplan.problems.provision.verifier.costs import Terms
from pubplan.text import dollars_up, traffic
from pubplan.workload import Int64Array

_SHOWN = 5


@dataclass(frozen=True)
class Portions:
    """Portions of topics: how many pairs of a topic are on a VM, ascending by topic and VM."""

    topics: Int64Array
    vms: Int64Array
    pairs: Int64Array


@dataclass(frozen=True)
class Traffic:
    """What all VMs of a fleet take together: VMs, bytes in and bytes out."""

    num_vms: int
    incoming: int
    outgoing: int


def count_pairs(
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


def collected(others: list[tuple[Int64Array, Int64Array]]) -> tuple[Int64Array, Int64Array]:
    """Counts by key, from several tables of them."""
    if not others:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    keys, numbers = np.unique(np.concatenate([keys for keys, _ in others]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, numbers, np.concatenate([counts for _, counts in others]))
    return keys, counts


def merged(problem: Problem, num_vms: int, num_groups: int, store: Store) -> Portions:
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
    keys, pairs = collected([(seen * num_vms + homes[seen], counts[seen]), *others])
    topics, vms = np.divmod(keys, max(1, num_vms))
    return Portions(topics, vms, pairs)


def wrong_fleet(
    terms: Terms, plan: Plan, portions: Portions, num_vms: int, vm_type: VmType, limit: int
) -> tuple[Traffic, list[Violation]]:
    """The traffic recomputed, VMs above their limit, and rows of the table that are not as recomputed."""
    table = plan.decisions(VMS)
    streams = terms.streams[portions.topics]
    by_vm = {
        "incoming": _by_vm(portions, streams, num_vms),
        "outgoing": _by_vm(portions, portions.pairs * streams, num_vms),
        "topics": _by_vm(portions, np.ones_like(portions.pairs), num_vms),
        "pairs": _by_vm(portions, portions.pairs, num_vms),
    }
    by_vm["used"] = by_vm["incoming"] + by_vm["outgoing"]
    violations = [
        Violation("VM above its limit", f"VM {vm}: {traffic(int(by_vm['used'][vm]))} of {traffic(limit)}")
        for vm in np.flatnonzero(by_vm["used"] > limit)[:_SHOWN]
    ]
    rent = terms.rent(vm_type, 1)
    if rent > MAX_INT64:
        violations.append(Violation("rent of a VM that does not fit 64 bits", VMS, stated=dollars_up(rent)))
    else:
        by_vm["price"] = np.full(num_vms, rent, dtype=np.int64)
    for name, values in by_vm.items():
        wrong = int(np.count_nonzero(table[name].to_numpy() != values))
        if wrong:
            violations.append(Violation(f"VMs with a wrong '{name}'", VMS, wrong))
    return Traffic(num_vms, int(by_vm["incoming"].sum()), int(by_vm["outgoing"].sum())), violations


def _by_vm(portions: Portions, values: Int64Array, num_vms: int) -> Int64Array:
    sums = np.zeros(num_vms, dtype=np.int64)
    np.add.at(sums, portions.vms, values)
    return sums


def wrong_splits(problem: Problem, plan: Plan, portions: Portions) -> list[Violation]:
    """The table of splits has exactly the topics on several VMs."""
    table = plan.decisions(SPLITS)
    is_split = (
        np.bincount(portions.topics, minlength=1)[portions.topics] > 1 if len(portions.topics) else np.zeros(0, bool)
    )
    expected = [portions.topics[is_split], portions.vms[is_split], portions.pairs[is_split]]
    stated = [table[name].to_numpy() for name in ("topic", "vm", "pairs")]
    if not all(np.array_equal(one, other) for one, other in zip(expected, stated, strict=True)):
        return [Violation("wrong portions of topics on several VMs", SPLITS)]
    ids = problem.workload.topics("topic_id")["topic_id"].take(table["topic"])
    wrong = sum(one != other for one, other in zip(ids.to_pylist(), table["topic_id"].to_pylist(), strict=True))
    return [Violation("topics under the id of another topic", SPLITS, wrong)] if wrong else []
