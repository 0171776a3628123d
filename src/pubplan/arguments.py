"""Arguments and functions that messages name, spelt by whoever shows them.

Where something is refused, nobody knows who asked: a program, or a person at a terminal. So a message carries the name
of what to change between two marks, and is spelt when it is shown: ``argument("threshold")`` is ``threshold`` in an
exception and ``--threshold`` on the command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_OPEN, _CLOSE = "\ue000", "\ue001"  # private use: no text means anything by them, and JSON escapes them
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")


@dataclass(frozen=True)
class Mention:
    """What a message names: an argument, with the value that it should have or None, or a public function."""

    name: str
    value: Any = None
    is_function: bool = False


Speller = Callable[[Mention], str]


def argument(name: str, value: Any = None) -> str:
    """An argument of a public function inside a message, with a value of plain JSON where one is to be passed."""
    return _marked([name, value])


def function(name: str) -> str:
    """A public function or module of ``pubplan`` inside a message."""
    return _marked([name])


def in_python(mention: Mention) -> str:
    """As a Python program writes it: ``threshold``, ``replace=True``, ``pubplan.ingest``."""
    if mention.is_function:
        return f"pubplan.{mention.name}"
    return mention.name if mention.value is None else f"{mention.name}={mention.value!r}"


def spelt(message: str, speller: Speller) -> str:
    """A message with everything it names written by ``speller``."""
    return _MARKED.sub(lambda match: _spelt_mark(match, speller), message)


def _marked(content: list[Any]) -> str:
    return f"{_OPEN}{json.dumps(content)}{_CLOSE}"


def _spelt_mark(match: re.Match[str], speller: Speller) -> str:
    try:
        name, *values = json.loads(match[1])
    except ValueError:  # somebody's file name
        return match[0]
    return speller(Mention(name, *values) if values else Mention(name, is_function=True))
