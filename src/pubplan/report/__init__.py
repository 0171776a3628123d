"""Plans as one self-contained HTML page: a frame, and one file per family."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from pubplan.engine import stage, write_text
from pubplan.errors import InputError
from pubplan.pipeline import describe
from pubplan.planning import Plan
from pubplan.problems import FAMILIES
from pubplan.report import workload
from pubplan.report.frame import GENERATOR, Section, page
from pubplan.workload import Workload


def write_page(plans: Sequence[Plan], out: Path, *, workloads: Sequence[Workload] = (), replace: bool = False) -> int:
    """Write ``plans`` and descriptions of ``workloads`` as a page and return its size in bytes.

    Raises:
        InputError: ``out`` exists and is not to be replaced, or is no page of ours.
    """
    check_page(out, replace)
    with stage("writing the page"):
        sections: list[Section] = []
        for name in FAMILIES:
            of_family = [plan for plan in plans if plan.family == name]
            if of_family:
                sections += import_module(f"pubplan.report.{name}").sections(of_family, workloads)
        sections += [workload.section(opened.path.name, describe(opened)) for opened in workloads]
        text = page("pubplan report", _lead(len(plans), len(workloads)), sections)
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_text(out, text)
        except OSError as error:
            raise InputError(f"Cannot write {out}: {error.strerror}.") from error
    return len(text.encode("utf-8"))


def _lead(num_plans: int, num_workloads: int) -> str:
    parts = []
    if num_plans:
        parts.append(f"{num_plans} plan{'s' if num_plans > 1 else ''} with bounds and verdicts")
    if num_workloads:
        parts.append(f"{num_workloads} workload{'s' if num_workloads > 1 else ''} described")
    return ", ".join(parts) + ". Opens offline."


def check_page(out: Path, replace: bool) -> None:
    if not os.path.lexists(out):
        return
    if not replace:
        raise InputError(f"{out} exists already. Choose another --out, or pass --replace to overwrite it.")
    if not out.is_file() or GENERATOR.encode() not in out.read_bytes()[:4096]:
        raise InputError(f"{out} is not replaced: it is not a page written by pubplan.")
