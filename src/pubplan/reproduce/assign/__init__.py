"""Section VI of Yu, Agarwal, Yang, as far as it needs no linear program, on synthetic workloads like theirs.

A. Yu, P. K. Agarwal, J. Yang: Subscriber Assignment for Wide-Area Content-Based Publish/Subscribe. ICDE 2011, pages 267
to 278; extended in IEEE TKDE 24(10), 2012, doi 10.1109/TKDE.2012.65.

Bandwidths of the paper are volumes in an event space that it does not describe, so they are compared as multiples of
what Gr* needs on the same workload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.reproduce.assign.figures import (
    bandwidths,
    boxes_figure,
    difficult,
    loads,
    overall,
    table_one,
    table_two,
    trees,
)
from pubplan.reproduce.assign.runs import (
    GR,
    GR_STAR,
    LOOSE,
    NUM_BROKERS,
    NUM_CLIENTS,
    REFINED,
    SET_1,
    SET_2,
    SET_3,
    TIGHT,
    Experiments,
)
from pubplan.reproduce.figures import Reproduction

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SOURCE = (
    "A. Yu, P. K. Agarwal, J. Yang: Subscriber Assignment for Wide-Area Content-Based Publish/Subscribe. ICDE 2011, "
    "pages 267-278; extended in IEEE TKDE 24(10), 2012, doi 10.1109/TKDE.2012.65"
)

DEFAULT_SCALE = 0.1

MIN_SCALE = 0.01
"""Fewer clients than ten per broker say nothing about loads."""

BOXES = (1, 2, 3, 4, 5)


def reproduce(scale: float, seed: int = 0, spark: SparkSession | None = None) -> Reproduction:
    """Plan for all workload sets with every method and make the tables and figures that need no linear program.

    Args:
        scale: the share of the paper's 100,000 clients; brokers stay as many as they are.

    Raises:
        InputError: the scale is out of range.
    """
    if not MIN_SCALE <= scale <= 10:
        raise InputError(f"{argument('scale')} must be between {MIN_SCALE:g} and 10, not {scale:g}.")
    experiments = Experiments(scale, seed, spark)
    first = [experiments.run(setting) for setting in SET_1]
    second, third = experiments.run(SET_2), experiments.run(SET_3)
    by_boxes = [experiments.run(SET_1[3], (GR_STAR, GR, REFINED), boxes) for boxes in BOXES]
    tight, loose = (experiments.run(setting, (GR_STAR, GR, REFINED)) for setting in (TIGHT, LOOSE))
    figures = (
        overall("Fig. 7", "set #1, means of four workloads", first),
        overall("Fig. 8", "set #2", [second]),
        overall("Fig. 9", "set #3", [third]),
        bandwidths(first),
        table_one(first),
        table_two(second, third),
        loads(first[3]),
        trees(tight, loose),
        boxes_figure(BOXES, by_boxes),
        difficult(seed),
    )
    return Reproduction("assign", SOURCE, _setting(experiments, scale, seed), figures)


def _setting(experiments: Experiments, scale: float, seed: int) -> dict[str, Any]:
    return {
        "scale": scale,
        "seed": seed,
        "clients": experiments.num_clients,
        "clients of the paper": NUM_CLIENTS,
        "brokers": NUM_BROKERS,
    }
