"""The figures of the papers, made again: one file per paper."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pubplan.errors import InputError, unknown_name
from pubplan.reproduce.figures import Figure, Line, Reproduction

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

PAPERS = ("select", "provision", "overlay")
"""Named after the family whose paper it is."""

ALL = "all"


def papers_named(name: str) -> tuple[str, ...]:
    """The papers to reproduce: the one named, or all.

    Raises:
        InputError: there is no such paper.
    """
    if name == ALL:
        return PAPERS
    if name not in PAPERS:
        raise InputError(unknown_name("paper", name, [*PAPERS, ALL]))
    return (name,)


def reproduce(paper: str, scale: float | None = None, seed: int = 0, spark: SparkSession | None = None) -> Reproduction:
    """Make the figures of a paper at ``scale`` of its workload; None is a scale that does not take long.

    Raises:
        InputError: ``scale`` is out of range.
    """
    module = import_module(f"pubplan.reproduce.{paper}")
    found: Reproduction = module.reproduce(module.DEFAULT_SCALE if scale is None else scale, seed, spark)
    return found


__all__ = ["ALL", "PAPERS", "Figure", "Line", "Reproduction", "papers_named", "reproduce"]
