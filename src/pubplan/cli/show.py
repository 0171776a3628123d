"""How commands answer: JSON or sentences on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(value: Any, text: str, as_json: bool) -> None:
    """Print ``value`` as JSON, or ``text`` for people."""
    line = json.dumps(value, indent=2) if as_json else text
    if sys.stdout is None:  # closed by the shell: nobody listens
        return
    # A name may hold anything; what the terminal cannot show is escaped rather than fatal.
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, errors="backslashreplace").decode(encoding))
