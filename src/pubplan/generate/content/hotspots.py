"""Clients with rectangles around a hundred centres, some of them hot spots: workload set #3 of Yu, Agarwal, Yang,
*Subscriber Assignment for Wide-Area Content-Based Publish/Subscribe* (section VI).

The space has 10 x 10 cells. A rectangle has its centre in the middle of a cell; cells are ranked at random, and a cell
is drawn by Zipf's law with exponent 0.5. Along each attribute the width is drawn from a fixed set by the same law, and
the rectangle ends where the space does. Sites are independent of all that. The paper does not print the widths: here
0.05, 0.1, 0.2, 0.4 and 0.6 of the space, narrow ones more often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pubplan.engine import block_range, random_stream
from pubplan.generate.content.brokers import OUT_DEGREE
from pubplan.generate.content.deployment import deploy
from pubplan.generate.content.draws import choose, cumulate, zipf_half
from pubplan.generate.content.shape import ATTRIBUTES, ContentShape
from pubplan.workload import ClientBlock, Int64Array, unit_space

NAME = "content-hotspots"
CELLS_PER_AXIS, NUM_SITES = 10, 2000
STEPS = 1_000_000
CELL = STEPS // CELLS_PER_AXIS
WIDTHS = np.array([50_000, 100_000, 200_000, 400_000, 600_000], dtype=np.int64)


def content_hotspots(
    num_clients: int,
    num_brokers: int,
    seed: int = 0,
    *,
    levels: int = 1,
    out_degree: int = OUT_DEGREE,
    num_sites: int = NUM_SITES,
) -> ContentShape:
    """Clients that each draw a cell, two widths and a site.

    Args:
        num_clients: how many there are.
        num_brokers: with those that only feed others.
        seed: of everything that is drawn.
        levels: brokers between the publisher and a client.
        out_degree: the most brokers that one feeds, with several levels.
        num_sites: where clients can be.

    Raises:
        InputError: a size is out of range.

    >>> pubplan.generate.content_hotspots(20, 4).space.volume
    1000000000000
    """
    deployment = deploy(NAME, num_clients, num_brokers, seed, levels, out_degree, num_sites, NUM_SITES)
    ranked = random_stream(seed, f"{NAME}/cells").permutation(CELLS_PER_AXIS**2)
    drawing = _Drawing(
        seed, num_clients, num_sites, ranked, cumulate(zipf_half(len(ranked))), cumulate(zipf_half(len(WIDTHS)))
    )
    return deployment.shape(unit_space(STEPS, STEPS, names=ATTRIBUTES), drawing.draw)


@dataclass(frozen=True)
class _Drawing:
    seed: int
    num_clients: int
    num_sites: int
    ranked_cells: Int64Array
    cell_popularity: Int64Array
    width_popularity: Int64Array

    def draw(self, block: int) -> ClientBlock:
        first, last = block_range(block, self.num_clients)
        number = last - first
        generator = random_stream(self.seed, f"{NAME}/clients", block)
        cells = self.ranked_cells[choose(generator, self.cell_popularity, number)]
        centres = np.column_stack(np.divmod(cells, CELLS_PER_AXIS)) * CELL + CELL // 2
        halves = WIDTHS[choose(generator, self.width_popularity, 2 * number)].reshape(number, 2) // 2
        sites = generator.integers(0, self.num_sites, number)
        return ClientBlock(
            sites.astype(np.int32),
            np.maximum(centres - halves, 0).astype(np.int32),
            np.minimum(centres + halves, STEPS).astype(np.int32),
        )
