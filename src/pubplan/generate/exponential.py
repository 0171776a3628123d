"""Nodes whose wish for a topic falls by the same factor from one topic to the next."""

from __future__ import annotations

import numpy as np

from pubplan.generate.nodes import SIZES, Sizes, check_number, check_size, nodes_shape
from pubplan.generate.shape import Shape

RATE = 0.1


def exponential(num_nodes: int, num_topics: int, seed: int = 0, sizes: Sizes = SIZES, rate: float = RATE) -> Shape:
    """q_i proportional to exp(-rate i) for i = 1 … T.

    Chen et al. do not print the rate; 0.1 gives the mean degree of their GM-M at 200 topics. Whatever T is, topics far
    down the list have no subscriber: with the rate 0.1, 1000 nodes of 10 to 90 topics want about 140 of them.

    Raises:
        InputError: a size is out of range, or ``rate`` is not between 0 and 100.
    """
    check_size(num_nodes, num_topics)
    check_number("rate", rate)
    log_shares = -rate * np.arange(1, num_topics + 1, dtype=np.float64)
    return nodes_shape("exponential", log_shares, num_nodes, seed, sizes, {} if rate == RATE else {"rate": rate})
