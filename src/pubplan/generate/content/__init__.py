"""Shapes of content workloads, one file each."""

from pubplan.generate.content.adversarial import content_adversarial
from pubplan.generate.content.exchange import content_exchange
from pubplan.generate.content.feeds import content_feeds
from pubplan.generate.content.hotspots import content_hotspots
from pubplan.generate.content.newsgroups import content_newsgroups
from pubplan.generate.content.shape import ContentShape

__all__ = [
    "ContentShape",
    "content_adversarial",
    "content_exchange",
    "content_feeds",
    "content_hotspots",
    "content_newsgroups",
]
