"""From one overlay to another: links to add and to drop, and nodes whose degree changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.planning import Explanation, Plan
from pubplan.problems.overlay.plan import LINKS, LINKS_SCHEMA, NODES, NODES_SCHEMA

MAX_NAMED = 10
"""Sentences name at most this many links of each kind, and nodes; facts name all."""


def compare_overlays(old: Plan, new: Plan) -> Explanation | None:
    """Links and degrees by the names of nodes, so that overlays of different workloads compare too; None for the same.

    Raises:
        InputError: a table is damaged.
    """
    if old.digest == new.digest:
        return None
    links = _compare_links(old, new)
    degrees = _compare_degrees(old, new)
    facts: dict[str, Any] = {"links": links, "degrees": degrees}
    return Explanation(facts, tuple(_sentences(facts)))


def _compare_links(old: Plan, new: Plan) -> dict[str, Any]:
    before, after = _links(old), _links(new)
    added, dropped = sorted(after - before), sorted(before - after)
    return {"kept": len(before & after), "added": [list(link) for link in added], "dropped": [list(x) for x in dropped]}


def _links(plan: Plan) -> set[tuple[str, str]]:
    table = plan.decisions(LINKS, LINKS_SCHEMA)
    ends = zip(table["node_id"].to_pylist(), table["other_id"].to_pylist(), strict=True)
    return {(min(one, other), max(one, other)) for one, other in ends}


def _compare_degrees(old: Plan, new: Plan) -> list[dict[str, Any]]:
    """Nodes whose degree changes, the largest changes first; a node that one plan does not have has none there."""
    before, after = (plan.decisions(NODES, NODES_SCHEMA).select(["node_id", "degree"]) for plan in (old, new))
    both = before.join(after, "node_id", join_type="full outer", right_suffix="_new", coalesce_keys=True)
    changed = both.filter(pc.invert(pc.equal(pc.fill_null(both["degree"], -1), pc.fill_null(both["degree_new"], -1))))
    degrees = [pc.fill_null(changed[name], 0).to_numpy().astype(np.int64) for name in ("degree", "degree_new")]
    sizes = np.abs(degrees[1] - degrees[0])
    ranked = changed.append_column("size", pa.array(-sizes)).sort_by([("size", "ascending"), ("node_id", "ascending")])
    return [{"node": row["node_id"], "old": row["degree"], "new": row["degree_new"]} for row in ranked.to_pylist()]


def _sentences(facts: dict[str, Any]) -> list[str]:
    links, degrees = facts["links"], facts["degrees"]
    lines = [f"links: {links['kept']:,} kept, {len(links['added']):,} added, {len(links['dropped']):,} dropped"]
    for sign, name in (("+", "added"), ("-", "dropped")):
        lines += [f"  {sign} {one} - {other}" for one, other in links[name][:MAX_NAMED]]
        if len(links[name]) > MAX_NAMED:
            lines.append(f"  {sign} … {len(links[name]) - MAX_NAMED:,} more {name}")
    lines.append(f"nodes whose degree changes: {len(degrees):,}")
    for row in degrees[:MAX_NAMED]:
        lines.append(f"  {row['node']}: {_degree_or_absent(row['old'])} -> {_degree_or_absent(row['new'])}")
    if len(degrees) > MAX_NAMED:
        lines.append(f"  … {len(degrees) - MAX_NAMED:,} more")
    return lines


def _degree_or_absent(degree: int | None) -> str:
    return "absent" if degree is None else str(degree)
