"""The witnesses and shared clients of a plan's bound ``forced``, as they are stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pubplan.errors import Violation
from pubplan.planning import Plan
from pubplan.problems.assign.plan import (
    FORCED,
    FORCED_SCHEMA,
    SHARED,
    SHARED_SCHEMA,
    WITNESSES,
    WITNESSES_SCHEMA,
)
from pubplan.problems.assign.verifier.covers import is_too_large
from pubplan.problems.assign.verifier.tree import Tree
from pubplan.workload import Int32Array, Int64Array

MAX_SHARED = 24


@dataclass(frozen=True)
class Forced:
    """Brokers, what their filters are said to measure at least, clients that are to prove it, and shared clients."""

    brokers: Int32Array
    measures: Int64Array
    clients: tuple[Int64Array, ...]
    shared: Int64Array

    @property
    def all_clients(self) -> Int64Array:
        """All witnesses and shared clients, ascending."""
        return np.unique(np.concatenate([self.shared, *self.clients]))


def read_forced(plan: Plan, tree: Tree, num_clients: int, num_attributes: int) -> Forced | Violation:
    """The witnesses of brokers that exist, each broker and each of its clients once, and not too many of them.

    Raises:
        InputError: a table cannot be read or has other columns.
    """
    forced, witnesses = _read(plan, FORCED, FORCED_SCHEMA), _read(plan, WITNESSES, WITNESSES_SCHEMA)
    brokers, measures = forced["broker"].to_numpy(), forced["measure"].to_numpy()
    shared = _read(plan, SHARED, SHARED_SCHEMA)["client"].to_numpy()
    of_rows, clients = witnesses["broker"].to_numpy(), witnesses["client"].to_numpy()
    starts = np.flatnonzero(np.diff(of_rows.astype(np.int64), prepend=-(2**40)))
    groups = np.split(clients, starts[1:]) if len(starts) else []
    faults = {
        "brokers that do not exist": ((brokers < 0) | (brokers >= tree.num_brokers)).any(),
        "brokers listed twice or out of order": (np.diff(brokers) <= 0).any(),
        "measures below 0": (measures < 0).any(),
        "witnesses of other brokers, or out of order": not np.array_equal(of_rows[starts], brokers),
        "witnesses that are no clients": ((clients < 0) | (clients >= num_clients)).any(),
        "too many witnesses of a broker": any(is_too_large(len(group), num_attributes) for group in groups),
        "shared clients that are none": ((shared < 0) | (shared >= num_clients)).any(),
        "shared clients listed twice": len(np.unique(shared)) < len(shared),
        "too many shared clients": len(shared) > MAX_SHARED,
        "witnesses listed twice": any(len(np.unique(group)) < len(group) for group in groups),
    }
    for fault, is_present in faults.items():
        if is_present:
            return Violation(fault, "certificate/forced")
    return Forced(brokers, measures, tuple(groups), shared)


def _read(plan: Plan, table: str, schema: pa.Schema) -> pa.Table:
    folder = f"certificate/forced-{table}/"
    num_blocks = sum(name.startswith(folder) for name in plan.record["files"])
    blocks = [plan.certificate_block("forced", table, block, schema) for block in range(num_blocks)]
    return pa.concat_tables([schema.empty_table(), *blocks])
