"""What clients publish and what traffic costs, as distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubplan.engine import exact_sum, map_blocks
from pubplan.workload.content.workload import ContentWorkload
from pubplan.workload.distribution import Distribution, distribution_of
from pubplan.workload.tables import Int64Array

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Published:
    """What clients publish.

    Attributes:
        messages: per client and window.
        num_publishers: clients that publish any.
        num_unnamed: messages of the density whose publisher is not known.
    """

    messages: Distribution
    num_publishers: int
    num_unnamed: int


def describe_published(workload: ContentWorkload, spark: SparkSession | None = None) -> Published | None:
    """What clients publish, counted block by block; None where that is not known."""
    if "cells" not in workload.optional_columns:
        return None

    def count(block: int) -> Int64Array:
        offsets, _, counts = workload.read_publications(block)
        sums: Int64Array = np.diff(np.append(0, np.cumsum(counts))[offsets])
        return sums

    sums = np.concatenate([np.empty(0, np.int64), *map_blocks(count, workload.num_blocks, spark)])
    return Published(distribution_of(sums), int(np.count_nonzero(sums)), workload.totals.rate - exact_sum(sums))


def describe_prices(workload: ContentWorkload) -> dict[str, Distribution]:
    """The prices of traffic that the workload has, in micro-dollars per GB: of ``sites`` to brokers, of ``links``."""
    prices, links = {}, workload.link_prices
    if workload.site_prices is not None:
        prices["sites"] = distribution_of(workload.site_prices.reshape(-1).astype(np.int64))
    if links is not None:
        prices["links"] = distribution_of(links[np.triu_indices(len(links), 1)])
    return prices
