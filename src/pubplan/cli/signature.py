"""Commands whose options are known only when the families are: functions with a signature made from data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

REQUIRED = inspect.Parameter.empty


def with_signature(
    function: Callable[..., None], name: str, doc: str | None, parameters: Mapping[str, tuple[Any, Any]]
) -> Callable[..., None]:
    """Give a function a name, a help and parameters, each with its annotation and its default, for Typer to read."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(parameter, kind, default=default, annotation=annotation)
            for parameter, (annotation, default) in parameters.items()
        ]
    )
    function.__annotations__ = {parameter: annotation for parameter, (annotation, _) in parameters.items()}
    function.__name__, function.__doc__ = name, doc
    return function
