"""Plans as one self-contained HTML page: a frame, and one file per family."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from pubplan.arguments import argument
from pubplan.engine import stage
from pubplan.errors import InputError
from pubplan.files import write_text
from pubplan.pages import whatif, workload
from pubplan.pages.frame import GENERATOR, page
from pubplan.planning import Plan
from pubplan.problems import FAMILIES
from pubplan.text import counted
from pubplan.workload import Workload, describe


def write_page(
    plans: Sequence[Plan],
    out: Path,
    *,
    workloads: Sequence[Workload] = (),
    comparisons: Sequence[Path] = (),
    replace: bool = False,
) -> int:
    """Write ``plans`` and descriptions of ``workloads`` as a page and return its size in bytes.

    Args:
        comparisons: files of what ``pubplan provision --what-if --json`` prints.

    Raises:
        InputError: ``out`` exists and is not to be replaced, or is no page of ours, or a comparison cannot be read.
    """
    check_page(out, replace)
    with stage("writing the page"):
        sections = [whatif.section(whatif.read_what_if(path), path.name) for path in comparisons]
        for name in FAMILIES:
            of_family = [plan for plan in plans if plan.family == name]
            if of_family:
                sections += import_module(f"pubplan.pages.{name}").sections(of_family, workloads)
        sections += [workload.section(opened, describe(opened)) for opened in workloads]
        text = page("pubplan report", _lead(len(plans), len(workloads), len(comparisons)), sections)
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_text(out, text)
        except OSError as error:
            raise InputError(f"Cannot write {out}: {error.strerror}.") from error
    return len(text.encode("utf-8"))


def _lead(num_plans: int, num_workloads: int, num_comparisons: int) -> str:
    parts = [counted(num_comparisons, "comparison")] if num_comparisons else []
    if num_plans:
        parts.append(f"{num_plans} plan{'s' if num_plans > 1 else ''} with bounds and verdicts")
    if num_workloads:
        parts.append(f"{num_workloads} workload{'s' if num_workloads > 1 else ''} described")
    return ", ".join(parts) + ". Opens offline."


def check_page(out: Path, replace: bool) -> None:
    if not os.path.lexists(out):
        return
    if not replace:
        raise InputError(
            f"{out} exists already. Choose another {argument('out')}, or pass {argument('replace', True)} to "
            "overwrite it."
        )
    if not out.is_file() or GENERATOR.encode() not in out.read_bytes()[:4096]:
        raise InputError(f"{out} is not replaced: it is not a page written by pubplan.")
