"""Section VI of Zhao, Wu on networks like theirs, under three settings of what the paper leaves open.

Y. Zhao, J. Wu: On the Construction of the Minimum Cost Content-Based Publish/Subscribe Overlays. IEEE SECON 2011,
pages 476 to 484.

The paper says neither how many channels the content space has nor whether a message that many brokers want is paid for
once on a link or once for each of them, so both costs are shown, and interests that few brokers have in common as a
third setting. Its worked example (Fig. 3 to 5) needs link costs and a traffic table that are in the drawing only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.reproduce.federate.figures import ratio_figure, size_figure, times_table
from pubplan.reproduce.federate.runs import (
    CLIENTS_PER_BROKER,
    NUM_CHANNELS,
    NUM_CLIENTS,
    PAPER_RUNS,
    RATIOS,
    SETTINGS,
    SIZE_SHARES,
    Experiments,
)
from pubplan.reproduce.figures import Reproduction

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

SOURCE = (
    "Y. Zhao, J. Wu: On the Construction of the Minimum Cost Content-Based Publish/Subscribe Overlays. IEEE SECON "
    "2011, pages 476-484"
)

DEFAULT_SCALE = 0.2

MIN_SCALE = 0.03
"""With fewer clients there would be fewer than three brokers to choose from."""

MAX_SCALE = 10

RUNS = 3


def reproduce(scale: float, seed: int = 0, spark: SparkSession | None = None, *, runs: int = RUNS) -> Reproduction:
    """Plan with every method on networks of several sizes and price ratios, and make Fig. 9, Fig. 10 and Table I.

    Args:
        scale: the share of the paper's 1,000 to 10,000 clients; there are 100 of them per broker at any scale. Table I
            has the paper's 10,000 clients from the usual scale on, as it compares seconds.
        runs: networks per point, of which ratios are means.

    Raises:
        InputError: a value is out of range.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise InputError(f"{argument('scale')} must be between {MIN_SCALE:g} and {MAX_SCALE}, not {scale:g}.")
    if runs < 1:
        raise InputError(f"{argument('runs')} must be at least 1, not {runs}.")
    experiments = Experiments(round(scale * NUM_CLIENTS), runs, seed, spark)
    by_size = [experiments.point(share) for share in SIZE_SHARES]
    by_ratio = [experiments.point(price_ratio=ratio) for ratio in RATIOS]
    times = experiments.times(NUM_CLIENTS if scale >= DEFAULT_SCALE else experiments.num_clients)
    figures = (
        *(size_figure(setting, by_size) for setting in SETTINGS),
        *(ratio_figure(setting, by_ratio) for setting in SETTINGS),
        times_table(times),
    )
    return Reproduction("federate", SOURCE, _setting(experiments, scale, seed), figures)


def _setting(experiments: Experiments, scale: float, seed: int) -> dict[str, Any]:
    return {
        "scale": scale,
        "seed": seed,
        "clients": experiments.num_clients,
        "clients of the paper": NUM_CLIENTS,
        "clients per broker": CLIENTS_PER_BROKER,
        "channels": NUM_CHANNELS,
        "networks per point": experiments.num_runs,
        "networks per point of the paper": PAPER_RUNS,
    }
