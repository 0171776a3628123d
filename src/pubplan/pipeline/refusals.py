"""Sources that are refused: too many rejected rows, a span of time that cannot be meant, times in another unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from pubplan.arguments import argument
from pubplan.errors import InputError, one_line
from pubplan.pipeline.batch import Batch
from pubplan.pipeline.clean import (
    BAD_ENCODING,
    BAD_TIMESTAMP,
    MALFORMED,
    OUTSIDE_SPACE,
    REASON_NAMES,
    REASONS,
    UNKNOWN_TOPIC,
    TimeWindow,
    clean_events,
    iso,
)
from pubplan.pipeline.rejected import samples
from pubplan.pipeline.source import Source
from pubplan.pipeline.values import TimestampUnit

SAMPLES_PER_REASON = 3
MAX_SPAN_YEARS = 20
_SAMPLE_LENGTH = 200
_BACKSLASH = "\\"
_MICROS_PER_YEAR = 365.25 * 86_400 * 1e6


def check_rejected(
    source: Source,
    rejected: Mapping[str, int],
    rows_in: int,
    limit: float,
    directory: Path,
    unit: TimestampUnit = "s",
) -> None:
    """Refuse a source of which more rows are rejected than ``limit`` allows, with samples and what would help.

    Raises:
        InputError: more than that share is rejected.
    """
    bad = sum(rejected.values())
    if bad <= limit * rows_in:
        return
    lines = [
        f"{bad:,} of {rows_in:,} rows of {source.path} ({100 * bad / rows_in:.1f} %) were rejected, more than the "
        f"{100 * limit:g} % that {argument('max_rejected')} allows:"
    ]
    for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0])):
        if count:
            rows = samples(directory, source.kind, reason, SAMPLES_PER_REASON)
            lines.append(f"  {reason}: {count:,} rows; {REASONS[reason]}")
            lines += [f"    {one_line(row, _SAMPLE_LENGTH)}" for row in rows]
            lines += [f"    {hint}" for hint in _hints(reason, rows, source, unit)]
    raise InputError("\n".join(lines))


def _hints(reason: str, rows: list[str], source: Source, unit: TimestampUnit) -> list[str]:
    """What would help, as far as the sample rows show it."""
    text = "\n".join(rows)
    wildcard = r"(^|[./\",\s])[*+#>]([./\",\s]|$)"
    if reason == BAD_TIMESTAMP:
        return _unit_hint(text, unit)
    if reason == MALFORMED and '\\"' in text:
        return [f"Quotes are escaped by backslashes, as Spark writes them: pass {argument('escape', _BACKSLASH)}."]
    if reason == MALFORMED and '"' in text and source.quote != "none":
        return [
            f"Quotes do not open and close whole fields: pass {argument('quote', 'none')} if they are letters like "
            f"others, or {argument('multiline', True)} if quoted fields hold line breaks."
        ]
    hints = {
        BAD_ENCODING: f"If the text is not UTF-8, pass {argument('encoding')}, such as latin-1.",
        UNKNOWN_TOPIC: f"{argument('keep_unknown', True)} gives such topics the rate 0.",
        OUTSIDE_SPACE: f"{argument('grid')} says from where to where values of an attribute go; without, they all fit.",
    }
    if reason == UNKNOWN_TOPIC and re.search(wildcard, text, flags=re.MULTILINE):
        hints[reason] = f"Wildcards are expanded over the known topics with {argument('wildcards', 'nats')} or mqtt."
    return [hints[reason]] if reason in hints else []


def _unit_hint(text: str, unit: TimestampUnit) -> list[str]:
    """Numbers of 12 to 14, 15 to 17, and 18 or 19 digits are ms, us and ns since 1970 of our times."""
    digits = [len(number) for number in re.findall(r"(?<![0-9.])[0-9]{12,19}(?![0-9])", text)]
    if not digits:
        return []
    likely = "ms" if min(digits) <= 14 else "us" if min(digits) <= 17 else "ns"
    if likely == unit:
        return []
    return [f"The numbers look like times in {likely}: pass {argument('timestamp_unit', likely)}."]


def check_unit(source: Source, batches: Iterable[Batch], unit: TimestampUnit) -> None:
    """Refuse events whose times are in another unit before all of them are read.

    Raises:
        InputError: of the rows in ``batches`` no time is readable, and they look like times in another unit.
    """
    rows: list[str] = []
    for batch in batches:
        reasons = clean_events(batch, TimeWindow(), unit).reasons
        if reasons is None or (reasons != 1 + REASON_NAMES.index(BAD_TIMESTAMP)).any():
            return
        rows += batch.raw(np.arange(min(SAMPLES_PER_REASON, batch.num_rows)))
    if hints := _unit_hint("\n".join(rows), unit):
        lines = [
            f"The events of {source.path} have no times that are readable with {argument('timestamp_unit', unit)}:",
            *(f"    {one_line(row, _SAMPLE_LENGTH)}" for row in rows[:SAMPLES_PER_REASON]),
            f"    {hints[0]}",
        ]
        raise InputError("\n".join(lines))


def check_span(source: Source, window: TimeWindow, first: int | None, last: int | None) -> None:
    """Refuse a window that a few odd timestamps would stretch over decades: all rates would be too low.

    Raises:
        InputError: an end of the window is open, and the trace spans more than MAX_SPAN_YEARS.
    """
    if first is None or last is None or (window.start is not None and window.end is not None):
        return
    start = first if window.start is None else window.start
    end = last if window.end is None else window.end
    years = (end - start) / _MICROS_PER_YEAR
    if years > MAX_SPAN_YEARS:
        raise InputError(
            f"The events of {source.path} span {years:,.0f} years, from {iso(start)} to {iso(end)}: some timestamps "
            f"are probably wrong. Give {argument('window_start')} and {argument('window_end')}, or correct "
            f"{argument('timestamp_unit')}."
        )
