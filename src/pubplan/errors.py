"""The one exception tree, and the reasons that refusals carry.

Every message is a sentence for the person at the terminal: what was found, what was expected, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any


class PubplanError(Exception):
    """Anything pubplan refuses or cannot do, said in a sentence."""


class InputError(PubplanError):
    """What was given cannot be used: a file, a directory, an option, a value."""


class NotApplicable(InputError):
    """The method exists but cannot answer this problem."""


class EngineError(PubplanError):
    """The machinery failed: no Java, a broken Spark session, too little memory."""


class StalePlan(PubplanError):
    """The plan was made for another workload."""


@dataclass(frozen=True)
class Reason:
    """Why something was refused, dropped or is binding.

    ``limit`` names the rule, ``need`` what it would have taken, ``have`` what there was, ``where`` the topic,
    subscriber, machine or file concerned (empty when the whole problem is).
    """

    limit: str
    need: int | float | str
    have: int | float | str
    where: str = ""

    def __str__(self) -> str:
        place = f" at {self.where}" if self.where else ""
        return f"{self.limit}{place}: needs {self.need}, has {self.have}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class _WithReasons(PubplanError):
    def __init__(self, message: str, reasons: Iterable[Reason] = ()) -> None:
        super().__init__(message, tuple(reasons))
        self.message = message
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {reason}" for reason in self.reasons)])


class Infeasible(_WithReasons):
    """No plan can keep the limits; ``reasons`` say which and by how much."""


class VerificationFailed(_WithReasons):
    """A plan breaks its promises; ``reasons`` are the violations found."""


def one_line(text: str, longest: int = 80) -> str:
    """Anybody's text as one harmless line: control characters escaped, very long ones cut."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"There is no {kind} '{name}'.{hint} Known: {', '.join(names)}."
