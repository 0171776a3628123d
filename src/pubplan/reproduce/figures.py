"""What a reproduction consists of: figures with our values, and the paper's next to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

SHARE_TOLERANCE = 0.02
"""Shares that differ from the paper's by more than this get a note, and percentages by as many points."""

RELATIVE_TOLERANCE = 0.1
"""Other values that differ from the paper's by more than this share of it get a note."""

Values = tuple[float | None, ...]
Unit = Literal["share", "seconds", "dollars", "VMs", "GB", "percent", "number"]

FORMATS: Mapping[Unit, str] = {
    "share": ".3f",
    "seconds": ".2f",
    "dollars": ",.2f",
    "VMs": ",.0f",
    "GB": ",.1f",
    "percent": ".1f",
    "number": ".3g",
}


@dataclass(frozen=True)
class Line:
    """One line of a figure: a value at each x, None where there is none.

    Attributes:
        name: whose values they are, such as a method's; lines of one name have one colour.
        what: which of their values.
        paper: what the paper prints for it, where it prints a number.
        is_bound: whether it is what no plan can beat rather than what a plan has.
    """

    name: str
    what: str
    values: Values
    paper: Values = ()
    is_bound: bool = False

    @property
    def label(self) -> str:
        return f"{self.name}, {self.what}"


@dataclass(frozen=True)
class Figure:
    """Lines over the same few values of x, and sentences on how they compare with the paper's.

    A table has the names of its columns as values of x, and is not drawn.

    Attributes:
        x_suffix: what is written behind each number of x, such as a percent sign.
        is_log: whether y is drawn on a logarithmic scale.
    """

    name: str
    title: str
    x: str
    x_suffix: str
    x_values: tuple[int | str, ...]
    y: str
    unit: Unit
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    is_log: bool = False

    @property
    def is_table(self) -> bool:
        return any(isinstance(x, str) for x in self.x_values)

    def format_x(self, x: int | str) -> str:
        """A value of x as text."""
        return x if isinstance(x, str) else f"{x:,}{self.x_suffix}"

    def format_y(self, value: float) -> str:
        """A value of y as text; what rounds to 0 has no sign."""
        text = f"{value:{'.3g' if self.is_log else FORMATS[self.unit]}}"
        return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text

    def differences(self) -> list[str]:
        """A sentence for every value that is not the paper's."""
        return [
            f"{line.label}{self._at(x)}: {self.format_y(value)} here, {printed:g} in the paper."
            for line in self.lines
            for x, value, printed in zip(self.x_values, line.values, self._printed(line), strict=True)
            if value is not None and printed is not None and self._differ(value, printed)
        ]

    def _printed(self, line: Line) -> Values:
        return line.paper or (None,) * len(self.x_values)

    def _at(self, x: int | str) -> str:
        return f", {x}" if isinstance(x, str) else f" at {self.x} {x}{self.x_suffix}"

    def _differ(self, value: float, printed: float) -> bool:
        if self.is_log or self.unit not in ("share", "percent"):
            return abs(value - printed) > RELATIVE_TOLERANCE * abs(printed)
        return abs(value - printed) > SHARE_TOLERANCE * (100 if self.unit == "percent" else 1)

    def with_notes(self, why: str, *others: str) -> Figure:
        """The figure with its differences, the reason for them if there are any, and other sentences."""
        differences = self.differences()
        return replace(self, notes=(*differences, *((why,) if differences else ()), *others))

    def to_dict(self) -> dict[str, Any]:
        """As ``figures.json`` has it: ``sign`` is the suffix of x and ``at`` its values."""
        keys = {"x_suffix": "sign", "x_values": "at"}
        return {keys.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Reproduction:
    """The figures of one paper, and the setting in which they were made."""

    paper: str
    source: str
    setting: Mapping[str, Any]
    figures: tuple[Figure, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "figures": tuple(figure.to_dict() for figure in self.figures)}
