"""What a plan directory holds, given its family, its bounds and its workload: no file more, no file less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubplan.engine import block_name, num_blocks
from pubplan.errors import Violation
from pubplan.planning.plan import TRAJECTORY, Plan
from pubplan.planning.registry import Family
from pubplan.workload import Workload


def expected_files(family: Family[Any, Any], workload: Workload, plan: Plan) -> set[str]:
    """The files of a plan, apart from plan.json and run.json; bounds must be known to the family."""
    blocks_by = {"rows": workload.num_blocks, "topics": num_blocks(workload.counts.sizes.get("topics", 0))}
    names = {f"decisions/{table}.parquet" for table in family.decisions}
    if family.trajectory is not None:
        names.add(TRAJECTORY)
    for table in family.blocks:
        names |= {f"decisions/{table}/{block_name(block)}" for block in range(blocks_by["rows"])}
    for bound in plan.record["bounds"]:
        names.add(f"certificate/{bound}.json")
        for table, layout in family.bounds[bound].tables.items():
            folder = f"certificate/{bound}-{table}/"
            listed = sum(name.startswith(folder) for name in plan.record["files"])
            count = max(1, listed) if layout.by == "evidence" else blocks_by[layout.by]
            names |= {folder + block_name(block) for block in range(count)}
    return names


def wrong_contents(family: Family[Any, Any], workload: Workload, plan: Plan) -> Iterator[Violation]:
    """Files that are missing or unknown, and evidence with other keys than its bound has."""
    expected, listed = expected_files(family, workload, plan), set(plan.record["files"])
    yield from (Violation("file missing", name) for name in sorted(expected - listed))
    yield from (Violation("file that plans of this family do not have", name) for name in sorted(listed - expected))
    for name in sorted(plan.record["bounds"]):
        if f"certificate/{name}.json" not in listed:
            continue
        keys, known = set(plan.certificate(name).evidence), set(family.bounds[name].evidence)
        if keys != known:
            wanted, given = (", ".join(sorted(some)) or "none" for some in (known, keys))
            yield Violation("wrong keys of the evidence", f"certificate/{name}.json", stated=given, expected=wanted)
