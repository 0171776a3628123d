"""What would satisfy one subscriber at the least cost, for explanations."""

from __future__ import annotations

import numpy as np

from pubplan.engine import exact_sum
from pubplan.workload import Int64Array

MAX_ENUMERATED = 16
"""Up to this many topics, all ways to satisfy a subscriber are compared."""


def cheapest_cover(rates: Int64Array, costs: Int64Array, missing: int) -> tuple[Int64Array | None, bool]:
    """Places of topics that bring what is missing at the least cost, and whether all ways were compared.

    With many topics: the best cost per event first until it is enough, or one topic that is enough if that is cheaper.
    """
    if exact_sum(rates) < missing:
        return None, True
    if len(rates) <= MAX_ENUMERATED:
        brought, paid = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for rate, cost in zip(np.minimum(rates, missing), costs, strict=True):
            brought, paid = np.append(brought, brought + rate), np.append(paid, paid + cost)
        enough = np.flatnonzero(brought >= missing)
        best = int(enough[np.argmin(paid[enough])])
        return np.array([bit for bit in range(len(rates)) if best >> bit & 1], dtype=np.int64), True
    order = np.argsort(costs / np.minimum(rates, missing), kind="stable")
    several = order[: int(np.searchsorted(np.cumsum(np.minimum(rates[order], missing)), missing)) + 1]
    alone = np.flatnonzero(rates >= missing)
    if len(alone) and costs[alone].min() <= costs[several].sum():
        return alone[[np.argmin(costs[alone])]], False
    return several, False
