"""``pubplan export``: a table of a plan for other programs, with ids instead of numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import PlanPath, Quiet, WorkloadOption

Table = Annotated[
    str | None,
    typer.Option("--table", metavar="TABLE", help="Which table, such as served, placements or links."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="csv, json (an object per line) or parquet. Default: as --out ends, or csv."
    ),
]
OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to write; must not exist yet. Default: stdout.")
]
ReplaceFile = Annotated[bool, typer.Option("--replace", help="Overwrite the file at --out.")]


def export(
    plan: PlanPath,
    table: Table = None,
    form: Format = None,
    out: OutFile = None,
    workload: WorkloadOption = None,
    replace: ReplaceFile = False,
    quiet: Quiet = False,
) -> None:
    """Write a table of a plan for other programs: topics, subscribers and nodes by their ids."""
    from pubplan.api import open_export
    from pubplan.cli.progress import showing_progress
    from pubplan.errors import InputError
    from pubplan.planning import export_format, write_export
    from pubplan.text import counted

    chosen = export_format(form, out)
    if out is None and chosen == "parquet":
        raise InputError("Parquet is not written to a terminal or a pipe: pass --out FILE.")
    if out is None and sys.stdout is None:
        raise InputError("stdout is closed: pass --out FILE.")
    opened = open_export(plan, table, workload)
    if not opened.plan.record["verified"]:
        print(f"pubplan: note: {plan} is NOT verified.", file=sys.stderr)
    if out is None:
        write_export(opened.pieces(), opened.schema, chosen, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with showing_progress(quiet):
        written = opened.write(out, chosen, replace=replace)
    print(f"{counted(written.num_rows, 'row')} written to {out}")
