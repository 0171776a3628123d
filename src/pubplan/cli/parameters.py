"""The parameters of methods on the command line: what there is to set, and the values that ``--set`` gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from pubplan.errors import InputError, one_line, unknown_name

if TYPE_CHECKING:
    from pubplan.planning import Method

_KIND_NAMES: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
_TRUTHS = {"true": True, "false": False}
NONE = "none"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a method, as ``pubplan methods`` lists it and ``--set`` takes it."""

    name: str
    kinds: tuple[Any, ...]
    default: Any
    help: str

    @property
    def type_name(self) -> str:
        return " or ".join(_kind_name(kind) for kind in self.kinds)

    def value_of(self, text: str) -> Any:
        """What a text means as a value of this parameter.

        Raises:
            ValueError: it is none of the parameter's types.
        """
        for kind in self.kinds:
            if kind is NoneType and text == NONE:
                return None
            if get_origin(kind) is Literal and text in get_args(kind):
                return text
            if kind is bool and text in _TRUTHS:
                return _TRUTHS[text]
            if kind in (int, float):
                try:
                    return kind(text)
                except ValueError:
                    continue
            if kind is str:
                return text
        raise ValueError(f"{self.name} is {_with_article(self.type_name)}, not '{text}'.")

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type_name, "default": self.default, "help": self.help}


def parameters_of(method: Method[Any, Any, Any]) -> dict[str, Parameter]:
    """The parameters of a method by name."""
    hints = get_type_hints(method.parameters)
    parameters = {}
    for field in dataclasses.fields(method.parameters):
        default = None if field.default is dataclasses.MISSING else field.default
        help_text = field.metadata.get("help", "")
        parameters[field.name] = Parameter(field.name, _kinds(hints[field.name]), default, help_text)
    return parameters


def parse_settings(method: Method[Any, Any, Any], given: Iterable[str]) -> dict[str, Any]:
    """The values that ``--set NAME=VALUE`` gives to a method's parameters.

    Raises:
        InputError: a name is unknown or given twice, or a value is refused.
    """
    known, settings = parameters_of(method), {}
    for text in given:
        name, has_value, value = text.partition("=")
        if not has_value:
            _refuse(f"--set takes NAME=VALUE, not '{one_line(text)}'.")
        if not known:
            _refuse(f"method {method.name} has no parameters to set.")
        if name not in known:
            _refuse(f"method {method.name}: " + unknown_name("parameter", one_line(name), known))
        if name in settings:
            _refuse(f"{name} is given twice.")
        try:
            settings[name] = known[name].value_of(value)
        except ValueError as error:
            _refuse(f"method {method.name}: {one_line(str(error))}")
    return settings


def _refuse(sentence: str) -> NoReturn:
    raise InputError(sentence)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _kind_name(kind: Any) -> str:
    if kind is NoneType:
        return NONE
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return _KIND_NAMES.get(kind, getattr(kind, "__name__", str(kind)))


def _with_article(name: str) -> str:
    return f"a {name}" if name.startswith(("whole", "number")) else name
