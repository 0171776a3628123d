"""Tables II to IV of Chen et al. (ICDCS 2011): many runs on 1000 nodes, with other interests and parts in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pubplan.engine import stage
from pubplan.reproduce.figures import Figure, Line, Values
from pubplan.reproduce.overlay_runs import (
    DCB_M,
    DCBR_M,
    EXPONENTIAL,
    GM_M,
    REPAIR,
    UNIFORM,
    ZIPF,
    Planner,
    Run,
    Setting,
    dcb_m,
    dcbr_m,
    dcbr_repair,
    gm_m,
    measured,
)
from pubplan.reproduce.overlay_sweeps import Bench

NODES, TOPICS, RUNS = 1000, 200, 20
NAMES = {UNIFORM: "Table II", ZIPF: "Table III", EXPONENTIAL: "Table IV"}
PLANNERS: Mapping[str, Planner] = {GM_M: gm_m, DCB_M: dcb_m(), DCBR_M: dcbr_m(), REPAIR: dcbr_repair}
STATISTICS = ("mean", "min", "max", "variance")

DEGREE, MEAN, TIME, STOOD = "maximum degree D", "mean degree d", "time / time of GM-M", "|R| / |L|"
ROWS = (
    (DCBR_M, DEGREE),
    (DCB_M, DEGREE),
    (GM_M, DEGREE),
    (REPAIR, DEGREE),
    (DCBR_M, MEAN),
    (DCB_M, MEAN),
    (GM_M, MEAN),
    (REPAIR, MEAN),
    (DCBR_M, TIME),
    (DCB_M, TIME),
    (REPAIR, TIME),
    (DCBR_M, STOOD),
)
VALUES: Mapping[str, Callable[[Run, Run], float]] = {
    DEGREE: lambda run, base: run.degree,
    MEAN: lambda run, base: run.mean,
    TIME: lambda run, base: run.seconds / base.seconds,
    STOOD: lambda run, base: run.representatives,
}
"""From a run, and the run of GM-M on the same nodes."""

PAPER: Mapping[str, Mapping[tuple[str, str], Values]] = {
    UNIFORM: {
        (DCBR_M, DEGREE): (10.883, 10, 11, 0.104),
        (DCB_M, DEGREE): (10.29, 10, 11, 0.206),
        (GM_M, DEGREE): (8.013, 8, 9, 0.0124),
        (DCBR_M, MEAN): (8.188, 8.02, 8.402, 0.00387),
        (DCB_M, MEAN): (8.170, 8.018, 8.388, 0.00376),
        (GM_M, MEAN): (8.013, 8, 9, 0.0124),
        (DCBR_M, TIME): (0.112, 0.0983, 0.132, 0.0000283),
        (DCB_M, TIME): (0.655, 0.615, 0.690, 0.0000820),
        (DCBR_M, STOOD): (0.142, 0.105, 0.189, 0.000180),
    },
    ZIPF: {
        (DCBR_M, DEGREE): (16.3925, 15, 18, 0.450),
        (DCB_M, DEGREE): (16.378, 15, 18, 0.426),
        (GM_M, DEGREE): (11.14, 10, 13, 0.181),
        (DCBR_M, MEAN): (8.065, 7.878, 8.318, 0.00530),
        (DCB_M, MEAN): (8.064, 7.864, 8.308, 0.00530),
        (GM_M, MEAN): (6.487, 6.356, 6.66, 0.00265),
        (DCBR_M, TIME): (0.248, 0.207, 0.287, 0.000153),
        (DCB_M, TIME): (0.601, 0.564, 0.645, 0.000135),
        (DCBR_M, STOOD): (0.0742, 0.0504, 0.110, 0.0000862),
    },
    EXPONENTIAL: {
        (DCBR_M, DEGREE): (10.798, 9, 13, 0.468),
        (DCB_M, DEGREE): (10.793, 9, 13, 0.461),
        (GM_M, DEGREE): (8.4425, 7, 12, 0.348),
        (DCBR_M, MEAN): (4.499, 4.394, 4.586, 0.00122),
        (DCB_M, MEAN): (4.499, 4.392, 4.59, 0.00124),
        (GM_M, MEAN): (3.93, 3.86, 4.02, 0.000747),
        (DCBR_M, TIME): (0.130, 0.111, 0.161, 0.0000678),
        (DCB_M, TIME): (0.833, 0.787, 0.883, 0.000225),
        (DCBR_M, STOOD): (0.0748, 0.0438, 0.0977, 0.0000891),
    },
}

WHY = (
    "The paper prints neither how sizes lie between 10 and 90, nor the rate of the exponential distribution, nor the "
    "number of parts."
)
QUADRATIC = (
    "Our GM-M takes time quadratic in the nodes. Pairs of bulk nodes, a fifth of all, are 4 % of all pairs, and those "
    "within p parts 64 / p %; what a part costs by itself shows where nodes are few. The time of the paper's GM-M "
    "grows faster, so that dividing saves more there. Our parts run on all cores."
)
SLIP = (
    "What the paper prints as the mean degree of GM-M repeats its maximum degree, down to the variance: surely a slip."
)


def tables(bench: Bench) -> list[Figure]:
    """One table for every shape."""
    found, num_nodes, num_runs = [], bench.nodes(NODES), bench.runs(RUNS, least=2)
    with stage("planning for the tables", len(NAMES) * num_runs) as advance:
        for shape in NAMES:
            runs = []
            for number in range(num_runs):
                runs.append(measured(Setting(num_nodes, TOPICS, shape), PLANNERS, bench.seed + number, bench.spark))
                advance(1)
            found.append(_table(shape, num_nodes, runs))
    return found


def _table(shape: str, num_nodes: int, runs: Sequence[Mapping[str, Run]]) -> Figure:
    lines = []
    for name, what in ROWS:
        values = _statistics([VALUES[what](run[name], run[GM_M]) for run in runs])
        lines.append(Line(name, what, values, PAPER[shape].get((name, what), ())))
    figure = Figure(
        NAMES[shape],
        f"random partitioning under {shape} distribution",
        x="",
        sign="",
        at=STATISTICS,
        y=f"{len(runs)} runs with {num_nodes:,} nodes and {TOPICS} topics",
        unit="number",
        lines=tuple(lines),
    )
    num_good = sum(run[REPAIR].degree <= run[GM_M].degree for run in runs)
    good = f"{REPAIR} is at or below the maximum degree of {GM_M} in {num_good} of {len(runs)} runs."
    others = [good, SLIP, QUADRATIC] if shape == UNIFORM else [good]
    return replace(figure, notes=_means(figure).with_notes(WHY, *others).notes)


def _means(figure: Figure) -> Figure:
    """The column that few runs and many have in common."""
    lines = tuple(replace(line, values=line.values[:1], paper=line.paper[:1]) for line in figure.lines)
    return replace(figure, at=figure.at[:1], lines=lines)


def _statistics(values: Sequence[float]) -> Values:
    return float(np.mean(values)), min(values), max(values), float(np.var(values))
