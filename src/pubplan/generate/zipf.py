"""Nodes that want few topics often and many rarely."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_number, check_size, nodes_shape
from pubplan.generate.shape import Shape

EXPONENT = 2.0


def zipf(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES, exponent: float = EXPONENT) -> Shape:
    """q_i proportional to i^-exponent for i = 1 … T; Chen et al. have the exponent 2.

    Raises:
        InputError: a size is out of range, or ``exponent`` is not between 0 and 100.
    """
    check_size(num_nodes, num_topics)
    check_number("exponent", exponent)
    log_shares = -exponent * np.log(np.arange(1, num_topics + 1))
    others = {} if exponent == EXPONENT else {"exponent": exponent}
    return nodes_shape("zipf", log_shares, num_nodes, seed, sizes, others)
