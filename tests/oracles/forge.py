"""Forged plans: changed content under hashes and a digest that fit it, so that only the truth gives them away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pubplan.files import file_sha256, read_json_object
from pubplan.planning import Exact, Plan, read_plan


def forge(
    plan: Plan,
    target: Path,
    *,
    record: Mapping[str, Any] | None = None,
    tables: Mapping[str, Callable[[pa.Table], pa.Table]] | None = None,
    certificates: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    added: Mapping[str, Any] | None = None,
    opened: bool = True,
) -> Plan:
    """Copy ``plan`` to ``target`` with changes, and make its hashes and digest consistent again.

    Args:
        added: certificates that the plan does not have.
        opened: whether the forged plan can be opened; if not, what comes back is the one it was made of.
    """
    shutil.copytree(plan.path, target)
    for name, change in (tables or {}).items():
        pq.write_table(change(pq.read_table(target / name)), target / name, store_schema=False)
    for name, change in (certificates or {}).items():
        path = target / "certificate" / f"{name}.json"
        path.write_text(json.dumps(change(read_json_object(path))))
    forged = {**plan.record, **(record or {})}
    for name, content in (added or {}).items():
        (target / "certificate" / f"{name}.json").write_text(json.dumps(content))
        forged["files"] = {**forged["files"], f"certificate/{name}.json": ""}
        forged["bounds"] = {**forged["bounds"], name: float(Exact(**content["bound"]))}
    forged["files"] = {name: file_sha256(target / name) for name in forged["files"]}
    forged["digest"] = Plan(target, forged).content_digest()
    (target / "plan.json").write_text(json.dumps(forged))
    return read_plan(target) if opened else plan


def relisted(path: Path, names: Iterable[str]) -> Plan:
    """The plan at ``path`` with the files of these names listed, under hashes and a digest that fit them."""
    record = read_json_object(path / "plan.json")
    record["files"] = {name: file_sha256(path / name) for name in sorted(names)}
    record["digest"] = Plan(path, record).content_digest()
    (path / "plan.json").write_text(json.dumps(record))
    return read_plan(path)
