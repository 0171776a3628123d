"""``pubplan report``: plans as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Json, Quiet, Replace


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Plan and workload directories.")],
    out: Annotated[Path, typer.Option("--out", metavar="PAGE.html", help="The page; must not exist yet.")],
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write plans and workloads as one self-contained HTML page that opens offline."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart
    from pubplan.planning import read_plan
    from pubplan.problems import family_named
    from pubplan.report import check_page, write_page
    from pubplan.workload import MANIFEST, read_workload

    check_apart(out, *paths)
    check_page(out, replace)
    is_workload = [(path / MANIFEST).is_file() for path in paths]
    with showing_progress(quiet):
        plans = [read_plan(path) for path, other in zip(paths, is_workload, strict=True) if not other]
        for plan in plans:
            plan.check()
            family_named(plan.family)
        workloads = [read_workload(path) for path, one in zip(paths, is_workload, strict=True) if one]
        size = write_page(plans, out, workloads=workloads, replace=replace)
    answer({"page": str(out), "bytes": size}, f"Page written to {out}", json)
