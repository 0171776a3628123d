"""The figures of the papers, made again: one file per paper."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.problems import FAMILIES
from pubplan.reproduce.figures import Figure, Line, Reproduction

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

PAPERS = FAMILIES
"""Named after the family whose paper it is."""

ALL = "all"

OPTION_NAMES = ("thresholds", "capacity", "vm_types", "peak_factor", "runs")
"""Dimensions of the experiments."""


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


def check_options(papers: Iterable[str], names: Iterable[str]) -> None:
    """Refuse options, by the names that :func:`reproduce` has for them, that the experiments of a paper do not have.

    Raises:
        InputError: a paper does not take one of them.
    """
    for paper in papers:
        taken = options_of(paper)
        for name in names:
            if name not in taken:
                known = ", ".join(map(argument, taken)) or "none of them"
                raise InputError(f"'reproduce {paper}' does not take {argument(name)}; it takes {known}.")


def options_of(paper: str) -> tuple[str, ...]:
    """The dimensions of a paper's experiments that can be set."""
    taken = signature(import_module(f"pubplan.reproduce.{paper}").reproduce).parameters
    return tuple(name for name in OPTION_NAMES if name in taken)


def reproduce(
    paper: str, scale: float | None = None, seed: int = 0, spark: SparkSession | None = None, **options: Any
) -> Reproduction:
    """Make the figures of a paper at ``scale`` of its workload; None is a scale that does not take long.

    Args:
        options: dimensions of the experiments: ``thresholds``, ``capacity``, ``vm_types``, ``peak_factor`` or ``runs``,
            where the paper has them; by default those of the paper, or ``runs`` that do not take long.

    Raises:
        InputError: ``scale`` is out of range, or an option is, or the paper does not have it.
    """
    check_options([paper], options)
    module = import_module(f"pubplan.reproduce.{paper}")
    used = module.DEFAULT_SCALE if scale is None else scale
    reproduction: Reproduction = module.reproduce(used, seed, spark, **options)
    return reproduction


__all__ = [
    "ALL",
    "OPTION_NAMES",
    "PAPERS",
    "Figure",
    "Line",
    "Reproduction",
    "check_options",
    "options_of",
    "papers_named",
    "reproduce",
]
