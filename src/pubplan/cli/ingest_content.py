"""What ``pubplan ingest`` is asked for where its sources are those of a content workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pubplan.cli.ingest_options import CONTENT_KINDS, TEXT_OPTIONS, TOPIC_KINDS

CONTENT_OPTIONS = ("attribute", "grid", "cells", "latency-unit", "price-unit", "price-per-distance")
SHARED_OPTIONS = ("window-start", "window-end", "max-rejected", "no-header", "multiline")


def is_about_content(options: dict[str, Any]) -> bool:
    """Whether the sources are those of a content workload.

    Raises:
        InputError: some are, and others are not; or options are given that only concern the other kind of workload.
    """
    from pubplan.errors import InputError

    content = [kind for kind in CONTENT_KINDS if kind in options]
    topic = [kind for kind in TOPIC_KINDS if kind in options]
    if content and topic:
        raise InputError(
            f"--{content[0]} makes a content workload and --{topic[0]} a topic workload; ingest makes one at a time."
        )
    known = {*SHARED_OPTIONS, *CONTENT_OPTIONS, *CONTENT_KINDS, *TEXT_OPTIONS}
    for name in options:
        if content and name not in known:
            raise InputError(f"--{name} is for topic workloads; with --{content[0]} it means nothing.")
        if not content and name in CONTENT_OPTIONS:
            raise InputError(f"--{name} is for content workloads, which need --clients and --brokers.")
    return bool(content)


def texts_of(options: dict[str, Any], name: str) -> list[str]:
    """An option that may be given several times; a file may have one text instead of a list."""
    from pubplan.errors import InputError

    given = options.get(name, [])
    texts = [given] if isinstance(given, str) else given
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"Table [ingest]: {name} is a list of texts, not {given!r}.")
    return list(texts)


def content_sentences(source: Mapping[str, Any]) -> list[str]:
    """What there is to say of a source of a content workload beside its rows."""
    lines = []
    if source.get("conflicts"):
        lines.append(f"  {source['conflicts']:,} of the duplicates say something else than the row that was kept.")
    if source.get("derived_grids"):
        grids = " ".join(f"--grid {grid}" for grid in source["derived_grids"])
        lines.append(f"  Derived from the data: {grids}")
    if source.get("derived_sites"):
        lines.append("  Neither sites nor latencies were given: every client is 0 us from every broker.")
    if source.get("links_closed"):
        closed = source["links_closed"]
        one, other, via = (repr(name) for name in closed["worst"]["brokers"])
        lines.append(
            f"  The prices are not a metric: {one} to {other} costs {closed['worst']['price']:,} directly and "
            f"{closed['worst']['detour']:,} over {via}. {closed['lowered']:,} of {closed['pairs']:,} became those of "
            "the cheapest route."
        )
    return lines
