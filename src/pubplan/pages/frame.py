"""The page around the charts: one HTML file that needs no network and runs nothing it was not shipped with."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import resources
from typing import Any, Literal, Self

DIGITS = 12
"""How much of a digest is shown; all of it is one click away."""

NUM_COLOURS = 12
"""Colours of page.css; the next series begins again with the first."""

MAX_PHONE_COLUMNS = 3
"""What fits beside each other on a phone; rows of wider tables become cards there."""

MAX_COLUMNS = 10
"""What fits beside each other at all; columns of wider tables become rows."""

MIN_WORDS_LENGTH = 40
"""Cells that are longer than this are sentences, which wrap."""

GENERATOR = '<meta name="generator" content="pubplan">'


class Link(str):
    """Text of a table that leads to the section with that anchor, and what stands below it in small letters."""

    anchor: str
    note: str

    def __new__(cls, text: str, anchor: str, note: str = "") -> Self:
        link = super().__new__(cls, text)
        link.anchor, link.note = anchor, note
        return link


class Marked(str):
    """A number of a table that stands out, and the word that says why."""

    why: str

    def __new__(cls, text: str, why: str) -> Self:
        marked = super().__new__(cls, text)
        marked.why = why
        return marked


@dataclass(frozen=True)
class Table:
    """Rows under a header; the first column is text, the others are numbers.

    ``has_wholes`` says that numbers may be shares, such as "3 of 7": what they are a part of stands below them.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    has_wholes: bool = False


@dataclass(frozen=True)
class Entry:
    """A line of a legend: what a colour or a shape stands for; None is the colour of text, for what all lines have.

    Legends are text of the page, not of the drawing: they wrap where the page is narrow.
    """

    name: str
    series: int | None
    style: Literal["line", "dashed", "bar", "diamond"] = "line"


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with its data, and the same data as a table for those who cannot see it.

    The caption stands above the drawing and says how to read it; notes stand below.
    """

    title: str
    caption: str
    spec: Mapping[str, Any]
    table: Table
    legend: Sequence[Entry] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Sheet:
    """A table that is not drawn; a long one may have a field that narrows it down to rows with a text."""

    title: str
    caption: str
    table: Table
    is_searchable: bool = False


@dataclass(frozen=True)
class Section:
    """One plan or topic of the page, in this order: what it is, the answer in sentences and large figures, what was
    asked, charts and sheets, small facts, and digests, of which the page shows the beginning.
    """

    heading: str
    sentences: Sequence[str] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    is_good: bool | None = None
    charts: Sequence[Chart | Sheet] = ()
    subtitle: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    anchor: str = ""


def page(title: str, lead: str, sections: Iterable[Section]) -> str:
    """The whole page as text. Every name in it is escaped; scripts are allowed by their hashes only."""
    specs: list[Mapping[str, Any]] = []
    numbered = [
        section if section.anchor else replace(section, anchor=f"section-{number + 1}")
        for number, section in enumerate(sections)
    ]
    names = _names(numbered)
    body = _contents(numbered) + "\n".join(_section(section, names, specs) for section in numbered)
    scripts = [_library(), _asset("page.js")] if specs else []
    if 'class="filter"' in body:
        scripts.append(_asset("filter.js"))
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}"
    data = "\n".join(
        f'<script type="application/json" id="spec-{number}">{_json(spec)}</script>'
        for number, spec in enumerate(specs)
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
{data}
{code}
</body>
</html>
"""


def _names(sections: Sequence[Section]) -> dict[int, str]:
    """What each chart and sheet of the page is called where it is heard, by identity: its title, with the heading of
    its section where others have the same title, with a number where that is not enough.
    """
    titles = Counter(chart.title for section in sections for chart in section.charts)
    used: Counter[str] = Counter()
    names: dict[int, str] = {}
    for section in sections:
        for chart in section.charts:
            name = chart.title if titles[chart.title] == 1 else f"{chart.title}, {section.heading}"
            used[name] += 1
            names[id(chart)] = name if used[name] == 1 else f"{name}, {used[name]}"
    return names


def _section(section: Section, names: Mapping[int, str], specs: list[Mapping[str, Any]]) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>"]
    if section.subtitle:
        parts.append(f'<p class="soft">{escape(section.subtitle)}</p>')
    tone = {True: ' class="good"', False: ' class="bad"', None: ""}[section.is_good]
    if section.sentences:
        lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in section.sentences)
        parts.append(f'<div class="answer">{lines}</div>')
    if section.figures:
        cells = "".join(
            f"<div><dt>{escape(name)}</dt><dd{tone if name == 'verdict' else ''}>{_figure(value)}</dd></div>"
            for name, value in section.figures.items()
        )
        parts.append(f'<dl class="figures">{cells}</dl>')
    if section.asked:
        parts.append(f"<h3>What was asked</h3>{_facts(section.asked)}")
    for chart in section.charts:
        if isinstance(chart, Sheet):
            parts.append(_sheet(chart, names[id(chart)]))
            continue
        parts.append(_chart(chart, names[id(chart)], len(specs)))
        # Drawings are called by their description.
        specs.append({**chart.spec, "description": names[id(chart)]})
    if section.facts:
        parts.append(f"<h3>More about it</h3>{_facts(section.facts)}")
    parts += [
        f"<details><summary>Digest of the {escape(name)}: <code>{escape(digest[:DIGITS])}</code>"
        f'<span class="unseen">, {escape(section.heading)}</span></summary>'
        f"<p><code>{escape(digest)}</code></p></details>"
        for name, digest in section.digests.items()
    ]
    return f'<section id="{escape(section.anchor)}">' + "\n".join(parts) + "</section>"


def _contents(sections: Sequence[Section]) -> str:
    """Links to all sections, where there are several."""
    if len(sections) < 2:
        return ""
    items = "".join(f'<li><a href="#{escape(each.anchor)}">{escape(each.heading)}</a></li>' for each in sections)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>\n'


def _figure(value: str) -> str:
    """A number in large letters, and what it is a part of in small ones."""
    number, of, whole = (escape(part).replace(" %", "&nbsp;%") for part in value.partition(" of "))
    return f"{number} <small>of {whole}</small>" if of else number


def _facts(facts: Mapping[str, str]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>'


def _sheet(sheet: Sheet, name: str) -> str:
    field_of = (
        f'<p class="filter" hidden><label>Show rows with <input type="search"'
        f' aria-label="Show rows with ({escape(name)})"></label> <span role="status"></span></p>'
        if sheet.is_searchable
        else ""
    )
    kind = "sheet long" if sheet.is_searchable else "sheet"
    return f'<div class="{kind}">{_heading(sheet)}{field_of}{_region(sheet.table, name)}</div>'


def _heading(chart: Chart | Sheet) -> str:
    return f"<h3>{escape(chart.title)}</h3><p class='soft'>{escape(chart.caption)}</p>"


def _chart(chart: Chart, name: str, number: int) -> str:
    further = escape(name.removeprefix(chart.title))
    notes = "".join(f"<p>{escape(note)}</p>" for note in chart.notes)
    return (
        _heading(chart)
        + _legend(chart.legend)
        + f'<div class="chart" data-spec="spec-{number}" role="img" aria-label="{escape(name)}"></div>'
        f"<noscript><p>Charts need scripts; the numbers are below.</p></noscript>"
        + (f'<div class="notes">{notes}</div>' if notes else "")
        + f'<details><summary>Numbers: {escape(chart.title)}<span class="unseen">{further}</span></summary>'
        f"{_region(chart.table, f'Numbers: {name}')}</details>"
    )


def _region(table: Table, name: str) -> str:
    """A table that those without a mouse can scroll too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(name)}">{_table(table)}</div>'


def _legend(entries: Sequence[Entry]) -> str:
    items = "".join(f'<li><i class="{_classes(entry)}"></i>{escape(entry.name)}</li>' for entry in entries)
    return f'<ul class="legend">{items}</ul>' if items else ""


def _classes(entry: Entry) -> str:
    return entry.style if entry.series is None else f"{entry.style} series-{entry.series % NUM_COLOURS + 1}"


def _table(table: Table) -> str:
    """Where it has many columns, every cell says which it is in: on a phone, rows become cards."""
    if len(table.header) > MAX_COLUMNS > len(table.rows):
        table = _turned(table)
    is_wide = len(table.header) > MAX_PHONE_COLUMNS
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    columns = [f' data-name="{escape(name)}"' if is_wide and at else "" for at, name in enumerate(table.header)]
    rows = "".join(
        "<tr>"
        + "".join(_cell(cell, column, table.has_wholes) for cell, column in zip(row, columns, strict=True))
        + "</tr>"
        for row in table.rows
    )
    kinds = " ".join(kind for kind, has in (("cards", is_wide), ("wholes", table.has_wholes)) if has)
    attributes = f' class="{kinds}"' if kinds else ""
    return f"<table{attributes}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _turned(table: Table) -> Table:
    """Rows as columns, and columns as rows."""
    header = [table.header[0], *(row[0] for row in table.rows)]
    rows = [list(cells) for cells in zip(table.header[1:], *(row[1:] for row in table.rows), strict=True)]
    return Table(header, rows, table.has_wholes)


def _cell(cell: str, attributes: str, has_wholes: bool) -> str:
    if isinstance(cell, Link):
        note = f"<small>{escape(cell.note)}</small>" if cell.note else ""
        return f'<td><a href="#{escape(cell.anchor)}">{escape(cell)}</a>{note}</td>'
    if isinstance(cell, Marked):
        return f'<td class="marked"{attributes}>{escape(cell)} <small>{escape(cell.why)}</small></td>'
    if has_wholes:
        return f"<td{attributes}>{_figure(cell)}</td>"
    kind = ' class="words"' if len(cell) > MIN_WORDS_LENGTH else ""
    return f"<td{kind}{attributes}>{escape(cell)}</td>"


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _library() -> str:
    import vl_convert

    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return library.replace("</script", "<\\/script")


def _asset(name: str) -> str:
    return resources.files("pubplan.pages").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
