"""The page around the charts: one HTML file that needs no network and runs nothing it was not shipped with."""

from __future__ import annotations

import hashlib
import json
import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

GENERATOR = '<meta name="generator" content="pubplan">'


@dataclass(frozen=True)
class Table:
    """Rows under a header; the first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with its data, and the same data as a table for those who cannot see it."""

    title: str
    caption: str
    spec: Mapping[str, Any]
    table: Table


@dataclass(frozen=True)
class Sheet:
    """A table that is not drawn."""

    title: str
    caption: str
    table: Table


@dataclass(frozen=True)
class Section:
    """One plan or topic of the page: a heading, sentences, large figures, small facts, charts and sheets."""

    heading: str
    sentences: Sequence[str] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    is_good: bool | None = None
    charts: Sequence[Chart | Sheet] = ()


def number_down(value: float) -> str:
    """Whole numbers without decimals, others with one, never more than they are."""
    return f"{value:,.0f}" if value == int(value) else f"{math.floor(value * 10) / 10:,.1f}"


def number_up(value: float) -> str:
    """Whole numbers without decimals, others with one, never less than they are."""
    return f"{value:,.0f}" if value == int(value) else f"{math.ceil(value * 10) / 10:,.1f}"


def percent_up(share: float) -> str:
    """A share with two decimals, never less than it is."""
    return f"{math.ceil(share * 10_000) / 100:.2f} %"


def page(title: str, lead: str, sections: Iterable[Section]) -> str:
    """The whole page as text. Every name in it is escaped; scripts are allowed by their hashes only."""
    charts: list[Chart] = []
    body = "\n".join(_section(section, charts) for section in sections)
    scripts = [_library(), _asset("page.js")] if charts else []
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}"
    specs = "\n".join(
        f'<script type="application/json" id="spec-{number}">{_json(chart.spec)}</script>'
        for number, chart in enumerate(charts)
    )
    code = "\n".join(f"<script>{script}</script>" for script in scripts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
{GENERATOR}
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{_asset("page.css")}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p class="soft">{escape(lead)}</p></header>
<main>
{body}
</main>
{specs}
{code}
</body>
</html>
"""


def _section(section: Section, charts: list[Chart]) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>"]
    tone = {True: ' class="good"', False: ' class="bad"', None: ""}[section.is_good]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in section.sentences]
    if section.figures:
        cells = "".join(
            f"<div><dt>{escape(name)}</dt><dd{tone if name == 'verdict' else ''}>{escape(value)}</dd></div>"
            for name, value in section.figures.items()
        )
        parts.append(f'<dl class="figures">{cells}</dl>')
    for chart in section.charts:
        if isinstance(chart, Sheet):
            parts.append(f'{_heading(chart)}<div class="wide">{_table(chart.table)}</div>')
            continue
        parts.append(_chart(chart, len(charts)))
        charts.append(chart)
    if section.facts:
        rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in section.facts.items())
        parts.append(f'<dl class="facts">{rows}</dl>')
    return "<section>" + "\n".join(parts) + "</section>"


def _heading(chart: Chart | Sheet) -> str:
    return f"<h2>{escape(chart.title)}</h2><p class='soft'>{escape(chart.caption)}</p>"


def _chart(chart: Chart, number: int) -> str:
    return (
        _heading(chart)
        + f'<div class="chart" data-spec="spec-{number}" role="img" aria-label="{escape(chart.title)}"></div>'
        f"<noscript><p>Charts need scripts; the numbers are below.</p></noscript>"
        f'<details><summary>The numbers</summary><div class="wide">{_table(chart.table)}</div></details>'
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _library() -> str:
    import vl_convert

    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return library.replace("</script", "<\\/script")


def _asset(name: str) -> str:
    return resources.files("pubplan.report").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
