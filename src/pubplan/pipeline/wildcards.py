"""Subscriptions with wildcards, as NATS and MQTT have them, over the topics that are known."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Literal

import numpy as np
import pyarrow as pa

from pubplan.workload import Int64Array

Syntax = Literal["nats", "mqtt"]

_SEPARATOR = {"nats": b".", "mqtt": b"/"}
_ONE_TOKEN = {"nats": b"*", "mqtt": b"+"}
_REMAINDER = {"nats": b">", "mqtt": b"#"}


class Wildcards:
    """Matches subscriptions against topics.

    NATS: ``*`` is one token, ``>`` the rest, at least one token. MQTT: ``+`` is one level, ``#`` the rest, which may be
    nothing; a wildcard at the first level does not match topics that begin with ``$``.
    """

    def __init__(self, syntax: Syntax, topics: pa.Array) -> None:
        self._syntax = syntax
        self._topics: list[bytes] = topics.cast(pa.binary()).to_pylist()  # ascending by their bytes

    def is_pattern(self, name: bytes) -> bool:
        """Whether a subscription has a wildcard in it."""
        tokens = name.split(_SEPARATOR[self._syntax])
        return _REMAINDER[self._syntax] == tokens[-1] or _ONE_TOKEN[self._syntax] in tokens

    def matches(self, pattern: bytes) -> Int64Array:
        """The numbers of the topics that a pattern matches, ascending."""
        separator, one, rest = (table[self._syntax] for table in (_SEPARATOR, _ONE_TOKEN, _REMAINDER))
        tokens = pattern.split(separator)
        has_rest = tokens[-1] == rest
        fixed = tokens[:-1] if has_rest else tokens
        within = b"[^%b]%b" % (re.escape(separator), b"+" if self._syntax == "nats" else b"*")
        parts = [within if token == one else re.escape(token) for token in fixed]
        expression = re.escape(separator).join(parts)
        if has_rest and self._syntax == "nats":
            expression += (re.escape(separator) if fixed else b"") + b".+"
        elif has_rest:
            expression = expression + b"(?:%b.*)?" % separator if fixed else b".*"
        if self._syntax == "mqtt" and tokens[0] in (one, rest):
            expression = rb"(?!\$)" + expression
        prefix = separator.join(_literal(fixed, one))
        first = bisect_left(self._topics, prefix)
        matcher = re.compile(expression, re.DOTALL)
        numbers = []
        for number in range(first, len(self._topics)):
            if not self._topics[number].startswith(prefix):
                break
            if matcher.fullmatch(self._topics[number]):
                numbers.append(number)
        return np.array(numbers, dtype=np.int64)


def _literal(tokens: list[bytes], one: bytes) -> list[bytes]:
    """The tokens before the first wildcard."""
    return tokens[: tokens.index(one)] if one in tokens else tokens
