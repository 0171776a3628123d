"""Grids: equal steps that the values of an attribute are rounded to, given or derived from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.decimals import MAX_DIGITS, MAX_SCALED, Decimals
from pubplan.workload import MAX_VOLUME, Attribute, Int64Array, Space
from pubplan.workload.content.space import MAX_STEPS

DEFAULT_STEPS = 10_000
MIN_STEPS = 2
"""A range around 0 has a line at 0, whatever the step."""
DEFAULT_CELLS = 20
MAX_DEFAULT_CELLS = 1 << 18
"""The most cells of all attributes together where their numbers are not given."""

_EXACT = Context(prec=2000, Emax=MAX_EMAX, Emin=MIN_EMIN)
_MAX_EXPONENT = 400
"""Numbers of a grid lie between 10^-400 and 10^400: beyond the range of floating-point numbers."""


@dataclass(frozen=True)
class Grid:
    """Equal steps of an attribute: value ``origin`` + k x ``step`` lies on line k, from 0 to ``steps``."""

    origin: Decimal
    step: Decimal
    steps: int

    @classmethod
    def parse(cls, text: str) -> tuple[str, Grid]:
        """``price=ORIGIN:STEP:STEPS`` as the attribute and its grid.

        Raises:
            InputError: it is not that, or the grid has more digits than can be computed with exactly.
        """
        name, _, rest = text.partition("=")
        numbers = rest.split(":")
        try:
            origin, step, steps = (Decimal(number) for number in numbers)
            is_grid = origin.is_finite() and step.is_finite() and step > 0 and 0 < steps < MAX_SCALED
            is_grid = is_grid and steps == int(steps)
        except (InvalidOperation, ValueError):
            is_grid = False
        if not name or not is_grid:
            raise InputError(
                f"{argument('grid')} takes NAME=ORIGIN:STEP:STEPS, such as price=0:0.5:200 for 0 to 100 in steps of "
                f"0.5, not '{text}'."
            )
        grid = cls(origin, step, int(steps))
        grid.check(name)
        return name, grid

    def check(self, name: str) -> None:
        """Refuse a grid whose lines cannot be computed with exactly.

        Raises:
            InputError: they need more than 18 digits.
        """
        exponents = [self.origin.adjusted() if self.origin else 0, self.step.adjusted(), -self.digits]
        if max(map(abs, exponents)) > _MAX_EXPONENT or max(abs(self._first), abs(self._last)) >= MAX_SCALED:
            raise InputError(
                f"The lines of the grid of {name} have more than {MAX_DIGITS} digits; choose an origin that is a "
                f"multiple of the step, or a coarser step."
            )

    @cached_property
    def digits(self) -> int:
        """All lines are whole numbers of 10^-``digits``."""
        numbers = [number.normalize(_EXACT).as_tuple().exponent for number in (self.origin, self.step) if number]
        return -min(int(exponent) for exponent in numbers)

    @property
    def _first(self) -> int:
        return int(self.origin.scaleb(self.digits, context=_EXACT))

    @property
    def _width(self) -> int:
        return int(self.step.scaleb(self.digits, context=_EXACT))

    @property
    def _last(self) -> int:
        return self._first + self.steps * self._width

    def attribute(self, name: str) -> Attribute:
        return Attribute(name, self.steps, _plain(self.origin), _plain(self.step))

    def option(self, name: str) -> str:
        """As the option spells it, see :meth:`parse`."""
        return f"{name}={_plain(self.origin)}:{_plain(self.step)}:{self.steps}"

    def is_outside(self, values: Decimals) -> npt.NDArray[np.bool_]:
        """Which numbers (in units of ``digits``) lie before the first line or behind the last one."""
        outside: npt.NDArray[np.bool_] = (values.floors < self._first) | (values.ceilings > self._last)
        return outside

    def lines(self, lows: Decimals, highs: Decimals) -> tuple[Int64Array, Int64Array]:
        """The least ranges of steps that hold the given ones; a range without extent becomes the step it lies in.

        Args:
            lows, highs: numbers in units of ``digits``; what comes out for those outside the grid means nothing.
        """
        floors, ceilings = (np.clip(values, self._first, self._last) for values in (lows.floors, highs.ceilings))
        low = np.minimum((floors - self._first) // self._width, self.steps - 1)
        high = -((self._first - ceilings) // self._width)
        return low, np.maximum(high, low + 1)

    def steps_of(self, values: Decimals) -> Int64Array:
        """The step in which each number lies; one on the last line lies in the last step."""
        return self.lines(values, values)[0]


def _plain(number: Decimal) -> str:
    """A number in one spelling: digits where that is short, otherwise with an exponent."""
    number = number.normalize(_EXACT)
    text = format(number, "f")
    return ("0" if not number else text) if len(text) <= 2 * MAX_DIGITS else str(number)


def derived_grid(low: Decimal, high: Decimal, most: int, cells: int = 1) -> Grid:
    """The finest grid from ``low`` to ``high`` with at most ``most`` steps of 1, 2 or 5 x 10^k.

    Its origin is a multiple of its step, the number of its steps one of ``cells``, its lines have up to 18 digits.

    Raises:
        InputError: the numbers are so large, or so small, that no grid is meant.
    """
    if any(abs(value.adjusted()) > _MAX_EXPONENT for value in (low, high) if value):
        raise InputError(
            f"No grid can be derived for values from {low:.6g} to {high:.6g}; give one with {argument('grid')}."
        )
    most = max(MIN_STEPS, cells, most // cells * cells)
    extent = _EXACT.subtract(high, low)
    exponent = extent.adjusted() - len(str(most)) - 1 if extent else low.adjusted()
    while True:
        for factor in (1, 2, 5):
            step = Fraction(factor) * Fraction(10) ** exponent
            first, last = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
            steps = -(-max(1, last - first) // cells) * cells
            if steps <= most and max(abs(first), abs(first + steps)) * factor < MAX_SCALED:
                width = Decimal((0, (factor,), exponent))
                return Grid(_EXACT.multiply(Decimal(first), width), width, steps)
        exponent += 1


def default_steps(given: Iterable[int], num_derived: int) -> int:
    """The most steps of each derived grid next to the given ones: all together must allow exact volumes.

    Raises:
        InputError: the given ones leave no room.
    """
    room = MAX_VOLUME // math.prod(given)
    steps = DEFAULT_STEPS
    while steps > MIN_STEPS and steps**num_derived > room:
        steps -= 1
    if steps**num_derived > room:
        raise InputError("The grids given are too fine for exact volumes. Use coarser steps.")
    return steps


def default_cells(steps: int, num_dimensions: int) -> int:
    """Into how many cells an attribute is cut: the largest number up to a limit that divides its steps."""
    return max(cells for cells in range(1, most_cells(num_dimensions) + 1) if steps % cells == 0)


def most_cells(num_dimensions: int) -> int:
    cells = DEFAULT_CELLS
    while cells**num_dimensions > MAX_DEFAULT_CELLS:
        cells -= 1
    return cells


def make_space(grids: Mapping[str, Grid], cells: Mapping[str, int] | None) -> Space:
    """The space of these attributes; with ``cells``, messages are counted in that many per attribute.

    Raises:
        InputError: the grid is too fine for exact volumes; names steps that are not. Or cells do not divide it.
    """
    check_volume(grids)
    attributes = tuple(grid.attribute(name) for name, grid in grids.items())
    return Space(attributes, None if cells is None else tuple(cells[name] for name in grids))


def check_volume(grids: Mapping[str, Grid]) -> None:
    """Refuse grids whose steps multiply to more than 2^52, or do not fit 32 bits, naming some that fit."""
    factor = 1
    while not _is_exact([-(-grid.steps // factor) for grid in grids.values()]):
        factor *= 2
    if factor == 1:
        return
    is_product = math.prod(grid.steps for grid in grids.values()) > MAX_VOLUME
    limit = "2^52" if is_product else f"{MAX_STEPS:,} for one attribute"
    coarser = {
        name: Grid(grid.origin, _EXACT.multiply(grid.step, Decimal(factor)), -(-grid.steps // factor))
        for name, grid in grids.items()
        if is_product or grid.steps > MAX_STEPS
    }
    options = " ".join(argument("grid", grid.option(name)) for name, grid in coarser.items())
    steps = " x ".join(f"{grid.steps:,}" for grid in grids.values())
    raise InputError(
        f"The grid is too fine for exact volumes: {steps} steps are more than {limit}. Steps that are {factor} times "
        f"as wide fit: {options}."
    )


def _is_exact(steps: Sequence[int]) -> bool:
    """Whether volumes on a grid of that many steps per attribute are exact."""
    return math.prod(steps) <= MAX_VOLUME and max(steps, default=0) <= MAX_STEPS


def parse_cells(texts: Sequence[str]) -> dict[str, int]:
    """``["price=20"]`` as ``{"price": 20}``.

    Raises:
        InputError: one is not a name and a whole number.
    """
    cells = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal() or int(number) < 1:
            raise InputError(f"{argument('cells')} takes NAME=NUMBER, such as price=20, not '{text}'.")
        cells[name] = int(number)
    return cells
