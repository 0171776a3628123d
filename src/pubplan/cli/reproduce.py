"""``pubplan reproduce``: the figures of the papers, made again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Conf, Json, Master, Quiet, Replace, Seed

if TYPE_CHECKING:
    from pubplan.report.frame import Chart, Section, Sheet, Table
    from pubplan.reproduce import Figure, Reproduction

FORMAT = "pubplan-figures/1"
FIGURES = "figures.json"
PAGE = "page.html"

Paper = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help="select (Setty et al., INFOCOM 2014), provision (Setty et al., ICDCS 2014), overlay (Chen et al., ICDCS "
        "2011), or all.",
    ),
]
Scale = Annotated[
    float | None,
    typer.Option(
        "--scale",
        help="Share of the paper's workload, 0.001 to 1; unless told, one that takes a minute or two.",
        show_default=False,
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option("--threshold", metavar="N[,N…]", help="select, provision: thresholds instead of the paper's."),
]
Capacity = Annotated[
    str | None,
    typer.Option("--capacity", help="select: a share of the total cost such as 20% instead of the paper's 10%."),
]
VmTypes = Annotated[
    str | None, typer.Option("--vm-type", metavar="T[,T…]", help="provision: VM types instead of the paper's.")
]
PeakFactor = Annotated[
    float | None, typer.Option("--peak-factor", metavar="F", help="provision: peak to mean traffic, instead of 480.")
]
Runs = Annotated[
    int | None,
    typer.Option("--runs", metavar="N", help="select, overlay: runs per setting; times are their medians."),
]
OutOrNone = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Also write figures.json and page.html here; must not exist yet."),
]


def reproduce(
    paper: Paper,
    scale: Scale = None,
    threshold: Threshold = None,
    capacity: Capacity = None,
    vm_type: VmTypes = None,
    peak_factor: PeakFactor = None,
    runs: Runs = None,
    out: OutOrNone = None,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Make the figures of a paper again and set them beside what it prints."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.engine import check_free
    from pubplan.reproduce import check_options, papers_named
    from pubplan.reproduce import reproduce as make

    papers = papers_named(paper)
    options = _options(threshold, capacity, vm_type, peak_factor, runs)
    check_options(papers, options)
    if out is not None:
        check_free(out, marker=FIGURES, replace=replace)
    # Times are compared, so Spark is started only when asked for.
    with showing_progress(quiet), maybe_spark(master, conf, num_blocks=0) as spark:
        found = [make(name, scale, seed, spark, **options) for name in papers]
    value = {"format": FORMAT, "papers": [each.to_dict() for each in found]}
    text = "\n\n".join(_text(each) for each in found)
    if out is not None:
        _write(out, replace, value, found)
        text += f"\n\nFigures written to {out}"
    answer(value, text, json)


def _options(
    threshold: str | None, capacity: str | None, vm_type: str | None, peak_factor: float | None, runs: int | None
) -> dict[str, Any]:
    """What was given, by the names of the reproduction."""
    from pubplan.cli.planning import listed, whole_number

    given = {
        "thresholds": None
        if threshold is None
        else tuple(dict.fromkeys(whole_number("threshold", value) for value in listed(threshold))),
        "capacity": capacity,
        "vm_types": None if vm_type is None else tuple(listed(vm_type)),
        "peak_factor": int(peak_factor) if peak_factor and peak_factor.is_integer() else peak_factor,
        "runs": runs,
    }
    return {name: value for name, value in given.items() if value is not None}


def _write(out: Path, replace: bool, value: object, found: list[Reproduction]) -> None:
    from pubplan.engine import whole_directory, write_json, write_text
    from pubplan.report.frame import page

    with whole_directory(out, marker=FIGURES, replace=replace) as staging:
        write_json(staging / FIGURES, value)
        lead = "Figures of the papers, made again. Opens offline."
        write_text(staging / PAGE, page("pubplan reproduce", lead, map(_section, found)))


def _section(found: Reproduction) -> Section:
    from pubplan.report.frame import Section

    charts = [_sheet(figure) if figure.is_table else _chart(figure) for figure in found.figures]
    facts = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in found.setting.items()}
    return Section(found.paper, [found.source], facts=facts, charts=charts)


def _sheet(figure: Figure) -> Sheet:
    from pubplan.report.frame import Sheet

    return Sheet(f"{figure.name}: {figure.title}", " ".join([f"{figure.y}.", *figure.notes]), _table(figure))


def _chart(figure: Figure) -> Chart:
    from pubplan.report.frame import Chart
    from pubplan.report.lines import Axis, Mark, lines_spec, share_axis

    marks: list[Mark] = []
    for line in figure.lines:
        ours, printed = (
            [
                (at, value)
                for at, value in zip(figure.at, values, strict=False)
                if isinstance(at, int) and value is not None and (value > 0 or not figure.is_log)
            ]
            for values in (line.values, line.paper)
        )
        marks += [Mark(line.name, at, value, "bound" if line.is_bound else "plan") for at, value in ours]
        marks += [Mark(line.name, at, value, "paper") for at, value in printed]
    x = Axis(f"{figure.x} in{figure.sign}" if figure.sign else figure.x)
    y = Axis(figure.y, "~g" if figure.is_log else ",.3~f", is_log=figure.is_log)
    if figure.unit == "share" and not figure.is_log:
        y = share_axis(figure.y, marks)
    caption = " ".join([*_drawn(figure), *figure.notes])
    return Chart(f"{figure.name}: {figure.title}", caption, lines_spec(marks, x, y), _table(figure))


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
    from pubplan.report.frame import Table

    rows = []
    for line in figure.lines:
        rows.append([line.label, *("" if value is None else figure.told(value) for value in line.values)])
        if any(value is not None for value in line.paper):
            rows.append(["  printed in the paper", *("" if value is None else f"{value:g}" for value in line.paper)])
    return Table([figure.x, *map(figure.told_at, figure.at)], rows)


def _text(found: Reproduction) -> str:
    setting = ", ".join(f"{name} {value}" for name, value in found.setting.items() if not name.endswith("workload"))
    return "\n\n".join([f"{found.source}\n{setting}", *(_figure_text(figure) for figure in found.figures)])


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
    return "\n".join([f"{figure.name}: {figure.title} ({figure.y})", *(line.rstrip() for line in lines), *figure.notes])
