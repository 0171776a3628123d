"""Lists that answer by name: the first rows of a long table, how many are left out, and a field to search them."""

from __future__ import annotations

from collections.abc import Sequence

from pubplan.pages.frame import Sheet, Table
from pubplan.text import counted

MAX_ROWS = 100
"""Rows of a list on the page; the plan's tables have all."""

MIN_SEARCHABLE_ROWS = 10


def top(title: str, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> list[Sheet]:
    """A list of the first ``rows`` of ``total``; nothing where there are none."""
    if not rows:
        return []
    left_out = total - len(rows)
    more = f" {counted(left_out, 'more row')} {'is' if left_out == 1 else 'are'} left out." if left_out else ""
    return [Sheet(title, caption + more, Table(header, rows), is_searchable=len(rows) >= MIN_SEARCHABLE_ROWS)]
