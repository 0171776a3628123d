"""The experiments of the paper on broker overlays: which networks, and what every method's plan costs on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from pubplan.engine import muted, stage
from pubplan.files import OwnedDirectory
from pubplan.generate import content_exchange, generate
from pubplan.planning import Draft, planning_seconds
from pubplan.problems.federate.family import FAMILY, solve
from pubplan.problems.federate.problem import Problem
from pubplan.workload import ContentWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

NUM_CLIENTS, CLIENTS_PER_BROKER, PAPER_RUNS = 10_000, 100, 100

NUM_CHANNELS = 50
"""The paper does not say how many it has."""

MIN_BROKERS = 2
SIZE_SHARES = (0.1, 0.4, 0.7, 1.0)
EQUAL_PRICES = "1"
RATIOS = ("0.01", "0.1", EQUAL_PRICES, "10", "100")
"""Of prices between clients and brokers to those between brokers: above 1, links between brokers are the cheap ones."""

RANDOM, GREEDY, CLUSTERING, MIXING, MOVES = (
    "random",
    "greedy-packing",
    "clustering",
    "steiner-mixing",
    "local-moves",
)
METHODS = (RANDOM, GREEDY, CLUSTERING, MIXING, MOVES)
PROPOSED = (GREEDY, CLUSTERING, MIXING)
"""Those that the paper compares."""

TITLES = {
    RANDOM: "random",
    GREEDY: "greedy packing",
    CLUSTERING: "clustering",
    MIXING: "Steiner-tree mixing",
    MOVES: "local moves (not in the paper)",
}

POINT_PARAMETERS: Mapping[str, Mapping[str, int]] = {MOVES: {"starts": 4, "kicks": 0}}
"""Without random starts and changes, which take most of the time on small networks and hardly lower the cost."""


@dataclass(frozen=True)
class Setting:
    """What the paper leaves open: how traffic is paid for, and how wide subscriptions are; None draws both ends."""

    name: str
    title: str
    cost: Literal["shared", "replicating"] = "shared"
    niche: str | None = None

    @property
    def bound(self) -> str:
        """The tighter of the bounds that the cost allows."""
        return "access" if self.cost == "replicating" else "laminar"


SHARED = Setting("shared", "a message crosses a link once")
REPLICATING = Setting("replicating", "a message crosses a link once for each subscriber behind it", "replicating")
NICHE = Setting("niche", "interests 2 % of the content space wide, a message crosses a link once", niche="2%")
SETTINGS = (SHARED, REPLICATING, NICHE)


@dataclass(frozen=True)
class Costs:
    """On one network, what every method's plan costs, and what no plan can be below."""

    by_method: Mapping[str, float]
    access_bound: float

    def reduction(self, method: str) -> float:
        """The cost reduction ratio of a method."""
        return self.by_method[RANDOM] / self.by_method[method]

    @property
    def largest_reduction(self) -> float:
        """No cost reduction ratio is above this one."""
        return self.by_method[RANDOM] / self.access_bound


@dataclass(frozen=True)
class Point:
    """Several networks of one size and one price ratio, by setting."""

    num_clients: int
    price_ratio: str
    networks: Mapping[str, tuple[Costs, ...]]

    def reduction(self, setting: Setting, method: str) -> float:
        return fmean(costs.reduction(method) for costs in self.networks[setting.name])

    def largest_reduction(self, setting: Setting) -> float:
        return fmean(costs.largest_reduction for costs in self.networks[setting.name])

    def random_cost(self, setting: Setting) -> float:
        return fmean(costs.by_method[RANDOM] for costs in self.networks[setting.name])


@dataclass(frozen=True)
class Times:
    """On one network: seconds of planning by setting and method, and the gap of local moves by setting."""

    num_clients: int
    seconds: Mapping[tuple[str, str], float | None]
    gaps: Mapping[str, float | None]


class Experiments:
    """Networks are drawn, planned for and dropped one after the other; points are kept."""

    def __init__(self, num_clients: int, num_runs: int, seed: int, spark: SparkSession | None) -> None:
        self.num_clients, self.num_runs = num_clients, num_runs
        self._seed, self._spark = seed, spark
        self._points: dict[tuple[int, str], Point] = {}

    def point(self, share: float = 1.0, price_ratio: str = EQUAL_PRICES) -> Point:
        """Plan on networks with a share of the clients."""
        num_clients = round(share * self.num_clients)
        key = num_clients, price_ratio
        if key not in self._points:
            networks: dict[str, list[Costs]] = {setting.name: [] for setting in SETTINGS}
            with stage(f"planning for {num_clients:,} clients at price ratio {price_ratio}", self.num_runs) as advance:
                for run in range(self.num_runs):
                    with muted():
                        for name, costs in self._network(num_clients, price_ratio, self._seed + run).items():
                            networks[name].append(costs)
                    advance(1)
            self._points[key] = Point(*key, {name: tuple(costs) for name, costs in networks.items()})
        return self._points[key]

    def _network(self, num_clients: int, price_ratio: str, seed: int) -> dict[str, Costs]:
        keeper = OwnedDirectory()
        by_setting = {}
        for setting, problem in self._problems(keeper, num_clients, price_ratio, seed):
            drafts = {method: self._draft(problem, method, seed) for method in METHODS}
            (bound,) = FAMILY.bounds["access"].run(problem, drafts[MOVES], self._spark)
            costs = {method: float(draft.claimed) for method, draft in drafts.items()}
            by_setting[setting.name] = Costs(costs, float(bound.bound))
        return by_setting

    def _problems(
        self, keeper: OwnedDirectory, num_clients: int, price_ratio: str, seed: int
    ) -> list[tuple[Setting, Problem]]:
        """A problem for each setting, with its clients read."""
        workloads: dict[str | None, ContentWorkload] = {}
        problems = []
        for setting in SETTINGS:
            if setting.niche not in workloads:
                num_brokers = max(MIN_BROKERS, num_clients // CLIENTS_PER_BROKER)
                # A cell per channel: capacities are twice what clients send and receive by channel, as in the paper.
                shape = content_exchange(
                    num_clients,
                    num_brokers,
                    seed,
                    price_ratio=price_ratio,
                    niche=setting.niche,
                    cells=NUM_CHANNELS,
                )
                workloads[setting.niche] = generate(shape, keeper.path / setting.name, spark=self._spark)
            problem = Problem(workloads[setting.niche], NUM_CHANNELS, cost=setting.cost)
            problem.instance.load(self._spark)
            problem.check()
            problems.append((setting, problem))
        return problems

    def _draft(self, problem: Problem, method: str, seed: int) -> Draft:
        chosen = FAMILY.methods[method]
        parameters: Any = chosen.parameters(**POINT_PARAMETERS.get(method, {}))
        return chosen.run(problem, parameters, seed, self._spark)

    def times(self, num_clients: int) -> Times:
        """Plan with every method as it is by default, prices being equal; these plans are verified."""
        keeper = OwnedDirectory()
        seconds: dict[tuple[str, str], float | None] = {}
        gaps: dict[str, float | None] = {}
        with muted():
            problems = self._problems(keeper, num_clients, EQUAL_PRICES, self._seed)
        with stage(f"taking the time for {num_clients:,} clients", len(problems) * len(METHODS)) as advance:
            for setting, problem in problems:
                for method in METHODS:
                    with muted():
                        bound = setting.bound if method == MOVES else "none"
                        result = solve(problem, method, seed=self._seed, bound=bound, spark=self._spark)
                    seconds[setting.name, method] = planning_seconds(result.plan)
                    advance(1)
                gaps[setting.name] = result.gap
        return Times(num_clients, seconds, gaps)
