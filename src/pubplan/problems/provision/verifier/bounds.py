"""Recomputes what bounds claim, with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pubplan.engine import Store, exact_sum, num_blocks
from pubplan.errors import InputError, Violation, one_line
from pubplan.planning import Plan, sums_by_row
from pubplan.problems.provision.plan import CHARGED, CHARGED_SCHEMA, PRICES_SCHEMA, PRICES_TOPICS
from pubplan.problems.provision.verifier.costs import MICROS_PER_DOLLAR, Terms
from pubplan.problems.provision.verifier.covers import NO_COST, known_costs, least_costs
from pubplan.workload import Int64Array, list_column

_LARGEST_FACTOR = 2**20  # weights and units are below


@dataclass(frozen=True)
class BlockRows:
    """The subscribers of one block: their topics as CSR with the rate of each, and tau_v."""

    offsets: Int64Array
    lengths: Int64Array
    topics: npt.NDArray[np.int32]
    rates: Int64Array
    needed: Int64Array


@dataclass
class BoundSums:
    """Sums over some blocks.

    Attributes:
        simple_need: of max(tau_v, smallest topic), in events.
        outgoing: the least outgoing traffic.
        priced: the least cost of covers, prices included.
        num_foreign: blocks that charge for topics that are not interests.
        num_wanting: subscribers that need anything.
    """

    simple_need: int = 0
    outgoing: int = 0
    priced: int = 0
    num_foreign: int = 0
    num_wanting: int = 0

    def add(self, other: BoundSums) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass
class BoundState:
    """What bounds need of some blocks: sums, and by topic how many cannot do without it and how many are charged."""

    sums: BoundSums
    mandatory: Int64Array
    charged: Int64Array


@dataclass(frozen=True)
class BoundChecks:
    """Checks the bounds of a plan along with its blocks.

    ``too_big`` says which topics fit no VM; traffic is in events if messages are of one size, else in bytes.
    """

    names: frozenset[str]
    terms: Terms
    too_big: npt.NDArray[np.bool_]
    weights: tuple[int, int] = (1, 1)
    unit: int = 1
    charged_prices: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    other_prices: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    damage: tuple[Violation, ...] = ()

    @classmethod
    def of(cls, terms: Terms, plan: Plan) -> BoundChecks:
        names = frozenset(plan.record["bounds"])
        plain = cls(names, terms, 2 * terms.streams > max(terms.limits))
        if "prices" not in names:
            return plain
        try:
            return plain._with_prices(plan)
        except (InputError, KeyError, TypeError, ValueError) as error:
            where = f"certificate/prices.json: {one_line(str(error))}"
            damage = Violation("evidence of a bound that cannot be used", where)
            return replace(plain, names=names - {"prices"}, damage=(damage,))

    def _with_prices(self, plan: Plan) -> BoundChecks:
        """With the evidence of ``prices``.

        Raises:
            InputError, KeyError, TypeError, ValueError: it cannot be used.
        """
        evidence = plan.certificate("prices").evidence
        weights, unit = tuple(evidence["weights"]), evidence["unit"]
        factors = (*weights, unit)
        if len(weights) != 2 or not all(type(value) is int and 1 <= value < _LARGEST_FACTOR for value in factors):
            raise ValueError(f"weights {weights} and unit {unit!r} must be whole numbers")
        num_topics = len(self.terms.rates)
        prices = np.zeros((2, num_topics), np.int64)
        last = -1
        for block in range(num_blocks(num_topics)):
            table = plan.certificate_block("prices", PRICES_TOPICS, block, PRICES_SCHEMA)
            topics = table["topic"].to_numpy()
            if len(topics) and not (last < topics[0] and topics[-1] < num_topics and (np.diff(topics) > 0).all()):
                raise ValueError("prices are of topics that do not exist, or are not in order")
            last = int(topics[-1]) if len(topics) else last
            prices[0, topics], prices[1, topics] = (
                table["price_if_charged"].to_numpy(),
                table["price_otherwise"].to_numpy(),
            )
        if prices.min(initial=0) < 0:
            raise ValueError("a price is negative")
        incoming, outgoing = weights
        most = incoming * exact_sum(prices.max(axis=0)) + outgoing * unit * exact_sum(self.traffic)
        if most >= NO_COST:
            raise ValueError("weights, unit and prices do not fit 64 bits")
        return replace(self, weights=weights, unit=unit, charged_prices=prices[0], other_prices=prices[1])

    @property
    def traffic(self) -> Int64Array:
        """What sending a topic once takes."""
        return self.terms.streams if self.terms.size is None else self.terms.rates

    def start(self, num_topics: int) -> BoundState:
        needs_mandatory = bool(self.names & {"mandatory", "prices"})
        size = num_topics if needs_mandatory else 0
        return BoundState(BoundSums(), np.zeros(size, np.int64), np.zeros(size, np.int64))

    def add_block(self, state: BoundState, rows: BlockRows, sent: Int64Array, plan: Plan, block: int) -> None:
        """Add up one block. ``sent`` are the entries of the rows that the plan sends: where these are just enough, at
        the least cost per event, no cover is cheaper.
        """
        if not self.names:
            return
        state.sums.num_wanting += int(np.count_nonzero(rows.needed))
        events = np.where(self.too_big[rows.topics], 0, rows.rates) if self.too_big.any() else rows.rates
        owners = np.repeat(np.arange(len(rows.lengths)), rows.lengths)
        if "paper" in self.names:
            simple = np.maximum(rows.needed, _smallest_positive(events, rows))
            state.sums.simple_need += exact_sum(simple[rows.needed > 0])
        if not self.names - {"paper"}:
            return
        reachable = sums_by_row(events, rows.offsets)
        traffic, is_uniform = self.traffic[rows.topics], self.terms.size is not None
        known = known_costs(rows.needed, owners[sent], traffic[sent], int(is_uniform))
        state.sums.outgoing += exact_sum(least_costs(rows.needed, reachable, owners, events, traffic, known))
        if len(state.mandatory):
            must = reachable[owners] - events < rows.needed[owners]
            np.add.at(state.mandatory, rows.topics[must], 1)
        if "prices" in self.names:
            prices = self._prices(state, rows, owners, plan, block)
            if prices is not None:
                incoming, outgoing = self.weights
                costs = outgoing * self.unit * traffic + incoming * prices
                known = known_costs(rows.needed, owners[sent], costs[sent], outgoing * self.unit * is_uniform)
                state.sums.priced += exact_sum(least_costs(rows.needed, reachable, owners, events, costs, known))

    def _prices(
        self, state: BoundState, rows: BlockRows, owners: Int64Array, plan: Plan, block: int
    ) -> Int64Array | None:
        """The price of every interest of a block; None, and a count, if others than interests are charged."""
        offsets, topics = list_column(plan.certificate_block("prices", CHARGED, block, CHARGED_SCHEMA), "topics")
        num_topics = len(self.terms.rates)
        is_sound = len(offsets) == len(rows.needed) + 1 and not ((topics < 0) | (topics >= num_topics)).any()
        if is_sound:
            wanted = owners * num_topics + rows.topics
            keys = np.repeat(np.arange(len(rows.needed)), np.diff(offsets)) * num_topics + topics
            entries = np.searchsorted(wanted, keys)
            is_real = wanted[np.minimum(entries, len(wanted) - 1)] == keys if len(wanted) else np.zeros(len(keys), bool)
            is_sound = bool(is_real.all() and (np.diff(keys) > 0).all())
        if not is_sound:
            state.sums.num_foreign += 1
            return None
        np.add.at(state.charged, topics, 1)
        prices = self.other_prices[rows.topics]
        prices[entries] = self.charged_prices[topics]
        return prices

    def keep(self, state: BoundState, store: Store, group: int) -> None:
        """Leave the counts by topic of a group in the store."""
        store.put(group, mandatory=state.mandatory, charged=state.charged)

    def finish(
        self, plan: Plan, subscribers: Int64Array, sums: list[BoundSums], store: Store
    ) -> tuple[list[Violation], dict[str, int]]:
        """What is wrong with the bounds, and what they prove for each VM type that carries anything, in micro-dollars.

        Args:
            subscribers: how many each topic has.
        """
        violations = list(self.damage)
        totals = BoundSums()
        for group_sums in sums:
            totals.add(group_sums)
        mandatory = np.zeros(len(self.terms.rates), dtype=np.int64)
        charged = np.zeros(len(self.terms.rates), dtype=np.int64)
        for group in range(len(sums)):
            group_mandatory = store.get(group, "mandatory")
            if len(group_mandatory):
                mandatory += group_mandatory
                charged += store.get(group, "charged")
        if totals.num_foreign:
            where = f"certificate/prices-{CHARGED}"
            fault = "blocks that charge for other topics than interests"
            violations.append(Violation(fault, where, totals.num_foreign))
        if "prices" in self.names:
            violations += self._overcharged(subscribers, mandatory, charged)
        proven: dict[str, int] = {}
        for name in sorted(self.names):
            by_type = self._proven(name, totals, mandatory)
            claimed, least = plan.certificate(name).bound, min(by_type.values())
            if claimed.fraction > Fraction(least, MICROS_PER_DOLLAR):
                recomputed = least / MICROS_PER_DOLLAR
                violations.append(Violation("wrong bound", name, stated=float(claimed), expected=recomputed))
            proven = {type_name: max(cost, proven.get(type_name, 0)) for type_name, cost in by_type.items()}
        return violations, proven

    def _proven(self, name: str, totals: BoundSums, mandatory: Int64Array) -> dict[str, int]:
        """What a bound proves for each VM type, in micro-dollars."""
        terms, size = self.terms, self.terms.size or 1
        proven = {}
        for vm_type, limit in zip(terms.types, terms.limits, strict=True):
            if limit == 0:
                continue
            incoming, outgoing, num_vms = 0, totals.outgoing * size, min(1, totals.num_wanting)
            weighted, weights = 0, (1, 1)
            if name == "paper":  # it counts events, which tell of bytes only where messages have one size
                outgoing, num_vms = totals.simple_need * (terms.size or 0), 0
            if name in ("mandatory", "prices"):
                incoming, most_vms = _streams(terms, limit, mandatory)
                num_vms = max(num_vms, most_vms)
            if name == "prices":
                weighted, weights = -(-totals.priced * size // self.unit) + self.weights[0] * incoming, self.weights
            proven[vm_type.name] = terms.least_cost(vm_type, limit, incoming, outgoing, num_vms, weighted, weights)
        return proven

    def _overcharged(self, subscribers: Int64Array, mandatory: Int64Array, charged: Int64Array) -> list[Violation]:
        """Subscribers of a topic are charged its stream at most, and nothing if it flows anyway."""
        others = subscribers - charged
        most = np.where(mandatory > 0, 0, self.unit * self.traffic)
        asked = self.charged_prices * charged + self.other_prices * others
        about = self.charged_prices.astype(np.float64) * charged + self.other_prices.astype(np.float64) * others
        wrong = int(np.count_nonzero((asked > most) | (about > 2**62)))  # beyond that the exact product wraps
        where = f"certificate/prices-{PRICES_TOPICS}"
        return [Violation("topics priced above their stream", where, wrong)] if wrong else []


def _smallest_positive(events: Int64Array, rows: BlockRows) -> Int64Array:
    """The least positive events of each row, 0 where there are none."""
    smallest = np.full(len(rows.lengths), NO_COST)
    filled = np.flatnonzero(rows.lengths)
    if len(filled):  # rows without topics are left out: what reduceat gives for them is another row's
        smallest[filled] = np.minimum.reduceat(np.where(events > 0, events, NO_COST), rows.offsets[filled])
    return np.where(smallest < NO_COST, smallest, 0)


def _streams(terms: Terms, limit: int, mandatory: Int64Array) -> tuple[int, int]:
    """Incoming bytes of topics that flow anyway, once for each VM that their mandatory pairs fill; and those VMs."""
    topics = np.flatnonzero((mandatory > 0) & (terms.streams > 0))
    streams = terms.streams[topics]
    num_vms = -(-mandatory[topics] // np.maximum(1, limit // streams - 1))
    return exact_sum(num_vms * streams), int(num_vms.max(initial=0))
