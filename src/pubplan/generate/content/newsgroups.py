"""Clients with subscriptions out of a hierarchy of subjects: workload set #1 of Yu, Agarwal, Yang, *Subscriber
Assignment for Wide-Area Content-Based Publish/Subscribe* (section VI), which their generator extrapolates from
statistics of Google Groups.

The generator is not public; this one is built like it, from what the paper says:

- subjects are a hierarchy, broad ones contain narrow ones: here three levels of 12 under each other, so that 1728
  narrow rectangles lie in 144 wider ones and those in 12 broad ones;
- popularity is skewed: the k-th child of a subject has the share 1 / k of its clients;
- the 100 hottest subjects are removed, as broadcast serves them better;
- skew low (IS:L): from the top down, the variance of the popularity of sibling subjects is reduced by 55 %;
- broad low, high (BI:L, BI:H): from the bottom up, 1 % or 10 % of the popularity of each subject goes to the one that
  contains it;
- tastes differ between regions: each broad subject is 1, 2, 4, 8 or 16 times as popular there.

Skew high and broad low resemble Google Groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pubplan.arguments import argument
from pubplan.engine import block_range, random_stream
from pubplan.errors import InputError
from pubplan.generate.content.brokers import OUT_DEGREE
from pubplan.generate.content.deployment import deploy
from pubplan.generate.content.draws import choose, cumulate
from pubplan.generate.content.network import REGIONS
from pubplan.generate.content.shape import ATTRIBUTES, ContentShape
from pubplan.workload import ClientBlock, Int32Array, Int64Array, unit_space

NAME = "content-newsgroups"
NUM_SITES = 2000
STEPS = 1 << 20

CHILDREN = (4, 3)
"""Each subject is cut into 4 x 3 fields with a child each, along the two attributes in turn."""
NUM_CHILDREN, NUM_LEVELS = 12, 3
NUM_HOTTEST = 100
DIFFUSED_DEVIATION = (671, 1000)
"""What remains of deviations when the variance is reduced by 55 %: the root of 0.45."""
PROPAGATED_PERCENT = {"low": 1, "high": 10}
TASTES = (1, 2, 4, 8, 16)
POPULARITY_BITS = 48


def content_newsgroups(
    num_clients: int,
    num_brokers: int,
    seed: int = 0,
    *,
    skew: str = "high",
    broad: str = "low",
    levels: int = 1,
    out_degree: int = OUT_DEGREE,
    num_sites: int = NUM_SITES,
) -> ContentShape:
    """Clients that each draw a site, and a subject by the tastes of its region.

    Args:
        num_clients: how many there are.
        num_brokers: with those that only feed others.
        seed: of everything that is drawn.
        levels: brokers between the publisher and a client.
        out_degree: the most brokers that one feeds, with several levels.
        num_sites: where clients can be.
        skew: low or high, how unequal the popularity of subjects is (the paper's IS).
        broad: low or high, how many clients want broad subjects (the paper's BI).

    Raises:
        InputError: a size is out of range, or a setting is not low or high.

    >>> pubplan.generate.content_newsgroups(20, 12, levels=2).brokers.num_brokers
    12
    """
    for option, value in (("skew", skew), ("broad", broad)):
        if value not in PROPAGATED_PERCENT:
            raise InputError(f"{argument(option)} is low or high, not {value}.")
    deployment = deploy(NAME, num_clients, num_brokers, seed, levels, out_degree, num_sites, NUM_SITES)
    lows, highs = _rectangles(random_stream(seed, f"{NAME}/subjects"))
    popularity = _popularity(random_stream(seed, f"{NAME}/popularity"), skew == "low", PROPAGATED_PERCENT[broad])
    tastes = random_stream(seed, f"{NAME}/tastes").choice(np.array(TASTES), (len(REGIONS), NUM_CHILDREN))
    ends = [cumulate(_by_taste(popularity, region)) for region in tastes.tolist()]
    drawing = _Drawing(seed, num_clients, deployment.network.regions, np.array(ends), lows, highs)
    return deployment.shape(unit_space(STEPS, STEPS, names=ATTRIBUTES), drawing.draw, {"skew": skew, "broad": broad})


def _rectangles(generator: np.random.Generator) -> tuple[Int32Array, Int32Array]:
    """Corners of all subjects, level by level; subject i of a level contains 12 i … 12 i + 11 of the next."""
    lows, highs = np.zeros((1, 2), dtype=np.int64), np.full((1, 2), STEPS, dtype=np.int64)
    levels = []
    for level in range(NUM_LEVELS):
        columns = CHILDREN if level % 2 == 0 else CHILDREN[::-1]
        child = np.arange(NUM_CHILDREN)
        fields = np.column_stack([child % columns[0], child // columns[0]])
        extents = (highs - lows)[:, None, :]
        field_lows = lows[:, None, :] + extents * fields // np.array(columns)
        field_highs = lows[:, None, :] + extents * (fields + 1) // np.array(columns)
        # A child leaves up to a third of its field free at either end.
        room = (field_highs - field_lows) // 3
        child_lows = field_lows + generator.integers(0, room + 1)
        child_highs = field_highs - generator.integers(0, room + 1)
        lows, highs = child_lows.reshape(-1, 2), child_highs.reshape(-1, 2)
        levels.append((lows, highs))
    all_lows, all_highs = (np.concatenate(corners).astype(np.int32) for corners in zip(*levels, strict=True))
    return all_lows, all_highs


def _popularity(generator: np.random.Generator, is_diffused: bool, propagated_percent: int) -> list[list[int]]:
    """The popularity of all subjects, level by level, in whole numbers."""
    # 1. A random child is the first of its siblings, another the second …; only subjects of the last level are popular.
    shares = [_child_shares(generator, NUM_CHILDREN**level) for level in range(NUM_LEVELS)]
    narrow = _products(shares)
    # 2. The hottest are removed.
    for hottest in sorted(range(len(narrow)), key=lambda subject: (-narrow[subject], subject))[:NUM_HOTTEST]:
        narrow[hottest] = 0
    # 3. Skew low: siblings come closer to each other, from the top down.
    if is_diffused:
        narrow = _diffused(narrow)
    # 4. Part of it goes up, level by level.
    levels = [narrow]
    for _ in range(NUM_LEVELS - 1):
        given = [popularity * propagated_percent // 100 for popularity in levels[0]]
        levels[0] = [popularity - part for popularity, part in zip(levels[0], given, strict=True)]
        levels.insert(0, [sum(given[i : i + NUM_CHILDREN]) for i in range(0, len(given), NUM_CHILDREN)])
    return levels


def _child_shares(generator: np.random.Generator, num_parents: int) -> list[int]:
    """1, 1 / 2, 1 / 3, … of the first child's share, in random order under each parent."""
    zipf = np.array([(1 << 16) // rank for rank in range(1, NUM_CHILDREN + 1)])
    ranked = generator.permuted(np.tile(zipf, (num_parents, 1)), axis=1)
    shares: list[int] = ranked.ravel().tolist()
    return shares


def _products(shares: list[list[int]]) -> list[int]:
    """Shares multiplied from the top down."""
    products = [1]
    for level in shares:
        products = [products[child // NUM_CHILDREN] * share for child, share in enumerate(level)]
    return products


def _diffused(narrow: list[int]) -> list[int]:
    """Popularity of the last level, after siblings have moved towards their mean on every level."""
    sums = [narrow]
    while len(sums[0]) > 1:
        sums.insert(0, [sum(sums[0][i : i + NUM_CHILDREN]) for i in range(0, len(sums[0]), NUM_CHILDREN)])
    kept, whole = DIFFUSED_DEVIATION
    diffused = [1 << POPULARITY_BITS]
    for parents, children in pairwise(sums):
        following = []
        for parent, (before, now) in enumerate(zip(parents, diffused, strict=True)):
            siblings = children[parent * NUM_CHILDREN : (parent + 1) * NUM_CHILDREN]
            alive = sum(1 for popularity in siblings if popularity)
            for popularity in siblings:
                # now x (mean + (share - mean) x kept): the share is popularity / before, the mean 1 / alive.
                numerator = before * (whole - kept) + popularity * alive * kept
                following.append(now * numerator // (before * alive * whole) if popularity else 0)
        diffused = following
    return diffused


def _by_taste(levels: list[list[int]], tastes: list[int]) -> list[int]:
    """Popularity of all subjects where broad subject i is ``tastes[i]`` times as popular, scaled to 2^48 in all."""
    weights = [
        popularity * tastes[subject // (len(level) // NUM_CHILDREN)]
        for level in levels
        for subject, popularity in enumerate(level)
    ]
    total = sum(weights)
    return [(weight << POPULARITY_BITS) // total for weight in weights]


@dataclass(frozen=True)
class _Drawing:
    seed: int
    num_clients: int
    regions: Int32Array
    ends: Int64Array
    lows: Int32Array
    highs: Int32Array

    def draw(self, block: int) -> ClientBlock:
        first, last = block_range(block, self.num_clients)
        generator = random_stream(self.seed, f"{NAME}/clients", block)
        sites = generator.integers(0, len(self.regions), last - first).astype(np.int32)
        regions = self.regions[sites]
        subjects = np.empty(last - first, dtype=np.int64)
        for region, ends in enumerate(self.ends):
            here = np.flatnonzero(regions == region)
            subjects[here] = choose(generator, ends, len(here))
        return ClientBlock(sites, self.lows[subjects], self.highs[subjects])
