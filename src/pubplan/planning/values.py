"""The values every family speaks in: what is asked, what is answered, and how far the answer can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import Reason
from pubplan.workload import Workload

Sense = Literal["max", "min"]


class Problem(Protocol):
    """A frozen question: a workload, limits, an objective."""

    @property
    def workload(self) -> Workload: ...

    @property
    def sense(self) -> Sense: ...

    @property
    def unit(self) -> str:
        """What objectives count."""

    def to_parameters(self) -> dict[str, Any]:
        """What it takes to ask the same question of the same workload again, as JSON."""


@dataclass(frozen=True)
class Exact:
    """A number as an integer over a scale: compared with ``==``, shown as a float."""

    value: int
    scale: int = 1

    @property
    def fraction(self) -> Fraction:
        return Fraction(self.value, self.scale)

    def __float__(self) -> float:
        return self.value / self.scale

    def rounded_up(self) -> float:
        nearest = float(self)
        return nearest if Fraction(nearest) >= self.fraction else math.nextafter(nearest, math.inf)

    def rounded_down(self) -> float:
        return 0.0 - Exact(-self.value, self.scale).rounded_up()  # never -0.0

    def to_dict(self) -> dict[str, int]:
        return {"value": self.value, "scale": self.scale}


@dataclass(frozen=True)
class BlockTable:
    """A table too big for one process: ``make(block)`` gives a part of it, here or in a task."""

    num_blocks: int
    make: Callable[[int], pa.Table]


@dataclass(frozen=True)
class Certificate:
    """A bound no plan can beat, and what a third party needs to check it.

    ``evidence`` is small and goes into JSON; ``blocks`` hold multipliers and duals where there are many. ``curve``,
    where there is one, bounds the objective for other limits than the problem's. ``parts`` are bounds for each of
    several choices, where the bound is the best of them; they are not written.
    """

    name: str
    bound: Exact
    evidence: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, BlockTable] = field(default_factory=dict)
    curve: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]] | None = None
    parts: Mapping[str, Exact] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """What a method hands back: decisions, its own count of their worth, why it stopped, and bounds it came across.

    ``aside`` is what else it found that the family's bounds can use; it is not written.
    """

    decisions: Mapping[str, pa.Table | BlockTable]
    claimed: Exact
    trajectory: pa.Table | None = None
    reasons: tuple[Reason, ...] = ()
    deterministic: bool = True
    certificates: tuple[Certificate, ...] = ()
    aside: Any = None


@dataclass(frozen=True)
class Verdict:
    """What an independent evaluation found: the objective recomputed, and every promise that is broken."""

    objective: Exact
    violations: tuple[Reason, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "objective": float(self.objective),
            "exact": self.objective.to_dict(),
            "violations": [violation.to_dict() for violation in self.violations],
        }


@dataclass(frozen=True)
class Explanation:
    """Why a plan does with one thing what it does: numbers by name, and the same in sentences."""

    facts: Mapping[str, Any]
    sentences: tuple[str, ...]


def tightest(bounds: Mapping[str, Exact], sense: Sense) -> Exact | None:
    """The best of several bounds: the smallest when maximising, the largest when minimising."""
    if not bounds:
        return None
    choose = min if sense == "max" else max
    return choose(bounds.values(), key=lambda bound: bound.fraction)


def gap(objective: Exact, bound: Exact | None) -> float | None:
    """|objective - bound| / bound: 0 when both are 0, None without a bound."""
    if bound is None:
        return None
    if bound.value == 0:
        return 0.0 if objective.value == 0 else None
    return float(abs(objective.fraction - bound.fraction) / bound.fraction)
