"""Plans of ``overlay`` on the page: how many links nodes have, how far topics reach, and small overlays as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.errors import InputError
from pubplan.pages.answer import (
    assembled,
    digests_of,
    gap_of,
    how_planned,
    reasons_of,
    sentences_of,
    told_apart,
    verdict_of,
    workload_of,
)
from pubplan.pages.distribution import NO_PLAN_IS_BELOW, Limit, distribution
from pubplan.pages.drawing import drawing_spec, spring_layout
from pubplan.pages.frame import Chart, Section, Sheet, Table
from pubplan.pages.lines import Axis, Kind, Mark, are_far_apart, lines_legend, lines_spec
from pubplan.pages.lists import MAX_ROWS, top
from pubplan.planning import Plan, planning_seconds, stage_seconds
from pubplan.problems.overlay import DIVISION, FAMILY, LINKS, NODES, TOPICS
from pubplan.problems.overlay.stages import CHOOSING_LINKS, SPANNING
from pubplan.workload import TOPIC, Int64Array, TopicWorkload, Workload

MAX_DRAWN_NODES = 120
"""Overlays of at most this many nodes are drawn."""

TABLE_ROWS = 20


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
        """Seconds that the method took to choose links, without reading the workload and spanning trees."""
        planning = planning_seconds(self.plan)
        return None if planning is None else max(0.0, planning - stage_seconds(self.plan).get(SPANNING, 0.0))


def sections(plans: Sequence[Plan], workloads: Sequence[Workload] = ()) -> list[Section]:
    """Charts for all plans, then a section for each, with a drawing if it is small."""
    read = [Tables.read(plan) for plan in plans]
    names = labels(read)
    charts = [*degrees(read, names), *distances(read, names), *by_size(read, workloads)]
    of_plans = [
        section(tables, name, workload_of(tables.plan, workloads, TOPIC), f"overlay-{number + 1}")
        for number, (tables, name) in enumerate(zip(read, names, strict=True))
    ]
    return assembled(FAMILY.question, of_plans, charts)


def labels(read: Sequence[Tables]) -> list[str]:
    """A short name per plan, no two the same."""
    short = [f"{method}, {tables.num_nodes:,} nodes" for method, tables in zip(_methods(read), read, strict=True)]
    return told_apart(short, [tables.plan for tables in read])


def section(tables: Tables, name: str, workload: TopicWorkload | None = None, anchor: str = "") -> Section:
    """How many links the busiest node has, how far from the best that can be, and how the plan came about."""
    record, degrees, bound = tables.plan.record, tables.degrees, tables.bound
    figures = {
        "links of the busiest node": f"{tables.plan.exact.value:,}",
        NO_PLAN_IS_BELOW: "no bound" if bound is None else f"{bound:,}",
        "gap": gap_of(tables.plan),
        "links per node on average": f"{degrees.mean():.2f}" if len(degrees) else "no nodes",
        "links": f"{tables.links.num_rows:,}",
        "nodes": f"{tables.num_nodes:,}",
        "topics": f"{tables.topics.num_rows:,}",
        "verdict": verdict_of(tables.plan),
    }
    facts = {
        **division_facts(tables),
        "topic diameters": _mean_and_worst(tables, "diameter"),
        "tree depths": _mean_and_worst(tables, "depth"),
        "seconds": _seconds_by_stage(tables),
        "bounds": ", ".join(f"{bound} {value:,.0f}" for bound, value in record["bounds"].items()) or "none",
        "binding": "; ".join(reasons_of(tables.plan)) or "nothing",
    }
    return Section(
        name,
        sentences_of(tables.plan, workload),
        figures=figures,
        facts=facts,
        is_good=bool(record["verified"]),
        charts=[*drawn(tables), *busiest_nodes(tables), *most_used_links(tables)],
        asked=asked(tables.plan),
        digests=digests_of(tables.plan),
        anchor=anchor,
    )


def asked(plan: Plan) -> dict[str, str]:
    """How the plan was made; there is nothing else to ask."""
    return how_planned(plan, ())


def busiest_nodes(tables: Tables) -> list[Sheet]:
    """The nodes with most links."""
    rows = sorted(tables.nodes.to_pylist(), key=lambda row: (-int(row["degree"]), int(row["node"])))
    shown = [[row["node_id"], f"{row['degree']:,}", f"{row['topics']:,}"] for row in rows[:MAX_ROWS]]
    caption = "'pubplan explain PLAN --node ID' says what each link of a node is for."
    return top("Nodes with most links", caption, ["node", "links", "topics"], shown, len(rows))


def most_used_links(tables: Tables) -> list[Sheet]:
    """The links that most trees use."""
    trees = tables.links["trees"].to_numpy()
    first = np.argsort(-trees.astype(np.int64), kind="stable")[:MAX_ROWS]
    shown = [
        [f"{row['node_id']} – {row['other_id']}", f"{row['trees']:,}", f"{row['topics']:,}"]
        for row in tables.links.take(pa.array(first)).to_pylist()
    ]
    caption = "By the number of topics that take the link; beside it, the topics that its nodes have in common."
    return top("Links with most traffic", caption, ["link", "trees", "common topics"], shown, len(trees))


def division_facts(tables: Tables) -> dict[str, str]:
    """How nodes were divided, and how many of them one has to know."""
    division = tables.division
    if division is None:
        return {"parts": "nodes were not divided"}
    num_per_topic = division["coverage"]
    facts = {
        "parts": f"{division['parts']:,}",
        "eta": f"{division['eta']:,} topics: nodes with more are bulk",
        "coverage": f"{num_per_topic:,} representatives per topic" if num_per_topic else "all nodes combine parts",
        "bulk and light nodes": f"{division['bulk']:,} and {division['light']:,}",
    }
    if num_per_topic:
        share = f", |R| / |L| = {division['representatives'] / division['light']:.3f}" if division["light"] else ""
        facts["representatives"] = f"{division['representatives']:,}{share}"
    ratio = f", pn-ratio {division['known'] / tables.num_nodes:.3f}" if tables.num_nodes else ""
    facts["nodes that one has to know"] = f"up to {division['known']:,}{ratio}"
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
        [Limit(bound, named) for bound, named in bounds.items()],
    )


def distances(read: Sequence[Tables], names: Sequence[str]) -> list[Chart]:
    """Diameters of topics and depths of their trees; nothing where no topic has two nodes."""
    skipped = sum(int(np.count_nonzero(tables.topics["diameter"].to_numpy() < 0)) for tables in read)
    left_out = f" {skipped:,} were too much work to compute and are left out." if skipped else ""
    diameters, depths = (
        {name: tables.of_shared_topics(column) for tables, name in zip(read, names, strict=True)}
        for column in ("diameter", "depth")
    )
    return [
        *distribution(
            "Topic diameters",
            "The largest distance between two nodes of a topic, in links between its nodes; the share of the topics "
            f"that two nodes or more have.{left_out}",
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
    rows = list(zip(read, lines, settings, strict=True))
    max_degrees = _means([(line, tables.num_nodes, tables.plan.exact.value) for tables, line, _ in rows])
    bounds = _means(
        [(NO_PLAN_IS_BELOW + setting, tables.num_nodes, tables.bound) for tables, _, setting in rows], kind="bound"
    )
    seconds = _means([(line, tables.num_nodes, tables.linking_seconds()) for tables, line, _ in rows])
    return [
        *_size_chart(
            "Links of the busiest node by size", "Dashed: no plan is below.", max_degrees + bounds, "links", ",.1~f"
        ),
        *_size_chart(
            "Planning time by size",
            "Seconds that the method took to choose the links, without reading the workload, spanning trees, bounding "
            "and verifying.",
            seconds,
            "seconds",
            ",.3~f",
        ),
    ]


def drawn(tables: Tables) -> list[Chart]:
    """The overlay as a picture; nothing where it has no links or many nodes."""
    if tables.num_nodes > MAX_DRAWN_NODES or not tables.links.num_rows:
        return []
    node, other = tables.links["node"].to_numpy(), tables.links["other"].to_numpy()
    positions = spring_layout(tables.num_nodes, node, other).tolist()
    nodes = [
        {"x": position[0], "y": position[1], "node": row["node_id"], "links": row["degree"], "topics": row["topics"]}
        for position, row in zip(positions, tables.nodes.to_pylist(), strict=True)
    ]
    links = [
        {
            **dict(zip(("x", "y", "x2", "y2"), positions[row["node"]] + positions[row["other"]], strict=True)),
            "link": f"{row['node_id']} – {row['other_id']}",
            "topics": row["topics"],
            "trees": row["trees"],
        }
        for row in tables.links.to_pylist()
    ]
    busiest = sorted(nodes, key=lambda node: (-node["links"], node["node"]))[:TABLE_ROWS]
    rows = [[node["node"], f"{node['links']:,}", f"{node['topics']:,}"] for node in busiest]
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
    by_method: dict[str, dict[str, set[str]]] = {}
    for tables in read:
        for name, value in tables.plan.record["parameters"].items():
            by_method.setdefault(tables.plan.method, {}).setdefault(name, set()).add(str(value))

    def full(plan: Plan) -> str:
        varied = [name for name, values in by_method.get(plan.method, {}).items() if len(values) > 1]
        return ", ".join([plan.method, *_parameters(plan, varied)])

    return [full(tables.plan) for tables in read]


def _parameters(plan: Plan, names: Sequence[str]) -> list[str]:
    values = plan.record["parameters"]
    return [f"{name} {'chosen' if values[name] is None else values[name]}" for name in names]


def _settings(read: Sequence[Tables], workloads: Sequence[Workload]) -> list[str]:
    """What workloads of the same size differ in: topics, and how interests were drawn, where that is known."""
    shapes = {opened.digest: source.get("generator") for opened in workloads for source in opened.manifest.sources}
    sizes = [tables.num_nodes for tables in read]
    topics = [f", {tables.topics.num_rows:,} topics" for tables in read]
    kinds = [shapes.get(tables.plan.record["workload"]["digest"]) for tables in read]
    columns = [topics, [f", {kind}" if kind else "" for kind in kinds]]
    differing = [column for column in columns if len(set(zip(sizes, column, strict=True))) > len(set(sizes))]
    return ["".join(parts) for parts in zip(*differing, strict=True)] if differing else [""] * len(read)


def _means(points: Sequence[tuple[str, int, float | None]], kind: Kind = "plan") -> list[Mark]:
    """The mean value of each line at each size, where there is one."""
    values: dict[tuple[str, int], list[float]] = {}
    for line, size, value in points:
        if value is not None:
            values.setdefault((line, size), []).append(value)
    return [Mark(line, size, sum(some) / len(some), kind) for (line, size), some in sorted(values.items())]


def _size_chart(title: str, caption: str, marks: Sequence[Mark], y: str, number: str) -> list[Chart]:
    """Nothing without marks; a logarithmic axis where values are far apart."""
    if not marks:
        return []
    rows = [[mark.line, f"{mark.x:,}", f"{mark.y:,.3f}".rstrip("0").rstrip(".")] for mark in marks]
    return [
        Chart(
            title,
            f"{caption} Where a line has several plans for a size, it shows their mean.",
            lines_spec(marks, Axis("nodes"), Axis(y, number, is_log=are_far_apart(marks))),
            Table(["line", "nodes", y], rows),
            lines_legend(marks),
        )
    ]


def _mean_and_worst(tables: Tables, column: str) -> str:
    values = tables.of_shared_topics(column)
    skipped = int(np.count_nonzero(tables.topics[column].to_numpy() < 0))
    text = f"mean {values.mean():.2f}, worst {values.max():,}" if len(values) else "no topic has two nodes"
    if skipped:
        text = f"{text}, {skipped:,} not computed" if len(values) else "not computed"
    return text


def _seconds_by_stage(tables: Tables) -> str:
    stages = stage_seconds(tables.plan)
    recorded = [f"{name} {stages[name]:.3f}" for name in (*CHOOSING_LINKS, SPANNING) if name in stages]
    return ", ".join(recorded) or "not recorded"
