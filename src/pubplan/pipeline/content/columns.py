"""Attributes of events as options name them, and the columns of sources that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.source import OPTIONAL, REQUIRED, Kind, Source

_TAKEN = {name for kind in (REQUIRED, OPTIONAL) for source in ("clients", "messages") for name in kind[source]}
"""Columns of the sources that also have columns of attributes."""


@dataclass(frozen=True)
class AttributeColumns:
    """An attribute and the columns of the clients that hold its ranges; a point has one column for both ends."""

    name: str
    low: str
    high: str

    @classmethod
    def parse(cls, text: str) -> AttributeColumns:
        """``price=from:to``, ``price=column`` for points, or ``price`` for ``price_low`` and ``price_high``.

        Raises:
            InputError: it is none of these.
        """
        name, equals, columns = text.partition("=")
        low, colon, high = columns.partition(":")
        if not equals:
            low, high = f"{name}_low", f"{name}_high"
        elif not colon:
            high = low
        if not (name and low and high) or ":" in high:
            raise InputError(
                f"{argument('attribute')} takes NAME=LOW:HIGH, NAME=COLUMN or NAME, such as "
                f"price=price_low:price_high, not '{text}'."
            )
        if name in _TAKEN:
            raise InputError(
                f"An attribute cannot have the name {name}, which is a column of its own; give it another one: "
                f"{argument('attribute', f'the_{text}')}."
            )
        return cls(name, low, high)

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    def client_columns(self) -> dict[str, str]:
        """From our columns to those of the clients."""
        if self.is_point:
            return {self.name: self.low}
        return {f"{self.name}_low": self.low, f"{self.name}_high": self.high}


def content_source(
    kind: Kind,
    path: str,
    attributes: Sequence[AttributeColumns],
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> Source:
    """A source with the columns of its attributes: ranges of clients, values of messages."""
    named = dict(columns or {})
    extra: dict[str, str] = {}
    if kind == "clients":
        extra = {ours: theirs for attribute in attributes for ours, theirs in attribute.client_columns().items()}
        # A column of the same name needs no mention, which leaves files without a header their order.
        named = {**{ours: theirs for ours, theirs in extra.items() if ours != theirs}, **named}
    elif kind == "messages":
        extra = {attribute.name: attribute.name for attribute in attributes}
    return Source(kind, path, columns=named, extra=dict.fromkeys(extra, "number"), **options)
