"""Methods against twins that follow the definitions, and what each promises."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import MANY
from oracles.overlay import (
    Case,
    cases,
    combined,
    completed,
    degrees,
    greedy,
    is_connected,
    joined_within,
    links_of,
    representatives,
    served,
)

import pubplan
from pubplan.engine import random_stream
from pubplan.errors import InputError
from pubplan.problems.overlay import FAMILY, Problem, measures_of, solve
from pubplan.problems.overlay.conquer import divide_and_conquer, greedy_links
from pubplan.problems.overlay.division import (
    COVERAGE,
    MODELS,
    BulkParameters,
    CoverageParameters,
    Division,
    PartParameters,
    _predicted_works,
    _Trial,
    divide,
    least_eta,
)
from pubplan.problems.overlay.division import representatives as fast_representatives
from pubplan.problems.overlay.entries import common_entries, components_of, degrees_of, topics_of
from pubplan.problems.overlay.kernels.choice import NO_LABEL, serve_node
from pubplan.problems.overlay.kernels.components import Links, join_links, join_nodes
from pubplan.problems.overlay.methods.dcbr_m import overlay_of
from pubplan.problems.overlay.methods.dcbr_repair import RepairParameters
from pubplan.problems.overlay.repair import repair
from pubplan.workload import Csr, Workload

WIDE = cases(max_nodes=9, max_topics=7)


def topics_by_node_of(case: Case) -> Csr:
    numbers = {topic: number for number, topic in enumerate(case.topics)}
    rows = [sorted(numbers[topic] for topic in wanted) for wanted in case.sets]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Csr(offsets, np.array([topic for row in rows for topic in row], dtype=np.int32))


@pytest.fixture
def shape(tmp_path: Path) -> Problem:
    """Two hundred nodes, forty topics."""
    workload = pubplan.generate.generate(pubplan.generate.zipf(200, 40, 3), tmp_path / "workload")
    return Problem(workload)


@pytest.mark.kernel
@MANY
@given(WIDE)
def test_greedy_equals_its_naive_twin(case: Case) -> None:
    """Link by link, with what each joins."""
    links, _ = greedy_links(topics_by_node_of(case), len(case.topics))
    assert links.to_list() == greedy(case.sets)


@pytest.mark.kernel
@given(st.integers(1, 6), st.integers(256, 400), st.randoms(use_true_random=False))
def test_greedy_counts_beyond_a_byte(num_nodes: int, num_topics: int, random) -> None:
    """Nodes with hundreds of topics in common."""
    names = [f"t{number:03}" for number in range(num_topics)]
    case = Case({f"n{node}": tuple(random.sample(names, num_topics - node)) for node in range(num_nodes)}, tuple(names))
    links, _ = greedy_links(topics_by_node_of(case), num_topics)
    assert links.to_list() == greedy(case.sets)


@pytest.mark.kernel
@given(cases(max_nodes=7))
def test_completed_matchings_equal_their_naive_twin(case: Case) -> None:
    """MinMax-ODA link by link, without those that join nothing."""
    with tempfile.TemporaryDirectory() as directory:
        plan = solve(case.problem(Path(directory)), "minmax-oda", bound="none").plan
        trajectory = plan.trajectory()
        assert trajectory is not None
        chosen = [tuple(row.values())[:3] for row in trajectory.to_pylist()]
        assert chosen == completed(case.sets)


@pytest.mark.kernel
@MANY
@given(WIDE, st.data())
def test_divide_and_conquer_equals_its_naive_twin(case: Case, data: st.DataObject) -> None:
    """With parts of any sizes, with representatives and with all nodes."""
    parts = data.draw(st.lists(st.integers(-1, 2), min_size=len(case.sets), max_size=len(case.sets)))
    coverage = data.draw(st.none() | st.integers(1, 3))
    with tempfile.TemporaryDirectory() as directory:
        division = Division(0, 3, np.array(parts, dtype=np.int32))
        overlay = divide_and_conquer(case.problem(Path(directory)), division, coverage, None)
    assert overlay.links.to_list() == combined(case.sets, parts, coverage)


@pytest.mark.kernel
@MANY
@given(WIDE, st.data())
def test_representatives_equal_their_naive_twin(case: Case, data: st.DataObject) -> None:
    """For any part of the nodes."""
    part = sorted(data.draw(st.sets(st.integers(0, len(case.sets) - 1))))
    coverage = data.draw(st.integers(1, 3))
    topics_by_node, num_topics = topics_by_node_of(case), len(case.topics)
    topic_sizes = np.bincount(topics_by_node.values, minlength=num_topics)
    nodes = np.array(part, dtype=np.int32)
    chosen = nodes[fast_representatives(topics_of(topics_by_node, nodes), num_topics, topic_sizes, coverage)]
    assert chosen.tolist() == representatives(case.sets, part, coverage)


def links_in(case: Case) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Some links between nodes, in any order."""
    every = list(combinations(range(len(case.sets)), 2))
    return st.lists(st.sampled_from(every), unique=True) if every else st.just([])


@pytest.mark.kernel
@MANY
@given(WIDE, st.data())
def test_links_within_caps_equal_their_naive_twin(case: Case, data: st.DataObject) -> None:
    """Taken in their order where both nodes are below their caps, if they join something then."""
    links = data.draw(links_in(case))
    caps = data.draw(st.lists(st.integers(1, 3), min_size=len(case.sets), max_size=len(case.sets)))
    columns = np.array([(*link, -1) for link in links], dtype=np.int32).reshape(-1, 3).T.copy()
    taken, counts = Links(*columns), np.zeros(len(caps), dtype=np.int32)
    topics_by_node = topics_by_node_of(case)
    common = common_entries(topics_by_node, taken)
    is_taken = join_links(components_of(topics_by_node), taken, common, counts, np.array(caps, dtype=np.int32))
    assert taken.take(is_taken).to_list() == joined_within(case.sets, links, caps)
    assert counts.tolist() == degrees(len(caps), [link[:2] for link in joined_within(case.sets, links, caps)])


@pytest.mark.kernel
@MANY
@given(WIDE, st.data())
def test_served_nodes_equal_their_naive_twin(case: Case, data: st.DataObject) -> None:
    """With any links to begin with: linked to the node that helps in most topics that are less than half connected."""
    given_links = data.draw(links_in(case))
    node, limit = data.draw(st.integers(0, len(case.sets) - 1)), data.draw(st.integers(1, 4))
    topics_by_node = topics_by_node_of(case)
    components, links = components_of(topics_by_node), Links.empty(len(case.sets))
    for link in given_links:
        join_nodes(components, *link)
    counts = np.array(degrees(len(case.sets), given_links), dtype=np.int32)
    topic_sizes = np.bincount(topics_by_node.values, minlength=len(case.topics))
    marks = np.full(len(case.topics), NO_LABEL, dtype=np.int32)
    num_links = serve_node(components, topic_sizes, counts, node, limit, marks, links, 0)
    assert links.take(slice(num_links)).to_list() == served(case.sets, node, given_links, limit)
    assert (marks == NO_LABEL).all()


def lemma_8(levels: int) -> Case:
    """Topics halved level by level: level i has 2^i nodes, each with its share of all topics."""
    num_topics = 2**levels
    topics = [f"t{number:04}" for number in range(num_topics)]
    return Case(
        {
            f"n{level:02}-{number:04}": tuple(
                topics[number * (num_topics >> level) : (number + 1) * (num_topics >> level)]
            )
            for level in range(levels + 1)
            for number in range(2**level)
        }
    )


def test_naive_division_can_cost_a_link_per_topic(tmp_path: Path) -> None:
    """Lemma 8: a part of the node that wants everything and those that want one topic each forces a link to each of
    them; bulk nodes and representatives avoid it.
    """
    levels = 7
    case = lemma_8(levels)
    problem = case.problem(tmp_path)
    names = sorted(case.interests)
    is_forced = [name.startswith(("n00", f"n{levels:02}")) for name in names]
    forced = Division(2**levels, 2, np.where(is_forced, 0, 1).astype(np.int32))
    naive = divide_and_conquer(problem, forced, None, None)
    assert degrees_of(naive.links, len(names)).max() == 2**levels
    for seed in range(5):
        for method in ("dcbr-m", "dcbr-repair"):
            assert solve(problem, method, seed=seed).objective <= 6


EDGE_CASES = {
    "one node": Case({"n": ("a", "b")}),
    "one node without topics": Case({"n": ()}, ("a",)),
    "topics with one node": Case({"m": ("a",), "n": ("b",), "o": ("c",)}),
    "nodes without topics": Case({"m": ("a",), "n": (), "o": ("a",), "p": ()}),
    "identical nodes": Case({f"n{number}": ("a", "b", "c") for number in range(6)}),
    "all nodes on one topic": Case({f"n{number}": ("a",) for number in range(12)}),
    "disjoint groups": Case({f"n{number}": ("abc"[number % 3],) for number in range(9)}),
}
BEST = {"identical nodes": 2, "all nodes on one topic": 2, "disjoint groups": 2, "nodes without topics": 1}


@pytest.mark.parametrize("method", FAMILY.methods)
@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases(name: str, method: str, tmp_path: Path) -> None:
    """Every method verifies; those that look at all nodes reach the best, those that divide come close."""
    case = EDGE_CASES[name]
    result = solve(case.problem(tmp_path), method)
    assert is_connected(case.sets, links_of(result.plan))
    best = BEST.get(name, 0)
    is_best = method in ("gm-m", "minmax-oda", "dcbr-repair") or best < 2
    assert best <= result.objective <= (best if is_best else 5)


def test_a_workload_without_nodes_is_connected(tmp_path: Path) -> None:
    """Every method plans it: no links, degree 0, which is proven."""
    problem = Case({}, ("a",)).problem(tmp_path)
    for method in FAMILY.methods:
        result = solve(problem, method)
        assert (result.objective, result.bound) == (0, 0)
        assert measures_of(result.plan).links == 0


def test_repair_is_never_above_dcbr_m(shape: Problem) -> None:
    """Whatever the seed and the effort."""
    for seed in range(5):
        overlay = overlay_of(shape, RepairParameters(), seed, None)
        before = degrees_of(overlay.links, shape.num_nodes).max()
        for effort in (0, 0.25, 3):
            after = repair(shape, overlay, effort, seed)
            assert degrees_of(after.links, shape.num_nodes).max() <= before
    assert solve(shape, "dcbr-repair").objective <= solve(shape, "dcbr-m").objective


def test_repair_takes_load_off(shape: Problem) -> None:
    """Where DCBR-M leaves busy nodes, several links are saved at the busiest."""
    saved = [solve(shape, "dcbr-m", seed=seed).objective - solve(shape, seed=seed).objective for seed in range(4)]
    assert sum(saved) >= 4


def test_a_ring_per_topic_has_every_node_twice(shape: Problem) -> None:
    """Each topic's nodes have two neighbours within it at least."""
    plan = solve(shape, "ring-per-topic").plan
    rows = shape.instance.topics_by_node
    inside = np.zeros((shape.num_nodes, shape.num_topics), dtype=int)
    for node, other in links_of(plan):
        both = np.intersect1d(rows.row(node), rows.row(other))
        inside[node, both] += 1
        inside[other, both] += 1
    nodes = np.repeat(np.arange(shape.num_nodes), np.diff(rows.offsets))
    least = np.minimum(2, shape.instance.topic_sizes - 1)[rows.values]
    assert (inside[nodes, rows.values] >= least).all()
    assert (np.array(degrees(shape.num_nodes, links_of(plan))) <= 2 * np.diff(rows.offsets)).all()


@pytest.mark.parametrize("method", FAMILY.methods)
def test_orders_of_choice_are_true(shape: Problem, method: str) -> None:
    """Taken in the order of the trajectory, each link joins as many topics as it says."""
    trajectory = solve(shape, method, bound="none").plan.trajectory()
    assert trajectory is not None
    rows = [tuple(row.values()) for row in trajectory.to_pylist()]
    topics_by_node = shape.instance.topics_by_node
    labels = [{int(topic): (node, int(topic)) for topic in topics_by_node.row(node)} for node in range(shape.num_nodes)]
    for node, other, joined, _ in rows:
        apart = [
            topic for topic in labels[node].keys() & labels[other].keys() if labels[node][topic] != labels[other][topic]
        ]
        assert len(apart) == joined
        for topic in apart:
            old, new = labels[other][topic], labels[node][topic]
            for of_node in labels:
                if of_node.get(topic) == old:
                    of_node[topic] = new


def test_at_most_a_fifth_is_bulk() -> None:
    """The least eta that has this: of five nodes with 1 to 5 topics, one has more than 4."""
    assert least_eta(np.array([], dtype=np.int64)) == 0
    assert least_eta(np.array([3])) == 3
    assert least_eta(np.array([1, 2, 3, 4, 5])) == 4
    assert least_eta(np.array([5, 5, 5, 5, 5])) == 5
    for sizes in (np.arange(101), np.repeat([1, 9], [50, 50])):
        assert np.count_nonzero(sizes > least_eta(sizes)) * 5 <= len(sizes)


def test_parts_are_of_one_size_and_random(shape: Problem) -> None:
    """The same seed draws the same parts, another seed others; sizes differ by one at most."""
    divisions = [divide(shape, PartParameters(parts=7), seed, eta=None) for seed in (0, 0, 1)]
    sizes = np.bincount(divisions[0].parts[divisions[0].parts >= 0], minlength=7)
    assert np.ptp(sizes) <= 1
    assert divisions[0].num_light == sizes.sum()
    assert np.array_equal(divisions[0].parts, divisions[1].parts)
    assert not np.array_equal(divisions[0].parts, divisions[2].parts)


@pytest.mark.parametrize("model", MODELS)
def test_parts_are_chosen_by_predicted_work(shape: Problem, model: str) -> None:
    """Models of the paper take the least work, ``overlaps`` the fewest parts within a tenth of it."""
    division = divide(shape, CoverageParameters(model=model), 0, eta=None)
    light = np.flatnonzero(division.parts >= 0).astype(np.int32)
    shuffled = random_stream(0, "overlay/parts").permutation(light)
    works = _predicted_works(shape, division.bulk, shuffled, COVERAGE, MODELS[model])
    least = min(works.values())
    if model == "overlaps":
        assert division.num_parts == min(parts for parts, work in works.items() if work <= 1.1 * least)
    else:
        assert division.num_parts == min(works, key=works.get)
    assert len(works) > 3
    assert divide(shape, CoverageParameters(model=model), 0, eta=0).num_parts == 1  # no node is light


def test_the_choice_is_reported(shape: Problem) -> None:
    """A plan has eta, coverage and parts as given, and the nodes that follow from them."""
    plan = solve(shape, "dcbr-m", parameters={"eta": 20, "coverage": 2, "parts": 4}).plan
    (row,) = plan.decisions("division").to_pylist()
    bulk = int(np.count_nonzero(np.diff(shape.instance.topics_by_node.offsets) > 20))
    stated = {name: row[name] for name in ("eta", "coverage", "parts", "bulk", "light")}
    assert stated == {"eta": 20, "coverage": 2, "parts": 4, "bulk": bulk, "light": 200 - bulk}
    measures = measures_of(plan)
    assert measures.representative_share == row["representatives"] / row["light"]
    assert measures.known_share == row["known"] / 200
    assert sum(measures.degrees) == 200
    assert measures.mean_degree == pytest.approx(2 * measures.links / 200)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        (PartParameters, {"parts": 0}, "parts is a whole number, at least 1 and at most 2,147,483,647, not 0"),
        (
            CoverageParameters,
            {"coverage": None},
            "coverage is a whole number, at least 1 and at most 2,147,483,647, not None",
        ),
        (CoverageParameters, {"eta": 10**19}, "eta is a whole number, at least 0 and at most 2,147,483,647, not 1"),
        (PartParameters, {"parts": True}, "parts is a whole number"),
        (PartParameters, {"model": "pear"}, "Did you mean 'paper'|Known: fourth-powers, known, overlaps, paper"),
        (BulkParameters, {"eta": -1}, "eta is a whole number, at least 0 and at most 2,147,483,647, not -1"),
        (CoverageParameters, {"coverage": 1.5}, "coverage is a whole number"),
        (RepairParameters, {"effort": -0.1}, "effort is a number from 0 to below 1,000,000"),
        (RepairParameters, {"effort": "much"}, "effort is a number from 0 to below 1,000,000"),
    ],
)
def test_parameters_are_checked(kind: type, values: dict, said: str) -> None:
    """A sentence says what the value is and what it may be."""
    with pytest.raises(ValueError, match=said):
        kind(**values)


def test_the_models_are_those_of_the_paper() -> None:
    """Ten bulk nodes, eighty light ones in four parts, twenty representatives, seven overlaps."""
    works = {name: model.work(_Trial(4, 10, 80, 20, 7)) for name, model in MODELS.items()}
    fourth = 30**4 + 80**4 / 4**3
    assert works == {"overlaps": 7, "paper": 30**2 + 80**2 / 4, "fourth-powers": fourth, "known": 20 + 10 + 15}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "content"}, "overlay plans topic workloads; .* is a content workload"),
        ({"pairs": 2**31}, "overlay connects at most 2,147,483,647 interests, not 2,147,483,648"),
        ({"subscribers": 2**31}, "overlay connects at most 2,147,483,647 nodes"),
    ],
)
def test_workloads_that_cannot_be_planned(shape: Problem, changes: dict, said: str) -> None:
    """Another kind, or more than can be counted."""
    manifest = shape.workload.manifest
    kind = {"kind": changes["kind"]} if "kind" in changes else {"counts": replace(manifest.counts, **changes)}
    with pytest.raises(InputError, match=said):
        Problem(Workload(shape.workload.path, replace(manifest, **kind)))


def test_methods_and_parameters_that_do_not_exist(tmp_path: Path) -> None:
    """They are refused with the nearest name, and wrong values with the name of the method."""
    problem = EDGE_CASES["one node"].problem(tmp_path)
    with pytest.raises(InputError, match="method dcb-m: eta is a whole number, at least 0"):
        solve(problem, "dcb-m", parameters={"eta": -3})
    with pytest.raises(InputError, match="method gm-m: There is no parameter 'eta'"):
        solve(problem, "gm-m", parameters={"eta": 3})
    with pytest.raises(InputError, match="Did you mean 'gm-m'"):
        solve(problem, "gm-n")


def test_executors_change_nothing_with_spark(shape: Problem, spark) -> None:
    """Parts, forwarding, bounds and their verification as tasks."""
    here, there = solve(shape, "dcbr-repair"), solve(shape, "dcbr-repair", spark=spark)
    assert there.plan.digest == here.plan.digest
