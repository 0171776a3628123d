"""``pubplan report``: plans as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Json, Quiet, Replace


def report(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN...", help="One or more plan directories.")],
    out: Annotated[Path, typer.Option("--out", metavar="PAGE.html", help="The page; must not exist yet.")],
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write plans as one self-contained HTML page that opens offline."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.show import answer
    from pubplan.planning import read_plan
    from pubplan.report import write_page

    with showing_progress(quiet):
        size = write_page([read_plan(plan) for plan in plans], out, replace=replace)
    answer({"page": str(out), "bytes": size}, f"Page written to {out}", json)
