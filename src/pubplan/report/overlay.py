"""Plans of ``overlay`` on the page: how many links nodes have, how far topics reach, and small overlays as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.planning import Plan, Reason, planning_seconds, stage_seconds
from pubplan.problems.overlay import DIVISION, FAMILY, LINKS, NODES, TOPICS
from pubplan.report.distribution import Limit, distribution
from pubplan.report.drawing import drawing_spec, spring_layout
from pubplan.report.frame import Chart, Section, Table, percent_up
from pubplan.report.lines import Axis, Kind, Mark, lines_spec
from pubplan.workload import Int64Array, Workload

MAX_DRAWN = 120
"""Up to so many nodes are drawn."""

TABLE_ROWS = 20
FAR_APART = 20
"""Values that differ by more than this factor are drawn on a logarithmic scale."""

NO_PLAN_IS_BELOW = "no plan is below"
PHASES = ("conquering parts", "combining parts", "repairing degrees", "linking nodes", "closing rings")
SPANNING = "spanning topics"


@dataclass(frozen=True)
class Tables:
    """A plan with its tables, read once."""

    plan: Plan
    links: pa.Table
    nodes: pa.Table
    topics: pa.Table
    division: Mapping[str, int] | None

    @classmethod
    def read(cls, plan: Plan) -> Tables:
        """Raises InputError if a table is damaged."""
        links, nodes, topics, division = (
            FAMILY.read_decisions(plan, name) for name in (LINKS, NODES, TOPICS, DIVISION)
        )
        if division.num_rows > 1:
            raise InputError(
                f"{plan.path}: the decisions '{DIVISION}' are damaged; they have {division.num_rows} rows."
            )
        ends = np.concatenate([links["node"].to_numpy(), links["other"].to_numpy()])
        if len(ends) and not 0 <= ends.min() <= ends.max() < nodes.num_rows:
            raise InputError(f"{plan.path}: the decisions '{LINKS}' are damaged: they name nodes that do not exist.")
        return cls(plan, links, nodes, topics, next(iter(division.to_pylist()), None))

    @property
    def num_nodes(self) -> int:
        return int(self.nodes.num_rows)

    @property
    def degrees(self) -> Int64Array:
        degrees: Int64Array = self.nodes["degree"].to_numpy().astype(np.int64)
        return degrees

    @property
    def bound(self) -> int | None:
        bound = self.plan.record["bound"]
        return None if bound is None else int(bound)

    def of_shared_topics(self, column: str) -> Int64Array:
        """``column`` of the topics that two nodes or more have, where it was computed."""
        values: Int64Array = self.topics[column].to_numpy().astype(np.int64)
        is_shown: npt.NDArray[np.bool_] = (self.topics["nodes"].to_numpy() > 1) & (values >= 0)
        return values[is_shown]

    def linking_seconds(self) -> float | None:
        """Seconds that the method took to find links, without reading the workload and spanning trees."""
        planning = planning_seconds(self.plan)
        return None if planning is None else max(0.0, planning - stage_seconds(self.plan).get(SPANNING, 0.0))


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each, with a drawing if it is small."""
    read = [Tables.read(plan) for plan in plans]
    names = labels(read)
    charts = [*degrees(read, names), *distances(read, names), *by_size(read, workloads)]
    found = [section(tables, name) for tables, name in zip(read, names, strict=True)]
    return [Section(FAMILY.question, charts=charts), *found]


def labels(read: Sequence[Tables]) -> list[str]:
    """A short name per plan; the directory tells apart those that would be called the same."""
    short = [f"{method}, {tables.num_nodes:,} nodes" for method, tables in zip(_methods(read), read, strict=True)]
    return [
        name if short.count(name) == 1 else f"{name} ({tables.plan.path.name})"
        for name, tables in zip(short, read, strict=True)
    ]


def section(tables: Tables, name: str) -> Section:
    """How many links the busiest node has, how far from the best that can be, and how the plan came about."""
    record, degrees, bound = tables.plan.record, tables.degrees, tables.bound
    most = tables.plan.exact.value
    figures = {
        "links of the busiest node": f"{most:,}",
        NO_PLAN_IS_BELOW: "no bound" if bound is None else f"{bound:,}",
        "gap": "unknown" if record["gap"] is None else percent_up(record["gap"]),
        "verdict": "verified" if record["verified"] else "not verified",
    }
    facts = {
        "method": _told_method(tables.plan),
        "nodes": f"{tables.num_nodes:,}, with {tables.topics.num_rows:,} topics",
        "maximum degree": f"{most:,}" if bound is None else f"{most:,}, proven at least {bound:,}",
        "mean degree": f"{degrees.mean():.2f}" if len(degrees) else "no nodes",
        "links": f"{tables.links.num_rows:,}",
        **division_facts(tables),
        "topic diameters": _mean_and_worst(tables, "diameter"),
        "tree depths": _mean_and_worst(tables, "depth"),
        "seconds": _told_seconds(tables),
        "bounds": ", ".join(f"{bound} {value:,.0f}" for bound, value in record["bounds"].items()) or "none",
        "binding": "; ".join(str(Reason(**reason)) for reason in record["reasons"]) or "nothing",
        "workload": record["workload"]["digest"],
        "plan": record["digest"],
    }
    return Section(name, figures=figures, facts=facts, is_good=bool(record["verified"]), charts=drawn(tables))


def division_facts(tables: Tables) -> dict[str, str]:
    """How nodes were divided, and how many of them one has to know."""
    told = tables.division
    if told is None:
        return {"parts": "nodes were not divided"}
    facts = {
        "parts": f"{told['parts']:,}",
        "eta": f"{told['eta']:,} topics: nodes with more are bulk",
        "coverage": f"{told['coverage']:,} representatives per topic" if told["coverage"] else "all nodes take part",
        "bulk and light nodes": f"{told['bulk']:,} and {told['light']:,}",
    }
    if told["coverage"]:
        share = f", |R| / |L| = {told['representatives'] / told['light']:.3f}" if told["light"] else ""
        facts["representatives"] = f"{told['representatives']:,}{share}"
    ratio = f", pn-ratio {told['known'] / tables.num_nodes:.3f}" if tables.num_nodes else ""
    facts["nodes that one has to know"] = f"up to {told['known']:,}{ratio}"
    return facts


def degrees(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """How many nodes have each number of links; nothing where no plan has a node."""
    bounds: dict[int, list[str]] = {}
    for tables, name in zip(read, names, strict=True):
        if tables.bound is not None and tables.num_nodes:
            bounds.setdefault(tables.bound, []).append(name)
    return distribution(
        "Links per node",
        "The share of nodes with each number of links. Dashed: the busiest node of no plan has fewer.",
        {name: tables.degrees for tables, name in zip(read, names, strict=True)},
        ("links", "nodes"),
        [Limit(bound, ", ".join(named)) for bound, named in bounds.items()],
    )


def distances(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """Diameters of topics and depths of their trees; nothing where no topic has two nodes."""
    skipped = sum(int(np.count_nonzero(tables.topics["diameter"].to_numpy() < 0)) for tables in read)
    told = f" {skipped:,} were too much work to compute and are left out." if skipped else ""
    diameters, depths = (
        {name: tables.of_shared_topics(column) for tables, name in zip(read, names, strict=True)}
        for column in ("diameter", "depth")
    )
    return [
        *distribution(
            "Topic diameters",
            "The largest distance between two nodes of a topic, in links between its nodes; the share of the topics "
            f"that two nodes or more have.{told}",
            diameters,
            ("diameter", "topics"),
        ),
        *distribution(
            "Tree depths",
            "How many links an event of a topic takes at most from the root of its tree.",
            depths,
            ("depth", "topics"),
        ),
    ]


def by_size(read: Sequence[Tables], workloads: Sequence[Workload] = ()) -> list[Chart]:
    """Degree and time against the number of nodes, a line per method; nothing for a single size."""
    if len({tables.num_nodes for tables in read}) < 2:
        return []
    settings = _settings(read, workloads)
    lines = [method + setting for method, setting in zip(_methods(read), settings, strict=True)]
    found = list(zip(read, lines, settings, strict=True))
    most = _means([(line, tables.num_nodes, tables.plan.exact.value) for tables, line, _ in found])
    below = _means(
        [(NO_PLAN_IS_BELOW + setting, tables.num_nodes, tables.bound) for tables, _, setting in found], kind="bound"
    )
    seconds = _means([(line, tables.num_nodes, tables.linking_seconds()) for tables, line, _ in found])
    return [
        *_size_chart("Links of the busiest node by size", "Dashed: no plan is below.", most + below, "links", ",.1~f"),
        *_size_chart(
            "Planning time by size",
            "Seconds that the method took to find the links, without reading the workload, spanning trees, bounding "
            "and verifying.",
            seconds,
            "seconds",
            ",.3~f",
        ),
    ]


def drawn(tables: Tables) -> list[Chart]:
    """The overlay as a picture; nothing where it has no links or many nodes."""
    if tables.num_nodes > MAX_DRAWN or not tables.links.num_rows:
        return []
    node, other = tables.links["node"].to_numpy(), tables.links["other"].to_numpy()
    places = spring_layout(tables.num_nodes, node, other).tolist()
    nodes = [
        {"x": place[0], "y": place[1], "node": row["node_id"], "links": row["degree"], "topics": row["topics"]}
        for place, row in zip(places, tables.nodes.to_pylist(), strict=True)
    ]
    links = [
        {
            **dict(zip(("x", "y", "x2", "y2"), places[row["node"]] + places[row["other"]], strict=True)),
            "link": f"{row['node_id']} – {row['other_id']}",
            "topics": row["topics"],
            "trees": row["trees"],
        }
        for row in tables.links.to_pylist()
    ]
    busiest = sorted(nodes, key=lambda found: (-found["links"], found["node"]))[:TABLE_ROWS]
    rows = [[found["node"], f"{found['links']:,}", f"{found['topics']:,}"] for found in busiest]
    return [
        Chart(
            title="The overlay",
            caption="Every node and every link; the redder a node, the more links it has. Neighbours lie close to each "
            "other. Under the pointer: what a link's nodes have in common, and how many trees use it.",
            spec=drawing_spec(nodes, links),
            table=Table(["busiest nodes", "links", "topics"], rows),
        )
    ]


def _methods(read: Sequence[Tables]) -> list[str]:
    """The method of each plan, with those of its parameters in which plans of the method differ."""
    told: dict[str, dict[str, set[str]]] = {}
    for tables in read:
        for name, value in tables.plan.record["parameters"].items():
            told.setdefault(tables.plan.method, {}).setdefault(name, set()).add(str(value))

    def full(plan: Plan) -> str:
        varied = [name for name, values in told.get(plan.method, {}).items() if len(values) > 1]
        return ", ".join([plan.method, *_parameters(plan, varied)])

    return [full(tables.plan) for tables in read]


def _parameters(plan: Plan, names: Sequence[str]) -> list[str]:
    values = plan.record["parameters"]
    return [f"{name} {'chosen' if values[name] is None else values[name]}" for name in names]


def _told_method(plan: Plan) -> str:
    own = _parameters(plan, list(plan.record["parameters"]))
    return f"{plan.method} ({', '.join(own)})" if own else plan.method


def _settings(read: Sequence[Tables], workloads: Sequence[Workload]) -> list[str]:
    """What workloads of the same size differ in: topics, and how interests were drawn, where that is known."""
    shapes = {opened.digest: source.get("generator") for opened in workloads for source in opened.manifest.sources}
    sizes = [tables.num_nodes for tables in read]
    topics = [f", {tables.topics.num_rows:,} topics" for tables in read]
    kinds = [shapes.get(tables.plan.record["workload"]["digest"]) for tables in read]
    told = [topics, [f", {kind}" if kind else "" for kind in kinds]]
    differing = [column for column in told if len(set(zip(sizes, column, strict=True))) > len(set(sizes))]
    return ["".join(parts) for parts in zip(*differing, strict=True)] if differing else [""] * len(read)


def _means(found: Sequence[tuple[str, int, float | None]], kind: Kind = "plan") -> list[Mark]:
    """The mean value of each line at each size, where there is one."""
    values: dict[tuple[str, int], list[float]] = {}
    for line, size, value in found:
        if value is not None:
            values.setdefault((line, size), []).append(value)
    return [Mark(line, size, sum(some) / len(some), kind) for (line, size), some in sorted(values.items())]


def _size_chart(title: str, caption: str, marks: Sequence[Mark], y: str, number: str) -> list[Chart]:
    """Nothing without marks; a logarithmic axis where values are far apart."""
    if not marks:
        return []
    values = [mark.y for mark in marks]
    is_log = min(values) > 0 and max(values) > FAR_APART * min(values)
    rows = [[mark.line, f"{mark.x:,}", f"{mark.y:,.3f}".rstrip("0").rstrip(".")] for mark in marks]
    return [
        Chart(
            title,
            f"{caption} Where a line has several plans for a size, it shows their mean.",
            lines_spec(marks, Axis("nodes"), Axis(y, number, is_log=is_log)),
            Table(["", "nodes", y], rows),
        )
    ]


def _mean_and_worst(tables: Tables, column: str) -> str:
    values = tables.of_shared_topics(column)
    skipped = int(np.count_nonzero(tables.topics[column].to_numpy() < 0))
    told = f"mean {values.mean():.2f}, worst {values.max():,}" if len(values) else "no topic has two nodes"
    if skipped:
        told = f"{told}, {skipped:,} not computed" if len(values) else "not computed"
    return told


def _told_seconds(tables: Tables) -> str:
    stages = stage_seconds(tables.plan)
    return ", ".join(f"{name} {stages[name]:.3f}" for name in (*PHASES, SPANNING) if name in stages) or "not told"
