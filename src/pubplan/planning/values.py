"""The values every family speaks in: what is asked, what is answered, and how far the answer can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, Literal, Protocol

import pyarrow as pa

from pubplan.engine import block_range, num_blocks
from pubplan.errors import Reason, Violation, one_line
from pubplan.workload import Workload

Sense = Literal["max", "min"]

MAX_SENTENCE_LENGTH = 1000
"""Characters of an explanation's sentence that are shown; ids may be as long as they like."""


class Problem(Protocol):
    """A frozen question: a workload, limits, an objective."""

    @property
    def workload(self) -> Workload: ...

    @property
    def sense(self) -> Sense: ...

    @property
    def unit(self) -> str:
        """What objectives count."""

    def check(self) -> None:
        """Read what it takes to know that the problem can be planned for.

        Raises:
            InputError: the workload has values that cannot be planned with, or lacks what the problem names.
            Infeasible: no plan can keep the limits.
        """

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

    @classmethod
    def of(cls, table: pa.Table) -> BlockTable:
        """A table that is in memory, cut into blocks; one without rows has an empty block."""

        def make(block: int) -> pa.Table:
            first, last = block_range(block, table.num_rows)
            return table.slice(first, last - first)

        return cls(max(1, num_blocks(table.num_rows)), make)


@dataclass(frozen=True)
class Certificate:
    """A bound no plan can beat, and what a third party needs to check it.

    ``evidence`` is small and goes into JSON; ``blocks`` hold multipliers and duals where there are many.
    """

    name: str
    bound: Exact
    evidence: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, BlockTable] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """What a method hands back: decisions, what it says they are worth, why it stopped, and bounds it came across."""

    decisions: Mapping[str, pa.Table | BlockTable]
    claimed: Exact
    trajectory: pa.Table | None = None
    reasons: tuple[Reason, ...] = ()
    deterministic: bool = True
    certificates: tuple[Certificate, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The outcome of an independent evaluation: the objective recomputed, and every promise that is broken."""

    objective: Exact
    violations: tuple[Violation, ...] = ()

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


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a plan does with one thing what it does: numbers by name, and the same in sentences.

    Attributes:
        facts: numbers and names that can be written as JSON.
        sentences: the same for people; ``print`` shows one per line.
    """

    facts: Mapping[str, Any]
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(one_line(sentence, MAX_SENTENCE_LENGTH) for sentence in self.sentences)

    def __repr__(self) -> str:
        return f"Explanation({one_line(' '.join(self.sentences))!r})"

    def _repr_html_(self) -> str:
        """A paragraph per sentence, for notebooks."""
        return "".join(f"<p>{escape(one_line(sentence, MAX_SENTENCE_LENGTH))}</p>" for sentence in self.sentences)


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
