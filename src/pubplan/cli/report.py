"""``pubplan report``: plans as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Json, Quiet, Replace


def report(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Plan and workload directories, and files of what-if tables."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="PAGE.html", help="The page; must not exist yet.")],
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write plans and workloads as one self-contained HTML page that opens offline."""
    from pubplan.api import report as make
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.show import answer

    with showing_progress(quiet):
        page = make(paths, out, replace=replace)
    answer({"page": str(page.path), "bytes": page.num_bytes}, f"Page written to {page.path}", json)
