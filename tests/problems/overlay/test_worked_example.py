"""The worked example of docs/overlay.md, step by step, and what the page says of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pubplan.planning import Result
from pubplan.problems.overlay import LINKS, NODES, TOPICS, Problem, solve, verify

WANTED = {"A": ["t1", "t2", "t3"], "B": ["t2"], "C": ["t2", "t3", "t4"], "D": ["t4"], "E": ["t1", "t2"]}
TOPIC_IDS = ["t1", "t2", "t3", "t4"]
STEPS = [
    (("A", "C"), {"AB": 1, "AC": 2, "AE": 2, "BC": 1, "BE": 1, "CD": 1, "CE": 1}),
    (("B", "E"), {"AB": 1, "AE": 2, "BC": 1, "BE": 1, "CD": 1, "CE": 1}),
    (("A", "E"), {"AB": 1, "AE": 2, "BC": 1, "CD": 1, "CE": 1}),
    (("C", "D"), {"CD": 1}),
]
"""What the page links in each step, and what every link would contribute then."""


@pytest.fixture
def problem(make_workload) -> Problem:
    return Problem(make_workload(dict.fromkeys(TOPIC_IDS, 1), WANTED))


@pytest.fixture
def result(problem: Problem) -> Result:
    return solve(problem, "gm-m")


def contributions(wanted: Mapping[str, Iterable[str]], links: Iterable[tuple[str, str]]) -> dict[str, int]:
    """For every pair of nodes the topics that a link would join, from the definition; pairs that join none left out."""
    counts: dict[str, int] = {}
    for topic in {topic for topics in wanted.values() for topic in topics}:
        nodes = sorted(node for node, topics in wanted.items() if topic in topics)
        inside = [(nodes.index(a), nodes.index(b)) for a, b in links if a in nodes and b in nodes]
        rows, columns = [a for a, _ in inside], [b for _, b in inside]
        graph = coo_array(([1] * len(inside), (rows, columns)), shape=(len(nodes), len(nodes)))
        labels = dict(zip(nodes, connected_components(graph, directed=False)[1], strict=True))
        for one, other in combinations(nodes, 2):
            if labels[one] != labels[other]:
                counts[one + other] = counts.get(one + other, 0) + 1
    return dict(sorted(counts.items()))


def test_contributions_are_those_of_the_page() -> None:
    """Before each step, and nothing is left after the last."""
    chosen = [link for link, _ in STEPS]
    assert [contributions(WANTED, chosen[:step]) for step in range(len(STEPS))] == [of_pairs for _, of_pairs in STEPS]
    assert contributions(WANTED, chosen) == {}


def test_each_step_follows_the_rule() -> None:
    """The most of those that do not raise the maximum degree, else the most of all; ties by degree, then in order."""
    degree = dict.fromkeys(WANTED, 0)
    for chosen, of_pairs in STEPS:
        busier = {pair: max(degree[pair[0]], degree[pair[1]]) for pair in of_pairs}
        most = max(degree.values())
        allowed = [pair for pair in of_pairs if busier[pair] < most] or list(of_pairs)
        assert min(allowed, key=lambda pair: (-of_pairs[pair], busier[pair], pair)) == "".join(chosen)
        for node in chosen:
            degree[node] += 1


def test_gm_m_takes_these_steps(result: Result) -> None:
    """The links of the page in its order, each with what it joined."""
    steps = result.plan.trajectory().to_pylist()
    names = list(WANTED)
    chosen = [((names[step["node"]], names[step["other"]]), step["joined"]) for step in steps]
    assert chosen == [(link, would["".join(link)]) for link, would in STEPS]
    assert {step["phase"] for step in steps} == {"greedy"}


def test_the_plan_is_that_of_the_page(problem: Problem, result: Result) -> None:
    """A, C and E have two links; t2 runs C - A - E - B, three links long, and its tree is two deep."""
    links = result.plan.decisions(LINKS)
    ends = zip(links["node_id"].to_pylist(), links["other_id"].to_pylist(), strict=True)
    assert list(ends) == sorted(link for link, _ in STEPS)
    assert result.plan.decisions(NODES)["degree"].to_pylist() == [2, 1, 2, 1, 2]
    topics = result.plan.decisions(TOPICS)
    assert topics["diameter"].to_pylist() == [1, 3, 1, 1]
    assert topics["depth"].to_pylist() == [1, 2, 1, 1]
    assert verify(problem, result.plan).ok


def test_the_bound_is_that_of_the_page(result: Result) -> None:
    """6 joins, of which one link per node allows for 4 and two for 6; A shares three topics, two with one neighbour."""
    assert (result.objective, result.bound, result.gap) == (2, 2, 0)
    assert result.bounds == {"forced": 2, "joins": 2, "node": 2}
    assert result.plan.certificate("joins").evidence == {"joins": 6, "reached_with_one_less": 4}


def test_contribution_alone_gives_a_node_three_links() -> None:
    """Degrees that only break ties: A-C, A-E, B-C, C-D."""
    degree, chosen = dict.fromkeys(WANTED, 0), []
    while of_pairs := contributions(WANTED, chosen):
        one, other = min(of_pairs, key=lambda pair: (-of_pairs[pair], max(degree[pair[0]], degree[pair[1]]), pair))
        chosen.append((one, other))
        degree[one] += 1
        degree[other] += 1
    assert chosen == [("A", "C"), ("A", "E"), ("B", "C"), ("C", "D")]
    assert degree["C"] == 3


def test_completed_matchings_can_be_in_the_way(make_workload) -> None:
    """MinMax-ODA has a link more than GM-M here: links that join nothing keep out one that would."""
    wanted = {
        "n0": ["t2"],
        "n1": ["t1", "t2", "t3", "t4"],
        "n2": ["t1", "t3", "t5"],
        "n3": ["t5", "t6"],
        "n4": ["t1", "t4"],
        "n5": ["t1", "t6"],
        "n6": ["t0", "t3"],
    }
    problem = Problem(make_workload(dict.fromkeys((f"t{number}" for number in range(7)), 1), wanted))
    assert [solve(problem, method).exact.value for method in ("gm-m", "minmax-oda")] == [3, 4]
