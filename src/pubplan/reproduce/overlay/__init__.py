"""Tables II to IV, Fig. 2 and Fig. 4 to 10 of Chen et al., on nodes drawn as theirs.

C. Chen, R. Vitenberg, H.-A. Jacobsen: Scaling Construction of Low Fan-out Overlays for Topic-based Publish/Subscribe
Systems. ICDCS 2011.

The paper has up to 8000 nodes. At a smaller scale no overlay has more than that share of them: where nodes are counted
along x, all counts shrink; elsewhere the paper's count is kept if it is small enough. Fig. 6 and 7 have a point with
8000 nodes at any scale, because what the paper claims is about large overlays. DCB-M, DCBR-M and the naive parts choose
p as section V of the paper does, with the squares of its Lemma 7. The paper prints its tables, and of the figures what
its text says; the notes compare that with ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.arguments import argument
from pubplan.engine import stage
from pubplan.errors import InputError
from pubplan.reproduce.figures import Reproduction
from pubplan.reproduce.overlay.figures import (
    by_coverage,
    by_distribution,
    by_nodes,
    by_parts,
    by_sizes,
    by_topics,
    naive_parts,
    rings,
)
from pubplan.reproduce.overlay.runs import NAIVE, RING_PT, Setting, measured, naive, ring_pt
from pubplan.reproduce.overlay.sweeps import MAX_NODES, MIN_NODES, Bench
from pubplan.reproduce.overlay.tables import NODES, PLANNERS, RUNS, TOPICS, tables

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SOURCE = (
    "C. Chen, R. Vitenberg, H.-A. Jacobsen: Scaling Construction of Low Fan-out Overlays for Topic-based "
    "Publish/Subscribe Systems. ICDCS 2011"
)

DEFAULT_SCALE = 0.25
FIGURES = (naive_parts, by_parts, by_coverage, by_distribution, by_nodes, by_topics, by_sizes, rings)


def reproduce(
    scale: float, seed: int = 0, spark: SparkSession | None = None, *, runs: int | None = None
) -> Reproduction:
    """Plan overlays with every method and draw what the paper's tables and figures show.

    Args:
        runs: how many sets of nodes are drawn for every setting; None is what the scale suggests, 20 for the tables
            and one for large overlays at scale 1. The paper has 400 for the tables.

    Raises:
        InputError: ``scale`` or ``runs`` is out of range.
        VerificationFailed: an overlay leaves a topic unconnected.
    """
    if not 0.001 <= scale <= 1:
        raise InputError(f"{argument('scale')} must be between 0.001 and 1, not {scale}.")
    if runs is not None and runs < 1:
        raise InputError(f"{argument('runs')} must be at least 1, not {runs}.")
    bench = Bench(scale, seed, spark, runs)
    with stage("compiling"):
        every = {**PLANNERS, NAIVE: naive, RING_PT: ring_pt}
        measured(Setting(MIN_NODES, TOPICS), every, seed, spark)
    figures = [*tables(bench), *(figure for make in FIGURES for figure in make(bench))]
    setting = {
        "scale": scale,
        "seed": seed,
        "most nodes": bench.nodes(MAX_NODES),
        "most nodes of Fig. 6 and 7": bench.large_nodes,
        "nodes of the tables": bench.nodes(NODES),
        "runs of the tables": bench.runs(RUNS, least=2),
    }
    return Reproduction("overlay", SOURCE, setting, tuple(figures))
