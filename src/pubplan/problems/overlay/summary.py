"""What ``pubplan overlay`` answers about a plan, in sentences."""

from __future__ import annotations

from pubplan.planning import Result
from pubplan.problems.overlay.measures import Measures
from pubplan.text import counted


def sentences(result: Result, measures: Measures) -> list[str]:
    """Links and degrees, how far topics reach, how nodes were divided, and what keeps the degree from being lower."""
    proven = "" if result.bound is None else f"; proven at least {result.bound:,.0f}"
    max_degree = counted(measures.maximum_degree, "link")
    lines = [
        f"{counted(measures.links, 'link')} {'connects' if measures.links == 1 else 'connect'} every topic of "
        f"{counted(measures.nodes, 'node')}.",
        f"No node has more than {max_degree}{proven}. On average it has {measures.mean_degree:.2f}.",
    ]
    if measures.mean_diameter is not None and measures.worst_diameter is not None:
        lines.append(
            f"Nodes of a topic are at most {counted(measures.worst_diameter, 'link')} apart, on average over topics "
            f"{measures.mean_diameter:.1f}."
        )
    if measures.unmeasured:
        lines.append(f"Distances of {counted(measures.unmeasured, 'topic')} would have taken too long to compute.")
    lines += _division(measures)
    lines += [f"Binding: {reason}." for reason in result.reasons]
    return lines


def _division(measures: Measures) -> list[str]:
    """How nodes were divided and parts joined; nothing where they were not divided."""
    if measures.parts is None or measures.bulk is None or measures.light is None or measures.eta is None:
        return []
    bulk, parts = counted(measures.bulk, "bulk node"), counted(measures.parts, "part")
    joined = "all nodes"
    if measures.representatives is not None:
        joined = f"{bulk} and {counted(measures.representatives, 'representative')} (coverage {measures.coverage})"
    return [
        f"Divided: {bulk} (more than {counted(measures.eta, 'topic')}), {counted(measures.light, 'other')} in {parts}; "
        f"parts joined through {joined}."
    ]
