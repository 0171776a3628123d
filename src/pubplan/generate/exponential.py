"""Nodes whose wish for a topic falls by the same factor from one topic to the next."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_number, check_size, nodes_shape
from pubplan.generate.topic import TopicShape

DEFAULT_RATE = 0.1


def exponential(
    num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES, rate: float = DEFAULT_RATE
) -> TopicShape:
    """Nodes that want topic i of T with a probability in proportion to exp(-rate i).

    Chen et al. do not print the rate; 0.1 gives the mean degree of their GM-M at 200 topics. Whatever T is, topics far
    down the list have no subscriber: with the rate 0.1, 1000 nodes of 10 to 90 topics want about 140 of them.

    Args:
        num_nodes: subscribers, which are nodes of an overlay.
        num_topics: T.
        sizes: the least and the most topics that a node wants.

    Raises:
        InputError: a size is out of range, or ``rate`` is not between 0 and 100.

    >>> pubplan.generate.exponential(4, 3, sizes=(1, 2), rate=0.2).parameters
    {'nodes': 4, 'topics': 3, 'seed': 0, 'sizes': [1, 2], 'rate': 0.2}
    """
    check_size(num_nodes, num_topics)
    check_number("rate", rate)
    log_shares = -rate * np.arange(1, num_topics + 1, dtype=np.float64)
    return nodes_shape(
        "exponential", log_shares, num_nodes, seed, sizes, {} if rate == DEFAULT_RATE else {"rate": rate}
    )
