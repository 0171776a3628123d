"""``pubplan methods``: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Json, Quiet

if TYPE_CHECKING:
    from pubplan.cli.parameters import Parameter
    from pubplan.planning import Method

_SHOWN = ("guarantee", "complexity", "applies", "paper")


def methods(
    family: Annotated[str | None, typer.Argument(metavar="FAMILY", help="Only this family.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the methods of every family with guarantee, complexity, source and parameters."""
    from pubplan.cli.parameters import parameters_of
    from pubplan.cli.show import answer
    from pubplan.problems import FAMILIES, family_named

    families = [family_named(name) for name in ([family] if family else FAMILIES)]
    answer(
        {table.name: {method.name: _facts(method) for method in table.methods.values()} for table in families},
        "\n".join(
            line
            for table in families
            for method in table.methods.values()
            for line in (
                f"{table.name} --method {method.name}",
                *(f"  {key:<11}{getattr(method, key)}" for key in _SHOWN),
                *(_parameter_line(parameter) for parameter in parameters_of(method).values()),
            )
        ),
        json,
    )


def _facts(method: Method) -> dict[str, Any]:
    from pubplan.cli.parameters import parameters_of

    facts: dict[str, Any] = {key: getattr(method, key) for key in _SHOWN}
    return facts | {"parameters": {name: each.to_dict() for name, each in parameters_of(method).items()}}


def _parameter_line(parameter: Parameter) -> str:
    from pubplan.cli.parameters import NONE

    default = NONE if parameter.default is None else parameter.default
    return f"  --set {parameter.name}={default}  ({parameter.type_name}) {parameter.help}".rstrip()
