"""What is asked of a family, from wherever it comes: the command line, a TOML file, the JSON of a service, a plan.

A family's ``Request`` is a frozen dataclass. Its fields carry what a reader needs to know of them: how a value is read,
what is expected instead of a wrong one, and the help. There is one parser, :meth:`Request.from_mapping`, so the same
mistake gets the same sentence everywhere. Importing a request loads neither NumPy nor Spark.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from pubplan.arguments import argument
from pubplan.errors import InputError, one_line, unknown_name
from pubplan.quantities import duration_text, plain_number

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Explanation, Method, Problem, Result
    from pubplan.workload import Workload

P = TypeVar("P", bound="Problem")


@dataclasses.dataclass(frozen=True)
class Reader:
    """How values of an option are read.

    Attributes:
        expects: what a value must be, in words.
        read: the value meant, from text or from what TOML and JSON hold; raises ValueError for another.
    """

    expects: str
    read: Callable[[Any], Any]


def _whole(value: Any, *, commas: bool = False) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        number = plain_number(value, commas=commas)
        if re.fullmatch(r"-?[0-9]{1,18}", number):
            return int(number)
    raise ValueError


def _number(value: Any, *, commas: bool = False) -> int | float | str:
    """A number as it is; decimal text stays text, which is exact."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return plain_number(value, commas=commas)
    raise ValueError


def _real(value: Any) -> float:
    number = float(_number(value))
    if math.isfinite(number):
        return number
    raise ValueError


def _threshold(value: Any) -> int | str:
    return "all" if value == "all" else _whole(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _text_or_number(value: Any) -> str | int | float:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    raise ValueError


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError


def _ids(value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError


WHOLE = Reader("a whole number", _whole)
SECONDS = Reader("a length of time such as 30s, 5min or 90", lambda value: float(duration_text(value)))
THRESHOLD = Reader("a whole number, or all", _threshold)
DURATION = Reader("a length such as 36h, 10d, 2w, 864000s or 864000", duration_text)
NUMBER = Reader("a number", _number)
REAL = Reader("a number", _real)
ONE_WHOLE = Reader("a whole number", partial(_whole, commas=True))
ONE_NUMBER = Reader("a number", partial(_number, commas=True))
TEXT = Reader("text", _text)
TEXT_OR_NUMBER = Reader("text or a number", _text_or_number)
FLAG = Reader("true or false", _flag)
IDS = Reader("a list of ids", _ids)


def several(reader: Reader, expects: str) -> Reader:
    """One value or several: a list, or text with commas. Commas between thousands are refused, not read as a list."""

    def read(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",")]
            if any(re.fullmatch("0[0-9]+", part) for part in value[1:]):
                raise ValueError
        return tuple(reader.read(each) for each in (value if isinstance(value, (list, tuple)) else [value]))

    return Reader(expects, read)


TIME_LIMIT = "time_limit"
"""The option that limits the time of every method; a parameter of those that count it themselves."""


@dataclasses.dataclass(frozen=True)
class Option:
    """A field of a request as the command line shows it.

    Attributes:
        metavar: what stands for its value in the help; None for a flag.
        repeats: it may be given several times.
        of_method: it is a parameter of the method, not part of the question.
    """

    reader: Reader
    help: str
    metavar: str | None
    repeats: bool
    of_method: bool


def option(
    reader: Reader,
    help: str,  # noqa: A002
    *,
    metavar: str | None = None,
    default: Any = None,
    repeats: bool = False,
    of_method: bool = False,
) -> Any:
    """A field of a request that is an option; see :class:`Option`."""
    if reader is FLAG:
        default, metavar = False, None
    elif metavar is None:
        metavar = "N" if reader in (WHOLE, ONE_WHOLE) else "TEXT"
    described = Option(reader, help, metavar, repeats, of_method)
    return dataclasses.field(default=default, metadata={"option": described})


@dataclasses.dataclass(frozen=True)
class Explainable:
    """A kind of thing that ``explain`` explains: what is asked about it, and how one is named."""

    help: str
    metavar: str = "ID"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request(Generic[P]):
    """A question to one family, with the method and the bound to answer it with.

    Attributes:
        parameters: by name of a method, its parameters.
    """

    family: ClassVar[str]
    explainables: ClassVar[Mapping[str, Explainable]] = {}

    method: str | None = option(TEXT, "See 'pubplan methods'.")
    bound: str | None = option(TEXT, "What to prove the answer with, or none.")
    time_limit: float | None = option(
        SECONDS,
        "How long the method may take, such as 30s or 5min; then it stops with the best plan so far, or without one.",
        metavar="LENGTH",
        of_method=True,
    )
    parameters: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @classmethod
    def options(cls) -> dict[str, Option]:
        """The options by name: the family's first, then those of every family."""
        shared = {field.name for field in dataclasses.fields(Request)}
        fields = sorted(dataclasses.fields(cls), key=lambda field: field.name in shared)
        return {field.name: field.metadata["option"] for field in fields if "option" in field.metadata}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], *, methods: Iterable[str] = (), source: str = "") -> Self:
        """The request that named values make.

        Args:
            values: options by name; None leaves one out. The name of a method has a table of its parameters.
            methods: the names of the family's methods.
            source: where the values are from, as the beginning of a refusal: a file and its table.

        Raises:
            InputError: a name is unknown (says the nearest known one), or a value is of another type.
        """
        options, methods = cls.options(), tuple(methods)
        read: dict[str, Any] = {}
        tables: dict[str, Mapping[str, Any]] = {}
        for name, value in values.items():
            if name in methods:
                if not isinstance(value, Mapping):
                    raise InputError(f"{source}{name} must be a table of parameters, not {value!r}.")
                tables[name] = value
            elif name not in options:
                raise InputError(source + unknown_name("parameter", name, [*options, *methods]))
            elif value is not None:
                read[name] = _read(options[name], name, value, source)
        return cls(**read, parameters=tables)

    @classmethod
    def from_plan(cls, parameters: Mapping[str, Any]) -> Self:
        """The request that a plan's parameters describe.

        Raises:
            InputError: a value is of another type.
            KeyError: one is missing.
        """
        names = [name for name, described in cls.options().items() if not described.of_method]
        asked = [name for name in names if name not in cls.not_in_plans()]
        return cls.from_mapping({name: parameters[name] for name in asked}, source="parameters: ")

    @classmethod
    def not_in_plans(cls) -> frozenset[str]:
        """Options that a plan does not state under their names."""
        return frozenset(("method", "bound"))

    def with_values(self, values: Mapping[str, Any], *, source: str = "") -> Self:
        """The same request with some options given otherwise; None leaves one as it is.

        Raises:
            InputError: a value is of another type.
        """
        options = self.options()
        read = {name: _read(options[name], name, v, source) for name, v in values.items() if v not in (None, False)}
        return dataclasses.replace(self, **read)

    def problem(self, workload: Workload) -> P:
        """The problem that is asked about a workload.

        Raises:
            InputError: a value is missing or out of range.
        """
        raise NotImplementedError

    def method_parameters(self, method: Method[Any, Any, Any]) -> dict[str, Any]:
        """What was given for a method's parameters: in its table, and by options that are parameters of methods."""
        options = self.options()
        given = {name: getattr(self, name) for name in options if options[name].of_method}
        if TIME_LIMIT not in {field.name for field in dataclasses.fields(method.parameters)}:
            del given[TIME_LIMIT]  # holds for every method; those without such a parameter are stopped from outside
        return {**self.parameters.get(method.name, {}), **{k: v for k, v in given.items() if v is not None}}

    @property
    def is_comparison(self) -> bool:
        """Whether it asks for a table of several answers instead of a plan."""
        return False

    @property
    def comparison_method(self) -> str:
        """The name of the method that a comparison runs."""
        raise NotImplementedError

    def compare(self, workload: Workload, seed: int, spark: SparkSession | None) -> tuple[Sequence[Any], list[str]]:
        """The answers of a comparison, for JSON, and the same as lines of text."""
        raise NotImplementedError

    def refine(self, problem: P, method: Method[Any, Any, Any], seed: int, spark: SparkSession | None) -> P:
        """The problem to plan for, where that has to be searched for with the method."""
        return problem

    def summarise(self, problem: P, result: Result, spark: SparkSession | None) -> Explanation:
        """What the plan says, for people: facts that its record does not have, and sentences."""
        raise NotImplementedError


def _read(described: Option, name: str, value: Any, source: str) -> Any:
    try:
        return described.reader.read(value)
    except ValueError as error:
        label = name if source else argument(name)
        shown = one_line(value if isinstance(value, str) else repr(value))
        raise InputError(f"{source}{label} must be {described.reader.expects}, not '{shown}'.") from error
