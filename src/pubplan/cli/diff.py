"""``pubplan diff``: what changes from one plan to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Json, PlanPath, Quiet


def diff(
    old: PlanPath,
    new: Annotated[Path, typer.Argument(metavar="OTHER", help="The plan to compare it with.")],
    show_all: Annotated[
        bool, typer.Option("--all", help="All decisions that change, not only the ten weightiest.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare two plans of one family: what they say, and which decisions change, the weightiest first."""
    from pubplan.api import diff as compare
    from pubplan.cli.show import answer

    changes = compare(old, new)
    lines = changes.sentences(shown=None) if show_all else changes.sentences(hint="; --all shows them")
    answer(changes.to_dict(), "\n".join(lines), json)
