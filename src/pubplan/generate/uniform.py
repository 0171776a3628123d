"""Nodes that want every topic with the same probability."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_size, nodes_shape
from pubplan.generate.topic import TopicShape


def uniform(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES) -> TopicShape:
    """Nodes that want each of T topics with the same probability, q_i = 1 / T.

    Args:
        num_nodes: subscribers, which are nodes of an overlay.
        num_topics: T.
        sizes: the least and the most topics that a node wants.

    Raises:
        InputError: a size is out of range.

    >>> pubplan.generate.uniform(4, 3, sizes=(1, 2)).parameters
    {'nodes': 4, 'topics': 3, 'seed': 0, 'sizes': [1, 2]}
    """
    check_size(num_nodes, num_topics)
    return nodes_shape("uniform", np.zeros(num_topics), num_nodes, seed, sizes)
