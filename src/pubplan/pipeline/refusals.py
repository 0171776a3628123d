"""Sources that are refused after they were read: too many rejected rows, or a span of time that cannot be meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pubplan.errors import InputError, one_line
from pubplan.pipeline.clean import BAD_ENCODING, BAD_TIMESTAMP, MALFORMED, REASONS, UNKNOWN_TOPIC, TimeWindow, iso
from pubplan.pipeline.rejected import samples
from pubplan.pipeline.source import Source
from pubplan.pipeline.values import TimestampUnit

SAMPLES_PER_REASON = 3
MAX_SPAN_YEARS = 20
_SAMPLE_LENGTH = 200
_MICROS_PER_YEAR = 365.25 * 86_400 * 1e6


def check_rejected(
    source: Source, rejected: Mapping[str, int], rows_in: int, limit: float, directory: Path, unit: TimestampUnit
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
        f"{100 * limit:g} % that --max-rejected allows:"
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
        return ["Quotes are escaped by backslashes, as Spark writes them: pass --escape '\\'."]
    if reason == MALFORMED and '"' in text and source.quote != "none":
        return [
            "Quotes do not open and close whole fields: pass --quote none if they are letters like others, or "
            "--multiline if quoted fields hold line breaks."
        ]
    hints = {
        BAD_ENCODING: "If the text is not UTF-8, pass --encoding, such as latin-1.",
        UNKNOWN_TOPIC: "--keep-unknown gives such topics the rate 0.",
    }
    if reason == UNKNOWN_TOPIC and re.search(wildcard, text, flags=re.MULTILINE):
        hints[reason] = "Wildcards are expanded over the known topics with --wildcards nats or mqtt."
    return [hints[reason]] if reason in hints else []


def _unit_hint(text: str, unit: TimestampUnit) -> list[str]:
    """Numbers of 12 to 14, 15 to 17, and 18 or 19 digits are ms, us and ns since 1970 of our times."""
    digits = [len(number) for number in re.findall(r"(?<![0-9.])[0-9]{12,19}(?![0-9])", text)]
    if not digits:
        return []
    likely = "ms" if min(digits) <= 14 else "us" if min(digits) <= 17 else "ns"
    return [] if likely == unit else [f"The numbers look like times in {likely}: pass --timestamp-unit {likely}."]


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
            "are probably wrong. Give --window-start and --window-end, or correct --timestamp-unit."
        )
