"""``pubplan reproduce``: the figures of the papers, made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Conf, Json, Master, Quiet, Replace, Seed, scale_number, whole_number

if TYPE_CHECKING:
    pass

FORMAT = "pubplan-figures/1"

Paper = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help="select (Setty et al., INFOCOM 2014), provision (Setty et al., ICDCS 2014), overlay (Chen et al., ICDCS "
        "2011), assign (Yu et al., ICDE 2011), federate (Zhao, Wu, SECON 2011), or all.",
    ),
]
Scale = Annotated[
    float | None,
    typer.Option(
        "--scale",
        parser=scale_number,
        metavar="SHARE",
        help="Share of the paper's workload, 0.001 to 1 (assign: 0.01 to 10, federate: 0.03 to 10); "
        "default: one that takes a minute or two.",
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
    typer.Option(
        "--runs",
        parser=whole_number,
        metavar="N",
        help="select, overlay: runs per setting; times are their medians. federate: networks per point.",
    ),
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
    """Make the figures of a paper again and show them with what it prints."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.files import check_free
    from pubplan.pages.figures import FIGURES, figures_text, write_figures
    from pubplan.reproduce import check_options, papers_named
    from pubplan.reproduce import reproduce as make

    papers = papers_named(paper)
    options = _options(threshold, capacity, vm_type, peak_factor, runs)
    check_options(papers, options)
    if out is not None:
        check_free(out, marker=FIGURES, replace=replace)
    # Times are compared, so Spark is started only when asked for.
    with showing_progress(quiet), maybe_spark(master, conf, num_blocks=0) as spark:
        reproductions = [make(name, scale, seed, spark, **options) for name in papers]
    value = {"format": FORMAT, "papers": [each.to_dict() for each in reproductions]}
    text = "\n\n".join(map(figures_text, reproductions))
    if out is not None:
        write_figures(out, value, reproductions, replace=replace)
        text += f"\n\nFigures written to {out}"
    answer(value, text, json)


def _options(
    threshold: str | None, capacity: str | None, vm_type: str | None, peak_factor: float | None, runs: int | None
) -> dict[str, Any]:
    """What was given, by the names of the reproduction."""
    given = {
        "thresholds": None if threshold is None else tuple(dict.fromkeys(_read_thresholds(threshold))),
        "capacity": capacity,
        "vm_types": None if vm_type is None else tuple(part.strip() for part in vm_type.split(",")),
        "peak_factor": int(peak_factor) if peak_factor and peak_factor.is_integer() else peak_factor,
        "runs": runs,
    }
    return {name: value for name, value in given.items() if value is not None}


def _read_thresholds(text: str) -> tuple[int, ...]:
    from pubplan.errors import InputError, one_line
    from pubplan.planning.request import WHOLE, several

    try:
        thresholds: tuple[int, ...] = several(WHOLE, "").read(text)
    except ValueError as error:
        raise InputError(
            f"--threshold must be a whole number, or several with commas between them, not '{one_line(text)}'."
        ) from error
    return thresholds
