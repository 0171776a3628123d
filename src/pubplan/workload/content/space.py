"""The space of events: attributes on integer grids, on which volumes are exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

from pubplan.errors import InputError
from pubplan.workload.tables import Int64Array

MAX_VOLUME = 2**52
"""The largest volume of a space, in grid steps. The volume of five boxes together has 31 terms by inclusion and
exclusion, and a plan adds up a thousand such volumes; 2^52 keeps all of it within 64 bits.
"""

MAX_STEPS = 2**31 - 1
"""The most grid steps of an attribute: corners have 32 bits."""

MAX_DENSITY_CELLS = 1 << 22
MAX_ATTRIBUTES = 16


@dataclass(frozen=True)
class Attribute:
    """One dimension of the space: value ``origin`` + k x ``step`` lies on grid line k, from 0 to ``steps``.

    ``origin`` and ``step`` are decimal numbers as text, which is exact.
    """

    name: str
    steps: int
    origin: str = "0"
    step: str = "1"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"An attribute has a name, not {self.name!r}.")
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or not 1 <= self.steps <= MAX_STEPS:
            raise InputError(f"The attribute {self.name!r} has 1 to {MAX_STEPS:,} grid steps, not {self.steps!r}.")
        for noun, text in (("origin", self.origin), ("step", self.step)):
            if not _is_decimal(text) or (noun == "step" and Decimal(text) <= 0):
                raise InputError(
                    f"The {noun} of the attribute {self.name!r} is a decimal number as text, not {text!r}."
                )

    def value(self, line: int) -> Decimal:
        """The value on a grid line."""
        return Decimal(self.origin) + line * Decimal(self.step)


def _is_decimal(text: object) -> bool:
    try:
        return isinstance(text, str) and Decimal(text).is_finite()
    except InvalidOperation:
        return False


@dataclass(frozen=True)
class Space:
    """The attributes of events, and the cells in which published messages are counted, if they are.

    Raises:
        InputError: the grid is too fine for exact volumes, a name occurs twice, or cells do not divide the grid.
    """

    attributes: tuple[Attribute, ...]
    cells: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.attributes) <= MAX_ATTRIBUTES:
            raise InputError(f"A space has 1 to {MAX_ATTRIBUTES} attributes, not {len(self.attributes)}.")
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names):
            raise InputError(f"Attributes of a space have different names, not {', '.join(names)}.")
        if self.volume > MAX_VOLUME:
            largest = min(MAX_STEPS, math.floor(MAX_VOLUME ** (1 / self.num_dimensions)))
            steps = " x ".join(f"{steps:,}" for steps in self.extents)
            raise InputError(
                f"The grid is too fine for exact volumes: {steps} steps are more than 2^52. "
                f"Use coarser steps: {largest:,} per attribute fit."
            )
        if self.cells is not None:
            self._check_cells(self.cells)

    def _check_cells(self, cells: tuple[int, ...]) -> None:
        if len(cells) != self.num_dimensions or math.prod(cells) > MAX_DENSITY_CELLS:
            raise InputError(
                f"A density counts messages in up to {MAX_DENSITY_CELLS:,} cells with a number of cells per attribute, "
                f"not {cells}."
            )
        for attribute, number in zip(self.attributes, cells, strict=True):
            if number < 1 or attribute.steps % number:
                raise InputError(
                    f"The cells of a density divide the grid: {number} cells do not divide the "
                    f"{attribute.steps:,} steps of {attribute.name!r}."
                )

    @property
    def num_dimensions(self) -> int:
        return len(self.attributes)

    @property
    def extents(self) -> tuple[int, ...]:
        """Grid steps per attribute."""
        return tuple(attribute.steps for attribute in self.attributes)

    @property
    def volume(self) -> int:
        return math.prod(self.extents)

    @property
    def num_cells(self) -> int:
        """How many cells a density has; 0 without one."""
        return 0 if self.cells is None else math.prod(self.cells)

    @property
    def cell_widths(self) -> tuple[int, ...]:
        """Grid steps per cell and attribute; without a density the whole space is one cell."""
        cells = self.cells or (1,) * self.num_dimensions
        return tuple(steps // number for steps, number in zip(self.extents, cells, strict=True))

    def to_dict(self) -> dict[str, Any]:
        attributes = [
            {"name": each.name, "origin": each.origin, "step": each.step, "steps": each.steps}
            for each in self.attributes
        ]
        return {"attributes": attributes, "density": None if self.cells is None else {"cells": list(self.cells)}}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Space:
        """Raises InputError, KeyError or TypeError where ``raw`` is not what :meth:`to_dict` gives."""
        density = raw["density"]
        cells = None if density is None else tuple(density["cells"])
        return cls(tuple(Attribute(**attribute) for attribute in raw["attributes"]), cells)


def volumes(lows: npt.NDArray[np.integer], highs: npt.NDArray[np.integer]) -> Int64Array:
    """The volumes of boxes given as rows of corners, which lie in a space of at most 2^52 steps."""
    extents = highs.astype(np.int64) - lows.astype(np.int64)
    product: Int64Array = np.multiply.reduce(extents, axis=1, dtype=np.int64)
    return product


def unit_space(*extents: int, names: Sequence[str] = "xyz") -> Space:
    """A space of integers from 0 on, for examples and tests."""
    return Space(tuple(Attribute(name, steps) for name, steps in zip(names, extents, strict=False)))
