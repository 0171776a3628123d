"""Recomputes what bounds claim, with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pubplan.engine import Store, exact_sum, num_blocks, read_block
from pubplan.errors import InputError, Reason
from pubplan.planning import Plan, sums_by_row
from pubplan.problems.provision.problem import Floor, Problem
from pubplan.workload import Int64Array, topic_lists

_EXACT_CELLS = 2**24  # what bounds call exact; a bound that claims more fails
_CELLS_AT_ONCE = 2**21
_NO_COST = 2**62

_SIMPLE, _OUTGOING, _PRICED, _FOREIGN, _WANTING = range(5)


@dataclass(frozen=True)
class BlockRows:
    """The subscribers of one block: their topics as CSR with the rate of each, and tau_v."""

    offsets: Int64Array
    lengths: Int64Array
    topics: npt.NDArray[np.int32]
    rates: Int64Array
    needed: Int64Array


@dataclass
class BoundState:
    """Sums over some blocks: the simple need, the least outgoing traffic, the least with prices, charges that are no
    interests, who needs anything; by topic, who cannot do without it and who is charged.
    """

    sums: list[int]
    mandatory: Int64Array
    charged: Int64Array


@dataclass(frozen=True)
class BoundChecks:
    """Checks the bounds of a plan along with its blocks.

    ``too_big`` says which topics fit no VM, ``streams`` are bytes; traffic is in events if messages are of one size.
    """

    names: frozenset[str]
    too_big: npt.NDArray[np.bool_]
    streams: Int64Array
    is_uniform: bool
    weights: tuple[int, int] = (1, 1)
    unit: int = 1
    charged_prices: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    other_prices: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    damage: tuple[Reason, ...] = ()

    @classmethod
    def of(cls, problem: Problem, plan: Plan) -> BoundChecks:
        names = frozenset(plan.record["bounds"])
        limit = max(map(problem.limit, problem.types))
        too_big = 2 * problem.streams > limit
        plain = cls(names, too_big, problem.streams, problem.size is not None)
        if "prices" not in names:
            return plain
        try:
            weights, unit, prices = _evidence(problem, plan)
        except (InputError, KeyError, TypeError, ValueError) as error:
            reason = Reason("evidence of the bound", "weights, unit, prices", str(error), "certificate/prices.json")
            return replace(plain, names=names - {"prices"}, damage=(reason,))
        return replace(plain, weights=weights, unit=unit, charged_prices=prices[0], other_prices=prices[1])

    def start(self, num_topics: int) -> BoundState:
        needs_mandatory = bool(self.names & {"mandatory", "prices"})
        size = num_topics if needs_mandatory else 0
        return BoundState([0] * 5, np.zeros(size, np.int64), np.zeros(size, np.int64))

    def look(self, state: BoundState, rows: BlockRows, sent: Int64Array, plan: Plan, block: int) -> None:
        """Add up one block. ``sent`` are the entries of the rows that the plan sends: where these are just enough, at
        the least cost per event, no cover is cheaper.
        """
        if not self.names:
            return
        state.sums[_WANTING] += int(np.count_nonzero(rows.needed))
        events = np.where(self.too_big[rows.topics], 0, rows.rates) if self.too_big.any() else rows.rates
        owners = np.repeat(np.arange(len(rows.lengths)), rows.lengths)
        if "paper" in self.names:
            wanting = np.flatnonzero(rows.needed > 0)
            positive = np.where(events > 0, events, _NO_COST)
            smallest = np.minimum.reduceat(positive, rows.offsets[wanting]) if len(wanting) else wanting
            smallest = np.where(smallest < _NO_COST, smallest, 0)
            state.sums[_SIMPLE] += exact_sum(np.maximum(rows.needed[wanting], smallest))
        if not self.names - {"paper"}:
            return
        reachable = sums_by_row(events, rows.offsets)
        traffic = rows.rates if self.is_uniform else self.streams[rows.topics]
        known = _known(rows.needed, owners[sent], traffic[sent], int(self.is_uniform))
        state.sums[_OUTGOING] += exact_sum(_least_costs(rows.needed, reachable, owners, events, traffic, known))
        if len(state.mandatory):
            must = reachable[owners] - events < rows.needed[owners]
            np.add.at(state.mandatory, rows.topics[must], 1)
        if "prices" in self.names:
            self._look_at_prices(state, rows, sent, owners, events, traffic, reachable, plan, block)

    def _look_at_prices(
        self,
        state: BoundState,
        rows: BlockRows,
        sent: Int64Array,
        owners: Int64Array,
        events: Int64Array,
        traffic: Int64Array,
        reachable: Int64Array,
        plan: Plan,
        block: int,
    ) -> None:
        offsets, topics = topic_lists(plan.certificate_block("prices", "charged", block))
        if len(offsets) != len(rows.needed) + 1:
            state.sums[_FOREIGN] += 1
            return
        num_topics = len(self.streams)
        wanted = owners * num_topics + rows.topics
        keys = np.repeat(np.arange(len(rows.needed)), np.diff(offsets)) * num_topics + topics
        places = np.searchsorted(wanted, keys)
        is_real = wanted[np.minimum(places, len(wanted) - 1)] == keys if len(wanted) else np.zeros(len(keys), bool)
        if not is_real.all() or (np.diff(keys) <= 0).any():
            state.sums[_FOREIGN] += 1
            return
        np.add.at(state.charged, topics, 1)
        prices = self.other_prices[rows.topics]
        prices[places] = self.charged_prices[topics]
        incoming, outgoing = self.weights
        costs = outgoing * self.unit * traffic + incoming * prices
        known = _known(rows.needed, owners[sent], costs[sent], outgoing * self.unit * self.is_uniform)
        state.sums[_PRICED] += exact_sum(_least_costs(rows.needed, reachable, owners, events, costs, known))

    def keep(self, state: BoundState, store: Store, group: int) -> None:
        store.put(group, mandatory=state.mandatory, charged=state.charged)

    def conclude(self, problem: Problem, plan: Plan, sums: list[list[int]], store: Store) -> list[Reason]:
        """What is wrong with the bounds."""
        found = list(self.damage)
        totals = [sum(values) for values in zip(*sums, strict=True)] if sums else [0] * 5
        mandatory = np.zeros(len(self.streams), dtype=np.int64)
        charged = np.zeros(len(self.streams), dtype=np.int64)
        for group in range(len(sums)):
            part = store.get(group, "mandatory")
            if len(part):
                mandatory += part
                charged += store.get(group, "charged")
        if totals[_FOREIGN]:
            found.append(Reason("only interests are charged", 0, totals[_FOREIGN], "certificate/prices-charged"))
        if "prices" in self.names:
            found += self._overcharged(problem, mandatory, charged)
        size = problem.size or 1
        outgoing = totals[_OUTGOING] * size
        carrying = [vm_type for vm_type in problem.types if problem.limit(vm_type) > 0]
        for name in sorted(self.names):
            proven = []
            for vm_type in carrying:
                floor = Floor(outgoing=totals[_SIMPLE] * size)
                if name != "paper":
                    floor = Floor(outgoing=outgoing, num_vms=min(1, totals[_WANTING]))
                if name in ("mandatory", "prices"):
                    incoming, num_vms = _streams(problem, problem.limit(vm_type), mandatory)
                    floor = Floor(incoming, outgoing, num_vms=max(num_vms, floor.num_vms))
                if name == "prices":
                    weighted = -(-totals[_PRICED] * size // self.unit) + self.weights[0] * floor.incoming
                    floor = Floor(floor.incoming, outgoing, weighted, self.weights, floor.num_vms)
                proven.append(problem.least_cost(vm_type, floor))
            claimed = plan.certificate(name).bound
            if claimed.fraction > Fraction(min(proven), problem.scale):
                found.append(Reason("bound as recomputed", min(proven) / problem.scale, float(claimed), name))
        return found

    def _overcharged(self, problem: Problem, mandatory: Int64Array, charged: Int64Array) -> list[Reason]:
        """Subscribers of a topic are charged its stream at most, and nothing if it flows anyway."""
        others = problem.workload.topic_array("subscribers") - charged
        most = np.where(mandatory > 0, 0, self.unit * (problem.rates if self.is_uniform else self.streams))
        asked = self.charged_prices * charged + self.other_prices * others
        about = self.charged_prices.astype(np.float64) * charged + self.other_prices.astype(np.float64) * others
        wrong = int(np.count_nonzero((asked > most) | (about > 2**62)))  # beyond that the exact product wraps
        return [Reason("prices within streams", 0, wrong, "certificate/prices-topics")] if wrong else []


def _evidence(problem: Problem, plan: Plan) -> tuple[tuple[int, int], int, tuple[Int64Array, Int64Array]]:
    evidence = plan.certificate("prices").evidence
    weights, unit = tuple(evidence["weights"]), evidence["unit"]
    if len(weights) != 2 or not all(isinstance(value, int) and 1 <= value < 2**20 for value in (*weights, unit)):
        raise ValueError(f"weights {weights} and unit {unit!r} must be whole numbers")
    num_topics = problem.workload.counts.topics
    prices = np.zeros(num_topics, np.int64), np.zeros(num_topics, np.int64)
    for block in range(num_blocks(num_topics)):
        table = read_block(plan.path / "certificate" / "prices-topics", block, ["topic", "charged", "everybody"])
        topics = table["topic"].to_numpy()
        if len(topics) and (topics.min() < 0 or topics.max() >= num_topics):
            raise ValueError("a price is of a topic that does not exist")
        for column, values in zip(("charged", "everybody"), prices, strict=True):
            values[topics] = table[column].to_numpy()
    if min(int(values.min(initial=0)) for values in prices) < 0:
        raise ValueError("a price is negative")
    return (int(weights[0]), int(weights[1])), int(unit), prices


def _streams(problem: Problem, limit: int, mandatory: Int64Array) -> tuple[int, int]:
    """Incoming bytes of topics that flow anyway, once for each VM that their mandatory pairs fill; and those VMs."""
    topics = np.flatnonzero((mandatory > 0) & (problem.streams > 0))
    streams = problem.streams[topics]
    num_vms = -(-mandatory[topics] // np.maximum(1, limit // streams - 1))
    return exact_sum(num_vms * streams), int(num_vms.max(initial=0))


def _known(needed: Int64Array, owners: Int64Array, costs: Int64Array, cost_per_event: int) -> Int64Array:
    """The least cost of what each subscriber needs where a cover has it, the least there can be; -1 for the others."""
    cost = np.zeros(len(needed), dtype=np.int64)
    np.add.at(cost, owners, costs)
    is_least = (cost == needed * cost_per_event) if cost_per_event else needed == 0
    return np.where(is_least, cost, -1)


def _least_costs(
    needed: Int64Array,
    reachable: Int64Array,
    owners: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    known: Int64Array,
) -> Int64Array:
    """The least cost of topics that bring each subscriber what it needs; ``known`` where it is not negative.

    1. Topics that a subscriber cannot do without are taken.
    2. Of the topics that do alone only the cheapest can be of use; of others with the same events, the cheapest that
       together do.
    3. least[s], the least cost of s events or more, over one topic after the other:
       min(least[s], least[s - events] + cost).
    """
    least = np.maximum(known, 0)
    is_open = (known < 0) & (needed > 0)
    entries = np.flatnonzero(is_open[owners])
    owners, events, costs = owners[entries], events[entries], costs[entries]
    slack = reachable - needed
    forced = events > np.maximum(slack, 0)[owners]  # 1
    np.add.at(least, owners[forced], costs[forced])
    rest = needed.copy()
    np.subtract.at(rest, owners[forced], events[forced])
    is_open &= (rest > 0) & (slack > 0)
    items = np.flatnonzero(is_open[owners] & ~forced & (events > 0))
    alone = events[items] >= rest[owners[items]]  # 2
    single = np.full(len(needed), _NO_COST)
    np.minimum.at(single, owners[items[alone]], costs[items[alone]])
    items = items[~alone]
    items = items[np.lexsort((costs[items], events[items], owners[items]))]
    keys = owners[items] * (int(rest.max(initial=0)) + 1) + events[items]
    before = np.arange(len(items)) - np.searchsorted(keys, keys)
    items = items[before * events[items] < rest[owners[items]]]
    counts = np.bincount(owners[items], minlength=len(needed))
    only_alone = is_open & (counts == 0)
    least[only_alone] += single[only_alone]
    numbers = np.flatnonzero(is_open & (counts > 0))
    counts = counts[numbers]
    starts = np.cumsum(counts) - counts
    events, costs, rest, single = events[items], costs[items], rest[numbers], single[numbers]
    is_plain = np.array_equal(events, costs)
    cells_of = _least_sums_of_some if is_plain else _least_of_some
    order = np.lexsort((counts, rest))
    place = 0
    while place < len(order):  # 3
        row, end = order[place], place + 1
        if counts[row] * rest[row] > _EXACT_CELLS:
            part = slice(starts[row], starts[row] + counts[row])
            least[numbers[row]] += _least_of_many(int(rest[row]), events[part], costs[part], int(single[row]))
            place = end
            continue
        while (
            end < len(order)
            and rest[order[end]] * (end - place + 1) <= _CELLS_AT_ONCE
            and counts[order[end]] * rest[order[end]] <= _EXACT_CELLS
        ):
            end += 1
        chunk = order[place:end]
        least[numbers[chunk]] += cells_of(rest[chunk], starts[chunk], counts[chunk], events, costs, single[chunk])
        place = end
    return least


def _least_sums_of_some(
    needs: Int64Array,
    starts: Int64Array,
    counts: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    single: Int64Array,
) -> Int64Array:
    """As ``_least_of_some`` where costs are events: bit s of a subscriber's words says that s events can be reached.

    No topic does alone, so a sum that just crosses the need is below twice as much.
    """
    order = np.argsort(-counts, kind="stable")
    needs, starts, counts, single = needs[order], starts[order], counts[order], single[order]
    width = (2 * int(needs.max()) + 63) // 64
    words = np.zeros((len(needs), 2 * width), dtype=np.uint64)  # the first half stays 0, for shifts to draw on
    words[:, width] = 1
    places = np.arange(width, 2 * width)
    for number in range(int(counts[0])):
        active = int(np.searchsorted(-counts, -number, side="left"))
        brings = events[starts[:active] + number]
        from_word = places - (brings >> 6)[:, None]
        bits = (brings & 63).astype(np.uint64)[:, None]
        moved = np.take_along_axis(words[:active], from_word, axis=1) << bits
        moved |= np.take_along_axis(words[:active], from_word - 1, axis=1) >> np.uint64(1) >> (np.uint64(63) - bits)
        words[:active, width:] |= moved
    reached = words[:, width:]
    word, bit = np.divmod(needs, 64)
    columns = np.arange(width)
    reached = np.where(columns < word[:, None], np.uint64(0), reached)
    rows = np.arange(len(needs))
    reached[rows, word] &= ~np.uint64(0) << bit.astype(np.uint64)
    first = np.argmax(reached != 0, axis=1)
    lowest = reached[rows, first]
    lowest &= ~lowest + np.uint64(1)
    sums = 64 * first + np.log2(lowest.astype(np.float64), where=lowest > 0, out=np.zeros(len(rows))).astype(np.int64)
    found = np.empty(len(needs), dtype=np.int64)
    found[order] = np.minimum(single, np.where(lowest > 0, sums, _NO_COST))
    return found


def _least_of_some(
    needs: Int64Array,
    starts: Int64Array,
    counts: Int64Array,
    events: Int64Array,
    costs: Int64Array,
    single: Int64Array,
) -> Int64Array:
    """The recurrence, for several subscribers at once: those with the most topics first, so that others drop out."""
    order = np.argsort(-counts, kind="stable")
    needs, starts, counts, single = needs[order], starts[order], counts[order], single[order]
    width = int(needs.max())
    least = np.full((len(needs), width + 1), _NO_COST)
    least[:, 0] = 0
    sums = np.arange(width + 1)
    for number in range(int(counts[0]) if len(counts) else 0):
        active = int(np.searchsorted(-counts, -number, side="left"))
        items = starts[:active] + number
        before = np.maximum(0, sums - events[items][:, None])
        through = np.take_along_axis(least[:active], before, axis=1)
        through += costs[items][:, None]
        np.minimum(least[:active], through, out=least[:active])
    found = np.empty(len(needs), dtype=np.int64)
    found[order] = np.minimum(single, least[np.arange(len(needs)), needs])
    return found


def _least_of_many(need: int, events: Int64Array, costs: Int64Array, single: int) -> int:
    """For a subscriber with too many topics: what the fractional cover costs."""
    items = sorted(
        [(Fraction(int(cost), int(brings)), int(brings)) for cost, brings in zip(costs, events, strict=True)]
        + ([(Fraction(single, need), need)] if single < _NO_COST else [])
    )
    cost, rest = Fraction(0), need
    for ratio, brings in items:
        taken = min(rest, brings)
        cost += ratio * taken
        rest -= taken
    return int(cost)
