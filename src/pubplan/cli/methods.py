"""``pubplan methods``: what there is to choose from.

The families' tables are the truth, but reading them loads everything that plans. The command reads ``methods.json``
instead, which holds what they say; ``make methods`` writes it, and a test compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Json, Quiet

if TYPE_CHECKING:
    from pubplan.planning import Family

LISTING = "methods.json"
_SHOWN = ("guarantee", "complexity", "applies", "paper")


def methods(
    family: Annotated[str | None, typer.Argument(metavar="FAMILY", help="Only this family.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """List the methods of every family with guarantee, complexity, source and parameters."""
    from pubplan.cli.show import answer
    from pubplan.errors import InputError, unknown_name

    listing = json.loads(resources.files("pubplan.cli").joinpath(LISTING).read_text(encoding="utf-8"))
    if family is not None:
        if family not in listing:
            raise InputError(unknown_name("family", family, listing))
        listing = {family: listing[family]}
    answer(listing, "\n".join(line for name in listing for line in _lines(name, listing[name])), as_json)


def _lines(family: str, listed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    from pubplan.cli.parameters import NONE

    for name, facts in listed.items():
        mark = "" if facts["default"] is None else f"  ({facts['default']})"
        yield f"{family} --method {name}{mark}"
        yield from (f"  {key:<11}{facts[key]}" for key in _SHOWN)
        for parameter, described in facts["parameters"].items():
            default = NONE if described["default"] is None else described["default"]
            yield f"  --set {parameter}={default}  ({described['type']}) {described['help']}".rstrip()


def listing_of(family: Family[Any, Any]) -> dict[str, Any]:
    """What a family's table says of its methods."""
    from pubplan.cli.parameters import parameters_of

    return {
        method.name: {
            **{key: getattr(method, key) for key in _SHOWN},
            "parameters": {name: parameter.to_dict() for name, parameter in parameters_of(method).items()},
            "default": family.defaults.get(method.name),
        }
        for method in family.methods.values()
    }


def write_listing() -> None:
    """Write what the tables of all families say beside this module."""
    from pubplan.problems import FAMILIES, family_named

    listing = {name: listing_of(family_named(name)) for name in FAMILIES}
    Path(__file__).with_name(LISTING).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_listing()
