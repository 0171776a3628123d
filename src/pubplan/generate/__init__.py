"""Synthetic workloads, one file per shape. ``generate(spotify(0.01), "workload")`` writes one."""

from pubplan.generate.content import (
    ContentShape,
    content_adversarial,
    content_exchange,
    content_feeds,
    content_hotspots,
    content_newsgroups,
)
from pubplan.generate.exponential import exponential
from pubplan.generate.raw import write_raw
from pubplan.generate.shape import Shape, generate
from pubplan.generate.spotify import spotify
from pubplan.generate.topic import TopicShape
from pubplan.generate.twitter import twitter
from pubplan.generate.uniform import uniform
from pubplan.generate.zipf import zipf

__all__ = [
    "ContentShape",
    "Shape",
    "TopicShape",
    "content_adversarial",
    "content_exchange",
    "content_feeds",
    "content_hotspots",
    "content_newsgroups",
    "exponential",
    "generate",
    "spotify",
    "twitter",
    "uniform",
    "write_raw",
    "zipf",
]
