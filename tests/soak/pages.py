"""One page of every kind, as the tests that look at pages need them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pubplan
from pubplan.pages import write_page
from pubplan.pages.figures import PAGE, write_figures
from pubplan.planning import Plan
from pubplan.problems.provision.catalogue import find_vm_types
from pubplan.reproduce import reproduce
from pubplan.workload import Workload

VM_TYPES = ("aws-us-east-1/m7i.large", "aws-us-east-1/c7g.xlarge", "aws-us-east-1/m7i.2xlarge")

REPRODUCTION_SCALE = 0.001


def write_pages(spotify: Workload, directory: Path) -> dict[str, Path]:
    """A page of each kind, by its name."""
    selections = _selections(spotify)
    fleets = [_fleet(spotify, threshold) for threshold in (100, 1000)]
    overlays = _overlays(directory)
    assignments = _assignments(directory / "clients")
    federations = _federations(directory / "exchange")
    weighted = _weighted(directory / "weighted")
    by_weight = pubplan.select.solve(pubplan.select.Problem(weighted, "20%", 100)).plan
    (directory / "grid.json").write_text(json.dumps(_grid(spotify)), encoding="utf-8")
    pages: dict[str, Callable[[Path], object]] = {
        "select": lambda out: write_page(selections[:1], out),
        "provision": lambda out: write_page(fleets[:1], out),
        "overlay": lambda out: write_page(overlays[:1], out),
        "assign": lambda out: write_page(assignments, out),
        "federate": lambda out: write_page(federations, out),
        "comparison": lambda out: write_page([*selections, *fleets, *overlays], out),
        "what-if": lambda out: write_page([], out, comparisons=[directory / "grid.json"]),
        "workload": lambda out: write_page([by_weight], out, workloads=[weighted, spotify]),
    }
    paths = {name: directory / f"{name}.html" for name in pages}
    for name, write in pages.items():
        write(paths[name])
    reproductions = [reproduce(paper, REPRODUCTION_SCALE) for paper in ("select", "provision")]
    write_figures(directory / "figures", {}, reproductions, replace=False)
    return {**paths, "reproduce": directory / "figures" / PAGE}


def _selections(workload: Workload) -> list[Plan]:
    """Two thresholds, another cost, and a topic that must be served."""
    problem = pubplan.select.Problem
    wanted = workload.topics("topic_id")["topic_id"][0].as_py()
    problems = [
        *(problem(workload, "10%", threshold) for threshold in (27, 276)),
        problem(workload, "10%", 27, cost="subscribers"),
        problem(workload, "10%", 27, must_serve=(wanted,)),
    ]
    return [pubplan.select.solve(each).plan for each in problems]


def _fleet(workload: Workload, threshold: int) -> Plan:
    """A fleet of many VMs, which takes far more traffic than the workload has."""
    problem = pubplan.provision.Problem(workload, find_vm_types(VM_TYPES), threshold, rate_factor="20000")
    return pubplan.provision.solve(problem).plan


def _overlays(directory: Path) -> list[Plan]:
    """Two sizes, and more plans than have room side by side."""
    generate, uniform = pubplan.generate.generate, pubplan.generate.uniform
    few, many = (generate(uniform(size, 30), directory / f"nodes-{size}") for size in (30, 60))
    cases = [(few, "gm-m"), (few, "dcbr-m"), (few, "ring-per-topic"), (many, "gm-m")]
    return [pubplan.overlay.solve(pubplan.overlay.Problem(nodes), method).plan for nodes, method in cases]


def _federations(directory: Path) -> list[Plan]:
    """Several methods and routings over brokers with coordinates, a random plan to compare with among them."""
    exchange = pubplan.generate.generate(pubplan.generate.content_exchange(300, 24, niche="10%"), directory)
    asked = [("spanning", "greedy-packing"), ("spanning", "random"), ("acyclic", "greedy-packing")]
    return [
        pubplan.federate.solve(pubplan.federate.Problem(exchange, channels=12, routing=routing), method).plan
        for routing, method in asked
    ]


def _assignments(path: Path) -> list[Plan]:
    """One that keeps all limits, one that overloads leaves, and one that serves clients too late."""
    clients = pubplan.generate.generate(pubplan.generate.content_newsgroups(2000, 30, levels=2, num_sites=200), path)
    problem = pubplan.assign.Problem(clients, max_delay="0.5", load=3, max_load=6)
    methods = ("gr-star", "closest-unbalanced", "gr-no-latency")
    return [pubplan.assign.solve(problem, method).plan for method in methods]


def _weighted(path: Path) -> Workload:
    """Subscribers of four weights."""
    stream = random.Random(7)
    rates = {f"topic {number}": stream.randint(1, 300) for number in range(60)}
    interests = {f"subscriber {number}": stream.sample(list(rates), stream.randint(1, 8)) for number in range(300)}
    weights = {subscriber: stream.choice([1, 5, 20, 100]) for subscriber in interests}
    return pubplan.build_workload(path, rates, interests, weights=weights)


def _grid(workload: Workload) -> list[dict[str, object]]:
    cases = pubplan.provision.what_if(
        workload, thresholds=[10, 1000], vm_types=find_vm_types(VM_TYPES), rate_factors=["1", "20000"]
    )
    return [{**case.to_dict(), "cost_per_month": None if case.cost is None else 3 * case.cost / 1e6} for case in cases]
