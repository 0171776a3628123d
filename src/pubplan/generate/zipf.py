"""Nodes that want few topics often and many rarely."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_size, nodes_shape
from pubplan.generate.shape import Shape

EXPONENT = 2.0


def zipf(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES) -> Shape:
    """q_i proportional to i^-2 for i = 1 … T, the exponent of Chen et al."""
    check_size(num_nodes, num_topics)
    return nodes_shape("zipf", -EXPONENT * np.log(np.arange(1, num_topics + 1)), num_nodes, seed, sizes)
