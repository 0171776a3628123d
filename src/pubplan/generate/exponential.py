"""Nodes whose wish for a topic falls by the same factor from one topic to the next."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_size, nodes_shape
from pubplan.generate.shape import Shape

RATE = 0.1


def exponential(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES) -> Shape:
    """q_i proportional to exp(-0.1 i). Chen et al. do not print the rate; 0.1 gives the mean degree of their GM-M."""
    check_size(num_nodes, num_topics)
    return nodes_shape("exponential", -RATE * np.arange(1, num_topics + 1, dtype=np.float64), num_nodes, seed, sizes)
