"""How commands fail: a sentence on stderr, an exit code, and with ``--json`` the same as an object on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from pubplan.cli.spelling import in_options
from pubplan.errors import (
    EngineError,
    Infeasible,
    InputError,
    NotApplicable,
    PubplanError,
    StalePlan,
    VerificationFailed,
)

EXIT_CODES: dict[type[PubplanError], int] = {
    InputError: 2,
    Infeasible: 3,
    VerificationFailed: 4,
    StalePlan: 5,
}
UNEXPECTED = 1

KINDS: dict[type[Exception], str] = {
    NotApplicable: "not_applicable",
    InputError: "input",
    Infeasible: "infeasible",
    VerificationFailed: "verification_failed",
    StalePlan: "stale",
    EngineError: "engine",
    OSError: "system",
    MemoryError: "memory",
}
"""What an error is called in JSON; the first that fits. What the command line cannot parse is called ``usage``, what a
signal or a time limit ends ``interrupted``."""

USAGE = "usage"
INTERRUPTED = "interrupted"


def exit_code_of(error: Exception) -> int:
    """What a failure means to a shell."""
    if isinstance(error, OSError):
        return EXIT_CODES[InputError]
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), UNEXPECTED)


def sentence_of(error: Exception) -> str:
    """A failure for people, with its reasons below it."""
    if isinstance(error, OSError):
        path = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or error}{path}."
    if isinstance(error, MemoryError):
        return "not enough memory for this."
    if isinstance(error, PubplanError):
        return "\n".join([error.text(in_options), *(f"  {reason}" for reason in getattr(error, "reasons", ()))])
    return str(error)


def fail(error: Exception, arguments: Sequence[str]) -> int:
    """Say what failed, and give the exit code."""
    print(f"pubplan: {sentence_of(error)}", file=sys.stderr)
    if wants_json(arguments):
        kind = next((name for type_, name in KINDS.items() if isinstance(error, type_)), "unexpected")
        reasons = getattr(error, "reasons", ())
        message = error.text(in_options) if isinstance(error, PubplanError) else sentence_of(error)
        print_error(kind, message, [{**reason.to_dict(), "sentence": str(reason)} for reason in reasons])
    return exit_code_of(error)


def fail_usage(end: SystemExit, arguments: Sequence[str]) -> int:
    """The exit code of a command line that ended by itself; what it could not parse was said already."""
    message = getattr(end.__context__, "format_message", None)
    if end.code == EXIT_CODES[InputError] and message is not None and wants_json(arguments):
        print_error(USAGE, message(), [])
    return end.code if isinstance(end.code, int) else UNEXPECTED


def fail_interrupted(sentence: str, code: int, arguments: Sequence[str]) -> int:
    """Say what an interrupted command left, and give the exit code."""
    print(sentence, file=sys.stderr)
    if wants_json(arguments):
        print_error(INTERRUPTED, sentence.removeprefix("pubplan: "), [])
    return code


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the answer is for a program."""
    return "--json" in arguments


def print_error(kind: str, message: str, reasons: list[dict[str, Any]]) -> None:
    """The failure as JSON, where the answer would have been."""
    print(json.dumps({"error": {"kind": kind, "message": message, "reasons": reasons}}, indent=2))
