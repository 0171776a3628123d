"""``pubplan methods``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer

from pubplan.cli.options import Json, Quiet

_SHOWN = ("guarantee", "complexity", "applies", "paper")


def methods(
    family: Annotated[str | None, typer.Argument(metavar="FAMILY", help="Only this family.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the methods of every family with guarantee, complexity and source."""
    from pubplan.cli.show import answer
    from pubplan.problems import FAMILIES, family_named

    listed = {
        name: {method.name: {key: getattr(method, key) for key in _SHOWN} for method in table.methods.values()}
        for name, table in ((name, family_named(name)) for name in ([family] if family else FAMILIES))
    }
    lines = []
    for name, entries in listed.items():
        for method, facts in entries.items():
            lines += [f"{name} --method {method}", *(f"  {key:<11}{facts[key]}" for key in _SHOWN)]
    answer(listed, "\n".join(lines), json)
