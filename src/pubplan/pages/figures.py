"""Reproduced figures as a page of charts, and as tables of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pubplan.files import atomic_directory, write_json, write_text
from pubplan.pages.frame import Chart, Section, Sheet, Table, page
from pubplan.pages.lines import Axis, Mark, are_far_apart, lines_legend, lines_spec, share_axis
from pubplan.reproduce import Figure, Reproduction

FIGURES = "figures.json"
PAGE = "page.html"


def write_figures(out: Path, value: object, reproductions: Sequence[Reproduction], *, replace: bool) -> None:
    """Write the numbers and a page of their charts into a directory."""
    with atomic_directory(out, marker=FIGURES, replace=replace) as staging:
        write_json(staging / FIGURES, value)
        lead = "Figures of the papers, made again. Opens offline."
        write_text(staging / PAGE, page("pubplan reproduce", lead, map(_section, reproductions)))


def _section(reproduction: Reproduction) -> Section:
    charts = [_sheet(figure) if figure.is_table else _chart(figure) for figure in reproduction.figures]
    setting = {
        name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in reproduction.setting.items()
    }
    digests = {name: value for name, value in setting.items() if name.endswith("workload")}
    asked = {name: value for name, value in setting.items() if name not in digests}
    return Section(reproduction.paper, [reproduction.source], asked=asked, charts=charts, digests=digests)


def _sheet(figure: Figure) -> Sheet:
    caption = [f"{figure.y}.", *figure.notes] if figure.y else figure.notes
    return Sheet(f"{figure.name}: {figure.title}", " ".join(caption), _table(figure))


def _chart(figure: Figure) -> Chart:
    marks: list[Mark] = []
    for line in figure.lines:
        ours, printed = (
            [
                (x, value)
                for x, value in zip(figure.x_values, values, strict=False)
                if isinstance(x, int) and value is not None and (value > 0 or not figure.is_log)
            ]
            for values in (line.values, line.paper)
        )
        marks += [Mark(line.name, x, value, "bound" if line.is_bound else "plan") for x, value in ours]
        marks += [Mark(line.name, x, value, "paper") for x, value in printed]
    x_axis = Axis(f"{figure.x} in{figure.x_suffix}" if figure.x_suffix else figure.x)
    is_log = figure.is_log or (figure.unit == "seconds" and are_far_apart(marks))
    y_axis = Axis(figure.y, "~%" if figure.unit == "share" else ",.3~f", is_log=is_log)
    if figure.unit == "share" and not figure.is_log:
        y_axis = share_axis(figure.y, marks)
    spec, legend = lines_spec(marks, x_axis, y_axis), lines_legend(marks, "a bound")
    title, caption = f"{figure.name}: {figure.title}", " ".join(_drawn(figure))
    return Chart(title, caption, spec, _table(figure), legend, figure.notes)


def _drawn(figure: Figure) -> Iterator[str]:
    """What the lines are, for those who look at them."""
    for style, is_bound in (("Solid", False), ("Dashed", True)):
        names = dict.fromkeys(line.what for line in figure.lines if line.is_bound == is_bound and any(line.values))
        if names:
            yield f"{style}: {', '.join(names)}."
    if any(value is not None for line in figure.lines for value in line.paper):
        yield "Diamonds: printed in the paper."


def _table(figure: Figure) -> Table:
    """A row per line, and below it what the paper prints."""
    rows = []
    for line in figure.lines:
        rows.append([line.label, *("" if value is None else figure.format_y(value) for value in line.values)])
        if any(value is not None for value in line.paper):
            rows.append(["  printed in the paper", *("" if value is None else f"{value:g}" for value in line.paper)])
    return Table([figure.x, *map(figure.format_x, figure.x_values)], rows)


def figures_text(reproduction: Reproduction) -> str:
    """The figures of a paper as tables of text."""
    setting = ", ".join(
        f"{name} {value}" for name, value in reproduction.setting.items() if not name.endswith("workload")
    )
    return "\n\n".join(
        [f"{reproduction.source}\n{setting}", *(_figure_text(figure) for figure in reproduction.figures)]
    )


def _figure_text(figure: Figure) -> str:
    table = _table(figure)
    rows = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    title = f"{figure.name}: {figure.title}" + (f" ({figure.y})" if figure.y else "")
    return "\n".join([title, *(line.rstrip() for line in lines), *figure.notes])
