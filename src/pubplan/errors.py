"""The one exception tree, and the reasons that refusals carry.

Every message is a sentence for the person at the terminal: what is wrong, what was expected, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from pubplan.arguments import Speller, in_python, spelt


class PubplanError(Exception):
    """Anything pubplan refuses or cannot do, said in a sentence."""

    def __str__(self) -> str:
        return self.text(in_python)

    def text(self, speller: Speller) -> str:
        """The sentence, with the arguments that it names as ``speller`` writes them."""
        return spelt(str(self.args[0]) if self.args else "", speller)


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
    """Why something was refused or is binding: a limit.

    Attributes:
        limit: the name of the limit.
        need: what it would have taken.
        have: what there was, or what was left.
        where: the topic, subscriber, machine or file concerned; empty when the whole problem is.
        sentence: the same for people, with units, without a full stop; made from the rest where it is empty.
    """

    limit: str
    need: int | float | str
    have: int | float | str
    where: str = ""
    sentence: str = ""

    def __str__(self) -> str:
        if self.sentence:
            return self.sentence
        concerned = f", for {self.where}" if self.where else ""
        return f"{self.limit}: {_shown(self.need)} needed, {_shown(self.have)} available{concerned}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Violation:
    """A promise that a plan breaks.

    Attributes:
        fault: what is wrong, as a noun phrase: "subscribers not satisfied", "wrong objective".
        where: the table, file, topic or machine concerned.
        cases: how often, where that can be counted.
        stated: what the plan says, where one value is wrong.
        expected: what it should say.
    """

    fault: str
    where: str = ""
    cases: int | None = None
    stated: int | float | str | None = None
    expected: int | float | str | None = None

    def __str__(self) -> str:
        text = self.fault if self.cases is None else f"{self.fault}: {_shown(self.cases)}"
        if self.where:
            text += f" ({self.where})"
        if self.stated is None and self.expected is None:
            return text
        stated = "nothing" if self.stated is None else _shown(self.stated)
        return f"{text}: the plan says {stated}" + ("" if self.expected is None else f", not {_shown(self.expected)}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _shown(value: float | str) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


class _WithReasons(PubplanError):
    def __init__(self, message: str, reasons: Iterable[Reason | Violation] = ()) -> None:
        super().__init__(message, tuple(reasons))
        self.reasons = tuple(reasons)

    @property
    def message(self) -> str:
        """The sentence without the reasons."""
        return self.text(in_python)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {reason}" for reason in self.reasons)])


class Infeasible(_WithReasons):
    """No plan can keep the limits; ``reasons`` say which and by how much."""


class VerificationFailed(_WithReasons):
    """A plan breaks its promises; ``reasons`` are the violations."""


def one_line(text: str, longest: int = 80) -> str:
    """Anybody's text as one harmless line: control characters escaped, very long ones cut."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def unknown_name(kind: str, name: str, known: Iterable[str], first: Iterable[str] = ()) -> str:
    """The sentence for a name that does not exist, with the nearest one that does.

    Of the names that begin as it does, one of ``first`` is meant rather than the nearest.
    """
    names = sorted(known)
    near = [each for each in first if name and each.startswith(name)] or get_close_matches(name, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"There is no {kind} '{name}'.{hint} Known: {', '.join(names)}."
