"""Nodes that want every topic with the same probability."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_size, nodes_shape
from pubplan.generate.shape import Shape


def uniform(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES) -> Shape:
    """q_i = 1 / T."""
    check_size(num_nodes, num_topics)
    return nodes_shape("uniform", np.zeros(num_topics), num_nodes, seed, sizes)
