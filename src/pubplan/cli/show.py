"""How commands answer: JSON or sentences on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any


def answer(value: Any, text: str, as_json: bool) -> None:
    """Print ``value`` as JSON, or ``text`` for people."""
    line = json.dumps(value, indent=2) if as_json else text
    # A name may hold anything; what the terminal cannot show is escaped rather than fatal.
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, errors="backslashreplace").decode(encoding))


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Rows as lines whose columns stand under each other: to the right, or to the ``left`` those named."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
