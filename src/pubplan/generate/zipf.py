"""Nodes that want few topics often and many rarely."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_number, check_size, nodes_shape
from pubplan.generate.topic import TopicShape

DEFAULT_EXPONENT = 2.0


def zipf(
    num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES, exponent: float = DEFAULT_EXPONENT
) -> TopicShape:
    """Nodes that want topic i of T with a probability in proportion to i^-exponent; Chen et al. have the exponent 2.

    Args:
        num_nodes: subscribers, which are nodes of an overlay.
        num_topics: T.
        sizes: the least and the most topics that a node wants.

    Raises:
        InputError: a size is out of range, or ``exponent`` is not between 0 and 100.

    >>> pubplan.generate.zipf(4, 3, sizes=(1, 2), exponent=1.5).parameters
    {'nodes': 4, 'topics': 3, 'seed': 0, 'sizes': [1, 2], 'exponent': 1.5}
    """
    check_size(num_nodes, num_topics)
    check_number("exponent", exponent)
    log_shares = -exponent * np.log(np.arange(1, num_topics + 1))
    others = {} if exponent == DEFAULT_EXPONENT else {"exponent": exponent}
    return nodes_shape("zipf", log_shares, num_nodes, seed, sizes, others)
