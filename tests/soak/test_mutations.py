"""Thousands of small changes to plans of every family: each is refused with a sentence, or listed here with why not."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest
from oracles.assign import Broker, Case, Client
from oracles.federate import Case as ExchangeCase
from oracles.federate import Publisher
from oracles.mutations import Mutation, claims_of, mutations_of, sealed

import pubplan
from pubplan.errors import InputError, StalePlan
from pubplan.planning import read_plan, solve_problem, verify_plan
from pubplan.problems import assign, family_named, federate, overlay, problem_of, provision, select
from pubplan.problems.provision.catalogue import Origin, Tariff, Tier, VmType
from pubplan.workload import Window, Workload

pytestmark = pytest.mark.soak

MEMORY = 4 << 30
"""Address space that verification may add: what a number in a plan asks for is not allocated."""


class Accepted(NamedTuple):
    """A kind of change that passes: cases and mutations it covers, a case in which it occurs, and why that is right."""

    pattern: str
    witness: str
    why: str


MADE_AGAIN = "how a plan was made is compared by --replan: the plan is right, whoever made it"
QUESTION = "the question is another, and the plan is right for that question too"
LOOSER = "a bound that claims less than its certificate proves is true"
UNCLAIMED = "a plan may claim fewer bounds"
EVIDENCE = "any multipliers, prices and witnesses prove a bound; these still prove the one that is claimed"

ACCEPTED = (
    Accepted("*/plan.json:seed=*", "select fb3m", MADE_AGAIN),
    Accepted("*/plan.json:deterministic=false", "select fb3m", "a plan need not promise to come out again"),
    Accepted("*/plan.json:verified=false", "select fb3m", "what was verified once is verified again"),
    Accepted("*/plan.json:reasons*", "select fb3m", MADE_AGAIN),
    Accepted("select */plan.json:parameters.rounds=*", "select b3m", MADE_AGAIN),
    Accepted("select fb3m/plan.json:method=greedy-*", "select fb3m", MADE_AGAIN),
    Accepted("select fb3m/plan.json:method=enumerate-fb3m", "select fb3m", MADE_AGAIN),
    Accepted("select b3m/plan.json:method=greedy-b3m", "select b3m", MADE_AGAIN),
    Accepted("select */plan.json:method=blockwise-*", "select b3m", MADE_AGAIN),
    Accepted("select b3m/plan.json:parameters.threshold=one more", "select b3m", QUESTION),
    Accepted("select exact/plan.json:method=*-b3m", "select exact", MADE_AGAIN),
    Accepted("select exact/plan.json:parameters.search_nodes=*", "select exact", MADE_AGAIN),
    Accepted("select exact/plan.json:parameters.time_limit=*", "select exact", MADE_AGAIN),
    Accepted("select exact/plan.json:gap=0", "select exact", "0 and 0.0 are the same number"),
    Accepted("select exact/certificate/search.json:bound=looser", "select exact", LOOSER),
    Accepted("select exact/certificate/paper.json:bound=not claimed", "select exact", UNCLAIMED),
    Accepted("select exact/certificate/lagrangian.json:evidence.price=one *", "select exact", EVIDENCE),
    Accepted("select exact/certificate/paper.json:evidence.cut_need=one more", "select exact", EVIDENCE),
    Accepted("select exact/certificate/search-multipliers/*:multipliers=*", "select exact", EVIDENCE),
    Accepted("select exact/certificate/search-multipliers/*:interests=element *", "select exact", EVIDENCE),
    Accepted("select exact/certificate/search-tree/*:payment=*", "select exact", EVIDENCE),
    Accepted("select exact/certificate/search-tree/*:cost=*", "select exact", EVIDENCE),
    Accepted("select */certificate/lagrangian.json:bound=looser", "select b3m", LOOSER),
    Accepted("select */certificate/paper.json:bound=looser", "select b3m", LOOSER),
    Accepted("select */certificate/lagrangian-multipliers/*:multiplier=*", "select fb3m", EVIDENCE),
    Accepted("select b3m/certificate/lagrangian.json:evidence.price=one *", "select b3m", EVIDENCE),
    Accepted("select */trajectory.parquet:bound=*.*", "select fb3m", LOOSER),
    Accepted("provision sizes/plan.json:gap=0", "provision sizes", "0 and 0.0 are the same number"),
    Accepted("provision */plan.json:method=*+*", "provision sizes", MADE_AGAIN),
    Accepted("provision */plan.json:parameters.rounds=*", "provision sizes", MADE_AGAIN),
    Accepted("provision */plan.json:parameters.vm_types.?.*per_*=one *", "provision sizes", QUESTION),
    Accepted("provision */plan.json:parameters.vm_types.?.tariff.period_seconds=one *", "provision sizes", QUESTION),
    Accepted(
        "provision */plan.json:parameters.vm_types.2.*", "provision sizes", "no fleet can be of this type: " + QUESTION
    ),
    Accepted(
        "provision */plan.json:parameters.vm_types.?.origin*",
        "provision sizes",
        "who states a price is the asker's word",
    ),
    Accepted(
        "provision */decisions/types.parquet:refused=*", "provision sizes", "that it is refused is recomputed, not how"
    ),
    Accepted("provision */certificate/*.json:bound=looser", "provision sizes", LOOSER),
    Accepted("provision */certificate/*.json:bound=not claimed", "provision sizes", UNCLAIMED),
    Accepted("provision */certificate/prices.json:evidence.*", "provision sizes", EVIDENCE),
    Accepted("provision */certificate/prices-charged/*:topics=*", "provision sizes", EVIDENCE),
    Accepted("overlay */certificate/*.json:bound=not claimed", "overlay gm-m", UNCLAIMED),
    Accepted("overlay gm-m/plan.json:method=minmax-oda", "overlay gm-m", MADE_AGAIN),
    Accepted("overlay dcbr-*/plan.json:parameters.parts=null", "overlay dcbr-m", "the model may choose as many parts"),
    Accepted(
        "overlay dcbr-*/plan.json:parameters.eta=null", "overlay dcbr-m", "eta is what it would be if not asked for"
    ),
    Accepted("overlay dcbr-repair/plan.json:parameters.effort=*", "overlay dcbr-repair", MADE_AGAIN),
    Accepted(
        "overlay */trajectory.parquet:rows=turned around", "overlay gm-m", "in this order too links join what they say"
    ),
    Accepted(
        "overlay */trajectory.parquet:rows=first last", "overlay gm-m", "in this order too links join what they say"
    ),
    Accepted("assign */certificate/*.json:bound=not claimed", "assign gr-star", UNCLAIMED),
    Accepted("assign */certificate/forced.json:bound=looser", "assign gr-star", LOOSER),
    Accepted("assign */certificate/forced.json:evidence.strides.*", "assign gr-star", EVIDENCE),
    Accepted("assign */certificate/forced-*:*turned around", "assign gr-star", EVIDENCE),
    Accepted("assign */certificate/forced-shared/*:rows=first last", "assign gr-star", EVIDENCE),
    Accepted("assign gr-star/plan.json:gap=0", "assign gr-star", "0 and 0.0 are the same number"),
    Accepted("assign gr-star/plan.json:method=*", "assign gr-star", MADE_AGAIN),
    Accepted("assign */plan.json:parameters.boxes=*", "assign gr-no-latency", QUESTION),
    Accepted("federate */plan.json:method=*-*", "federate spanning", MADE_AGAIN),
    Accepted("federate */plan.json:method=clustering", "federate spanning", MADE_AGAIN),
    Accepted("federate */plan.json:method=random", "federate spanning", MADE_AGAIN),
    Accepted("federate */plan.json:parameters.steps=*", "federate spanning", MADE_AGAIN),
    Accepted("federate */plan.json:parameters.starts=*", "federate spanning", MADE_AGAIN),
    Accepted("federate */plan.json:parameters.kicks=*", "federate spanning", MADE_AGAIN),
    Accepted("federate exact/plan.json:parameters.search_nodes=*", "federate exact", MADE_AGAIN),
    Accepted("federate exact/plan.json:gap=0", "federate exact", "0 and 0.0 are the same number"),
    Accepted("federate exact/certificate/search.json:bound=looser", "federate exact", LOOSER),
    Accepted("federate */certificate/access.json:bound=not claimed", "federate spanning", UNCLAIMED),
    Accepted("federate */certificate/laminar.json:bound=not claimed", "federate spanning", UNCLAIMED),
    Accepted("federate */certificate/access-brokers/*:price=*", "federate spanning", EVIDENCE),
    Accepted("federate */certificate/laminar-brokers/*:price=*", "federate spanning", EVIDENCE),
    Accepted("federate */certificate/laminar-shares/*:share=*", "federate spanning", EVIDENCE),
    Accepted("federate */certificate/laminar-shares/*:cluster=1", "federate spanning", EVIDENCE),
    Accepted("federate */certificate/laminar-shares/*:rows=last dropped", "federate spanning", EVIDENCE),
)


@pytest.fixture(autouse=True)
def limited_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def topics_workload(directory: Path) -> Workload:
    """Six topics, twelve subscribers; thresholds of their own, among them 0, weights, and sizes that differ."""
    rates = {"a": 9, "b": 4, "c": 4, "d": 2, "e": 1, "f": 0}
    wanted = ["abc", "ab", "acd", "bcde", "de", "a", "bd", "ce", "abcdef", "f", "ad", "be"]
    interests = {f"s{number:02}": list(topics) for number, topics in enumerate(wanted)}
    thresholds = {name: (7 * number) % 10 for number, name in enumerate(interests)}
    weights = {name: 1 + number % 3 for number, name in enumerate(interests)}
    sizes = {"a": 3, "b": 1, "c": 2, "d": 5, "e": 1, "f": 1}
    return pubplan.build_workload(
        directory,
        rates,
        interests,
        thresholds=thresholds,
        weights=weights,
        message_bytes=sizes,
        window=Window(seconds=8),
    )


def vm_types() -> tuple[VmType, ...]:
    """VMs of 96, 60 and 7 bytes a window; the smallest takes too few topics. Bytes get cheaper beyond 100."""
    tariff = Tariff(8 * 10**8, (Tier(None, 10**9),), (Tier(10, 2 * 10**9), Tier(None, 10**9)))
    lines = {"large": (96, 9000), "medium": (60, 7650), "small": (7, 450)}
    origin = Origin("us", "cellar", "2026-01-31", "the invoice")
    return tuple(VmType(name, price, line, tariff, origin) for name, (line, price) in lines.items())


def content_problem(directory: Path) -> assign.Problem:
    """Six clients at two sites, three leaves at the second level of a tree, and a density.

    Those at the first site can use one leaf only, those at the second two.
    """
    rectangles = (
        ((0, 0), (2, 2)),
        ((6, 0), (8, 1)),
        ((1, 1), (3, 3)),
        ((5, 4), (7, 6)),
        ((4, 3), (6, 5)),
        ((0, 4), (2, 6)),
    )
    clients = tuple(
        Client(site, low, high, weight=weight)
        for site, (low, high), weight in zip((0, 0, 0, 1, 1, 0), rectangles, (1, 1, 2, 1, 2, 1), strict=True)
    )
    brokers = (Broker(share=0), Broker(share=0), Broker(0, 2), Broker(0, 3), Broker(1, 1))
    latencies = ((0, 0, 5, 9, 9), (0, 0, 9, 5, 6))
    density = {"cells": (4, 2), "messages": (3, 1, 3, 1, 9, 1, 3, 1)}
    case = Case((8, 6), brokers, latencies, clients, boxes=2, max_delay="0.25", max_load="2", **density)
    return case.problem(directory)


def exchange_problem(directory: Path, routing: str, cost: str) -> federate.Problem:
    """Seven clients at three sites, three brokers around a hub that nobody is near to, two attributes, four channels.

    One channel has a publisher at a broker without subscribers, one client may use two brokers only, one publishes
    nothing, and the first broker has too little room for all that are nearest to it.
    """
    everywhere = (0, 1, 2, 3)
    clients = (
        Publisher(0, ((0, 2), (0, 2)), ((0, 30), (3, 8)), everywhere),
        Publisher(0, ((0, 4), (0, 1)), ((1, 21),), everywhere),
        Publisher(1, ((2, 4), (0, 2)), ((0, 10), (2, 4)), everywhere),
        Publisher(1, ((2, 4), (1, 2)), ((3, 6),), everywhere),
        Publisher(2, ((0, 1), (0, 1)), ((1, 5), (2, 16)), everywhere),
        Publisher(2, ((0, 2), (1, 2)), ((1, 9),), (1, 2)),
        Publisher(0, ((3, 4), (1, 2)), (), everywhere),
    )
    prices = ((12, 54, 54, 70), (54, 18, 54, 70), (54, 54, 12, 70))
    links = ((0, 19, 19, 10), (19, 0, 19, 10), (19, 19, 0, 10), (10, 10, 10, 0))
    whole = ExchangeCase((4, 2), (2, 2), clients, prices, links, (130, 300, 300, 0), (2, 2), routing, cost)
    return whole.problem(directory / "workload")


EXCHANGES = {
    "federate spanning": ("spanning", "shared", "local-moves"),
    "federate steiner": ("steiner", "shared", "steiner-mixing"),
    "federate acyclic": ("acyclic", "shared", "local-moves"),
    "federate replicating": ("spanning", "replicating", "local-moves"),
    "federate exact": ("steiner", "shared", "exact"),
}
"""Routing, cost and method."""


def planned(case: str, directory: Path) -> Path:
    """The plan of a case, next to its workload."""
    if case in EXCHANGES:
        routing, cost, method = EXCHANGES[case]
        problem = exchange_problem(directory, routing, cost)
        solve_problem(family_named("federate"), problem, method, out=directory / "plan")
        return directory / "plan"
    if case.startswith("assign"):
        solve_problem(family_named("assign"), content_problem(directory), case.split()[1], out=directory / "plan")
        return directory / "plan"
    workload = topics_workload(directory / "workload")
    if case == "select fb3m":
        problem, method = select.Problem(workload, "40%", must_serve=["e"]), "greedy-fb3m"
    elif case == "select b3m":
        problem, method = select.Problem(workload, "40%", 5, objective="b3m"), "improved-b3m"
    elif case == "select exact":
        problem, method = select.Problem(workload, "35%", 6, objective="b3m"), "exact"
    elif case == "provision sizes":
        problem, method = provision.Problem(workload, vm_types()), "joint+level"
    elif case == "provision budget":
        problem = provision.Problem(workload, vm_types(), 6, message_bytes=2, budget="0.0004", rate_factor="1.5")
        method = "gsp+ffbp"
    else:
        problem, method = overlay.Problem(workload), case.split()[1]
    parameters = {"parts": 2, "eta": 3, "coverage": 1} if method in ("dcbr-m", "dcbr-repair") else {}
    family = family_named(case.split(maxsplit=1)[0])
    solve_problem(family, problem, method, parameters=parameters, out=directory / "plan")
    return directory / "plan"


CASES = (
    *("select fb3m", "select b3m", "select exact", "provision sizes", "provision budget"),
    *("overlay gm-m", "overlay ring-per-topic", "overlay dcbr-m", "overlay dcbr-repair"),
    *("assign gr-star", "assign gr-no-latency"),
    *EXCHANGES,
)


def outcome(path: Path, workload: Workload) -> str:
    """What becomes of a plan: refused when read, found wrong, or accepted; anything else is raised."""
    try:
        plan = read_plan(path)
        problem = problem_of(plan, workload)
        verdict = verify_plan(family_named(plan.family), problem, plan)
    except (InputError, StalePlan):
        return "refused"
    for violation in verdict.violations:
        assert len(str(violation)) < 10_000
    return "accepted" if verdict.ok else "found wrong"


def applied(path: Path, mutation: Mutation, workload: Workload) -> str:
    """The outcome of a mutation, after which the plan is as it was."""
    before = {name: (path / name).read_bytes() for name in (*mutation.files, "plan.json") if (path / name).is_file()}
    try:
        for name, content in mutation.files.items():
            if content is None:
                (path / name).unlink()
            else:
                (path / name).write_bytes(content)
        sealed(path)
        return outcome(path, workload)
    finally:
        for name in mutation.files:
            (path / name).unlink(missing_ok=True)
        for name, content in before.items():
            (path / name).write_bytes(content)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", CASES)
def test_every_small_change_is_noticed(case: str, tmp_path: Path) -> None:
    """Refused, found wrong, or listed above; never a traceback, and never memory by the number in a file."""
    path = planned(case, tmp_path)
    workload = pubplan.read_workload(tmp_path / "workload")
    assert outcome(path, workload) == "accepted"
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    seen: set[Accepted] = set()
    plan = read_plan(path)
    family, problem = family_named(plan.family), problem_of(plan, workload)
    for mutation in (*mutations_of(path), *claims_of(path, family, problem)):
        try:
            result = applied(path, mutation, workload)
        except Exception as error:
            result = "crash"
            wrong.append(f"{mutation.name}: {type(error).__name__}: {error}")
        counts[result] += 1
        if result == "accepted":
            kinds = [kind for kind in ACCEPTED if fnmatchcase(f"{case}/{mutation.name}", kind.pattern)]
            seen.update(kinds)
            if not kinds:
                wrong.append(f"{mutation.name}: accepted")
    assert outcome(path, workload) == "accepted"
    assert [kind.pattern for kind in ACCEPTED if kind.witness == case and kind not in seen] == []
    assert sum(counts.values()) > 1000
    assert not wrong, f"{len(wrong)} of {sum(counts.values())}:\n" + "\n".join(line[:300] for line in wrong)
