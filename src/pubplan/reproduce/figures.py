"""What a reproduction consists of: figures with our values, and the paper's beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

TOLERANCE = 0.02
"""Shares that differ from the paper's by more than this are told, and percentages by as many points."""
RELATIVE_TOLERANCE = 0.1
"""Other values that differ from the paper's by more than this share of it are told."""

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
        name: of whom; lines of one name have one colour.
        what: which of their values.
        paper: what the paper prints for it, where it prints a number.
        is_bound: whether it tells what could be reached rather than what was.
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

    ``sign`` stands behind each x where it has one, such as a percent sign; ``is_log`` makes y logarithmic. A table has
    the names of its columns for x, and is not drawn.
    """

    name: str
    title: str
    x: str
    sign: str
    at: tuple[int | str, ...]
    y: str
    unit: Unit
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    is_log: bool = False

    @property
    def is_table(self) -> bool:
        return any(isinstance(at, str) for at in self.at)

    def told_at(self, at: int | str) -> str:
        """A value of x as text."""
        return at if isinstance(at, str) else f"{at:,}{self.sign}"

    def told(self, value: float) -> str:
        """A value of y as text; what rounds to 0 has no sign."""
        text = f"{value:{'.3g' if self.is_log else FORMATS[self.unit]}}"
        return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text

    def differences(self) -> list[str]:
        """A sentence for every value that is not the paper's."""
        return [
            f"{line.label}{self._place(at)}: {self.told(value)} here, {printed:g} in the paper."
            for line in self.lines
            for at, value, printed in zip(self.at, line.values, line.paper or (None,) * len(self.at), strict=True)
            if value is not None and printed is not None and self._differ(value, printed)
        ]

    def _place(self, at: int | str) -> str:
        return f", {at}" if isinstance(at, str) else f" at {self.x} {at}{self.sign}"

    def _differ(self, value: float, printed: float) -> bool:
        if self.is_log or self.unit not in ("share", "percent"):
            return abs(value - printed) > RELATIVE_TOLERANCE * abs(printed)
        return abs(value - printed) > TOLERANCE * (100 if self.unit == "percent" else 1)

    def with_notes(self, why: str, *others: str) -> Figure:
        """The figure with its differences, the reason for them if there are any, and other sentences."""
        found = self.differences()
        return replace(self, notes=(*found, *((why,) if found else ()), *others))


@dataclass(frozen=True)
class Reproduction:
    """The figures of one paper, and the setting in which they were made."""

    paper: str
    source: str
    setting: Mapping[str, Any]
    figures: tuple[Figure, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
