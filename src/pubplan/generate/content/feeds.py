"""Clients of a few dozen feeds, each read at a few sites only: workload set #2 of Yu, Agarwal, Yang, *Subscriber
Assignment for Wide-Area Content-Based Publish/Subscribe* (section VI), after what is known of RSS feeds.

50 feeds, their popularity Zipf with exponent 0.5. Each is a random unit square of the space, and its clients are at 10
random sites. The paper says neither how wide the space is nor how many sites there are: here 1000 units and 200 sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import block_range, random_stream
from pubplan.errors import InputError
from pubplan.generate.content.brokers import OUT_DEGREE
from pubplan.generate.content.deployment import deploy
from pubplan.generate.content.draws import choose, cumulate, zipf_half
from pubplan.generate.content.shape import ATTRIBUTES, ContentShape
from pubplan.workload import ClientBlock, Int32Array, Int64Array, unit_space

NAME = "content-feeds"
NUM_FEEDS, SITES_PER_FEED, NUM_SITES = 50, 10, 200
UNIT, SPACE_UNITS = 1000, 1000
"""Grid steps of a unit, and units of the space along each attribute."""


def content_feeds(
    num_clients: int,
    num_brokers: int,
    seed: int = 0,
    *,
    levels: int = 1,
    out_degree: int = OUT_DEGREE,
    num_sites: int = NUM_SITES,
) -> ContentShape:
    """Clients that each read one feed.

    Args:
        num_clients: how many there are.
        num_brokers: with those that only feed others.
        seed: of everything that is drawn.
        levels: brokers between the publisher and a client.
        out_degree: the most brokers that one feeds, with several levels.
        num_sites: where clients can be.

    Raises:
        InputError: a size is out of range.

    >>> pubplan.generate.content_feeds(20, 4, num_sites=12).parameters
    {'clients': 20, 'brokers': 4, 'seed': 0, 'sites': 12}
    """
    deployment = deploy(NAME, num_clients, num_brokers, seed, levels, out_degree, num_sites, NUM_SITES)
    if num_sites < SITES_PER_FEED:
        raise InputError(
            f"{argument('num_sites')} must be at least {SITES_PER_FEED}, not {num_sites}: its clients are at as many."
        )
    generator = random_stream(seed, f"{NAME}/feeds")
    lows = generator.integers(0, UNIT * (SPACE_UNITS - 1) + 1, (NUM_FEEDS, 2))
    sites = np.array([generator.permutation(num_sites)[:SITES_PER_FEED] for _ in range(NUM_FEEDS)])
    drawing = _Drawing(seed, num_clients, cumulate(zipf_half(NUM_FEEDS)), lows.astype(np.int32), sites)
    return deployment.shape(unit_space(UNIT * SPACE_UNITS, UNIT * SPACE_UNITS, names=ATTRIBUTES), drawing.draw)


@dataclass(frozen=True)
class _Drawing:
    seed: int
    num_clients: int
    popularity: Int64Array
    lows: Int32Array
    sites: Int64Array

    def draw(self, block: int) -> ClientBlock:
        first, last = block_range(block, self.num_clients)
        generator = random_stream(self.seed, f"{NAME}/clients", block)
        feeds = choose(generator, self.popularity, last - first)
        sites = self.sites[feeds, generator.integers(0, SITES_PER_FEED, last - first)]
        lows = self.lows[feeds]
        return ClientBlock(sites.astype(np.int32), lows, lows + np.int32(UNIT))
