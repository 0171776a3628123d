"""Tables II to IV of Chen et al. (ICDCS 2011): many runs on 1000 nodes, with other interests and parts in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pubplan.engine import stage
from pubplan.reproduce.figures import Figure, Line, Values
from pubplan.reproduce.overlay.runs import (
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
from pubplan.reproduce.overlay.sweeps import Bench, timing_note

NODES, TOPICS, RUNS = 1000, 200, 20
PAPER_RUNS = 400
NAMES = {UNIFORM: "Table II", ZIPF: "Table III", EXPONENTIAL: "Table IV"}
PLANNERS: Mapping[str, Planner] = {GM_M: gm_m, DCB_M: dcb_m(), DCBR_M: dcbr_m(), REPAIR: dcbr_repair}
STATISTICS = ("mean", "min", "max", "variance")

DEGREE, MEAN, TIME, REPRESENTATIVES = "maximum degree D", "mean degree d", "time / time of GM-M", "|R| / |L|"
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
    (DCBR_M, REPRESENTATIVES),
)
VALUES: Mapping[str, Callable[[Run, Run], float]] = {
    DEGREE: lambda run, base: run.degree,
    MEAN: lambda run, base: run.mean,
    TIME: lambda run, base: run.seconds / base.seconds,
    REPRESENTATIVES: lambda run, base: run.representatives,
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
        (DCBR_M, REPRESENTATIVES): (0.142, 0.105, 0.189, 0.000180),
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
        (DCBR_M, REPRESENTATIVES): (0.0742, 0.0504, 0.110, 0.0000862),
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
        (DCBR_M, REPRESENTATIVES): (0.0748, 0.0438, 0.0977, 0.0000891),
    },
}

UNEXPLAINED: Mapping[str, str] = {
    UNIFORM: "Why times and the mean degree of GM-M differ is said below; what else differs is unexplained.",
    ZIPF: (
        "That |R| / |L| is several times the paper's, and the maximum degree of DCBR-M and DCB-M lower, is "
        "unexplained. The paper prints the exponent, 2. With it the ratio is 0.13 even for two parts. With other "
        "exponents from 0.5 to 3 it is 0.16 or more for the parts that the model chooses. Leaving out topics that only "
        "bulk nodes want outside a part changes nothing."
    ),
    EXPONENTIAL: (
        "That |R| / |L| is several times the paper's is unexplained. The paper does not print the rate of the "
        "distribution; 0.1 gives its mean degree of GM-M, and a ratio of 0.11 even for two parts. With rates of 0.5 "
        "and 1 the ratio comes down to 0.09 and 0.08, but the mean degree of GM-M to 2.5 and 2.2. About 60 of the 200 "
        "topics are so rare that no node wants them."
    ),
}
COMBINATION = (
    "DCB-M saves little or nothing here: its combination adds 14 to 22 % of the links, depending on the distribution, "
    "but looks at 0.5 to 1.25 times as many pairs of nodes as GM-M, and that is what takes time in our GM-M. The "
    "paper's GM-M updates contributions with every link that it adds, so that fewer links may take less time there; "
    "that was not tested."
)
SLIP = (
    "What the paper prints as the mean degree of GM-M repeats its maximum degree, down to the variance: surely a slip."
)


def tables(bench: Bench) -> list[Figure]:
    """One table for every shape."""
    figures, num_nodes, num_runs = [], bench.nodes(NODES), bench.runs(RUNS, least=2)
    with stage("planning for the tables", len(NAMES) * num_runs) as advance:
        for shape in NAMES:
            runs = []
            for number in range(num_runs):
                runs.append(measured(Setting(num_nodes, TOPICS, shape), PLANNERS, bench.seed + number, bench.spark))
                advance(1)
            figures.append(_table(shape, num_nodes, runs))
    return figures


def _table(shape: str, num_nodes: int, runs: Sequence[Mapping[str, Run]]) -> Figure:
    lines = []
    for name, what in ROWS:
        values = _statistics([VALUES[what](run[name], run[GM_M]) for run in runs])
        lines.append(Line(name, what, values, PAPER[shape].get((name, what), ())))
    figure = Figure(
        NAMES[shape],
        f"random partitioning under {shape} distribution",
        x="",
        x_suffix="",
        x_values=STATISTICS,
        y=f"{len(runs)} runs with {num_nodes:,} nodes and {TOPICS} topics",
        unit="number",
        lines=tuple(lines),
    )
    num_good = sum(run[REPAIR].degree <= run[GM_M].degree for run in runs)
    good = f"{REPAIR} is at or below the maximum degree of {GM_M} in {num_good} of {len(runs)} runs."
    others = [good, _predicted(shape, runs)]
    if shape == UNIFORM:
        others += [SLIP, COMBINATION]
    others.append(f"{timing_note(len(runs))} The paper has {PAPER_RUNS} sets of nodes.")
    return replace(figure, notes=_means(figure).with_notes(UNEXPLAINED[shape], *others).notes)


def _predicted(shape: str, runs: Sequence[Mapping[str, Run]]) -> str:
    """What dividing could save if time were proportional to the pairs of nodes."""
    pairs = float(np.mean([run[DCBR_M].pairs for run in runs]))
    time = float(np.mean([run[DCBR_M].seconds / run[GM_M].seconds for run in runs]))
    printed = PAPER[shape][DCBR_M, TIME][0]
    return (
        f"DCBR-M looks at {pairs:.3f} of the pairs of nodes; by Lemma 7 it would take this share of the time of GM-M. "
        f"It takes {time:.3f} here: small parts, and pairs of bulk nodes, which have more topics in common, take more "
        f"than their share. The paper's {printed:g} is below what its Lemma 7 predicts: the time of its GM-M must "
        "grow faster than the pairs. Why is unexplained."
    )


def _means(figure: Figure) -> Figure:
    """The column that few runs and many have in common."""
    lines = tuple(replace(line, values=line.values[:1], paper=line.paper[:1]) for line in figure.lines)
    return replace(figure, x_values=figure.x_values[:1], lines=lines)


def _statistics(values: Sequence[float]) -> Values:
    return float(np.mean(values)), min(values), max(values), float(np.var(values))
