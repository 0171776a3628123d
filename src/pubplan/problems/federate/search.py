"""Local search over attachments: single moves, brokers that are closed, kicks, and several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pubplan.engine import is_time_over, random_stream
from pubplan.problems.federate.kernels.attaching import State, empty_state, empty_work, reweigh_all, total_cost
from pubplan.problems.federate.kernels.moving import (
    copy_state,
    detach_clients,
    insert_clients,
    move_clients,
    swap_clients,
)
from pubplan.problems.federate.kernels.trees import Trees
from pubplan.problems.federate.routing import Network
from pubplan.workload import Int32Array, Int64Array

_Moves = Callable[..., int]

CLIENTS_AT_ONCE = 2_048
"""How many clients are looked at before the time is."""

MAX_KICKED_SHARE = 4
"""A kick moves at most one of this many clients."""


@dataclass(frozen=True)
class Found:
    """An attachment, what it costs, for acyclic routing its tree, and whether the clock ended the search for it."""

    brokers: Int32Array
    cost: int
    tree: Int32Array | None = None
    is_stopped: bool = False


@dataclass
class Search:
    """Improves attachments; a step looks at one client, or weighs the trees of a channel anew.

    Attributes:
        max_steps: at most, over all attachments.
        steps: how many were.
        is_stopped: whether the clock ended it.
    """

    network: Network
    seed: int
    max_steps: int
    steps: int = 0
    is_stopped: bool = False
    _spare: State | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        demand = self.network.field.demand
        self._largest_first: Int64Array = np.lexsort((np.arange(len(demand)), -demand)).astype(np.int64)
        self._work = empty_work(self.network.num_brokers)
        self._generator = random_stream(self.seed, "federate/local-moves")

    @property
    def is_over(self) -> bool:
        if not self.is_stopped and is_time_over():
            self.is_stopped = True
        return self.is_stopped or self.steps >= self.max_steps

    def improve(self, start: Int32Array, kicks: int = 0) -> Found:
        """The best attachment that moves, closings and kicks lead to from a start; never worse than it."""
        if self.network.problem.routing != "acyclic":
            return self._improve_with(self.network.trees, start, kicks)
        tree = self.network.best_tree(self.network.matrices_of(start))
        best = self._improve_with(self.network.fixed(tree), start, kicks)
        while not self.is_over:
            # Another tree may suit the new attachment better, and other moves the new tree.
            tree = self.network.best_tree(self.network.matrices_of(best.brokers))
            following = self._improve_with(self.network.fixed(tree), best.brokers, 0)
            if following.cost >= best.cost:
                break
            best = following
        return best

    def _improve_with(self, trees: Trees, start: Int32Array, kicks: int) -> Found:
        state = self.network.state_of(start)
        reweigh_all(self.network.field, state, trees, self._work)
        self._descend(state, trees)
        for _ in range(kicks):
            if self.is_over:
                break
            self._kick(state, trees)
        tree = trees.parents if len(trees.parents) else None
        return Found(state.brokers.copy(), int(total_cost(state)), tree)

    def _descend(self, state: State, trees: Trees) -> None:
        """Moves until none helps, then moves to full brokers that others leave, then closings, as long as any helps."""
        while not self.is_over:
            self._move(state, trees, self._largest_first)
            if self._sweep(swap_clients, state, trees, self._largest_first):
                continue
            if not self._close_brokers(state, trees):
                return

    def _move(self, state: State, trees: Trees, clients: Int64Array) -> None:
        while not self.is_over and self._sweep(move_clients, state, trees, clients):
            pass

    def _sweep(self, kernel: _Moves, state: State, trees: Trees, clients: Int64Array) -> int:
        """Look at clients once; how many moved."""
        num_moved = 0
        for first in range(0, len(clients), CLIENTS_AT_ONCE):
            some = clients[first : first + min(CLIENTS_AT_ONCE, max(0, self.max_steps - self.steps))]
            num_moved += kernel(self.network.field, state, trees, some, self._work)
            self._count(len(some))
            if self.is_over:
                break
        return num_moved

    def _count(self, num_clients: int) -> None:
        """Count steps: clients that were looked at, and trees that were weighed since the last count."""
        self.steps += num_clients + int(self._work.num_weighed[0])
        self._work.num_weighed[0] = 0

    def _close_brokers(self, state: State, trees: Trees) -> bool:
        """Empty brokers one after the other, those with the least load first, where that pays; whether any did."""
        has_gained = False
        for broker in np.argsort(state.loads, kind="stable").tolist():
            if self.is_over:
                break
            clients = self._largest_first[state.brokers[self._largest_first] == broker]
            if len(clients) and len(clients) < len(self._largest_first):
                has_gained |= self._try(state, trees, clients, broker)
        return has_gained

    def _try(self, state: State, trees: Trees, clients: Int64Array, closed: int) -> bool:
        """Detach clients and attach them anew, then move them; taken back unless it makes the cost less."""
        before, saved = total_cost(state), self._saved(state)
        arguments = (self.network.field, state, trees)
        detach_clients(*arguments, clients, self._work)
        self._count(len(clients))
        if insert_clients(*arguments, clients, closed, -1, self._work):
            self._move(state, trees, clients)
            if total_cost(state) < before:
                return True
        copy_state(saved, state)
        return False

    def _kick(self, state: State, trees: Trees) -> None:
        """Change something at random, descend, and take it back if that is not better."""
        before, generator = total_cost(state), self._generator
        best = _copied(state)
        num_clients = len(state.brokers)
        number = int(generator.integers(1, max(2, num_clients // MAX_KICKED_SHARE + 1)))
        closed = opened = -1
        if generator.random() < 0.5:
            # Whoever is nearest to some broker goes there, whatever it costs at first.
            opened = int(generator.integers(self.network.num_brokers))
            prices = self.network.field.group_prices[self.network.field.group, opened]
            clients = np.argsort(prices, kind="stable")[:number].astype(np.int64)
        else:
            closed = int(generator.integers(-1, self.network.num_brokers))
            clients = generator.choice(num_clients, number, replace=False).astype(np.int64)
        arguments = (self.network.field, state, trees)
        detach_clients(*arguments, clients, self._work)
        self._count(len(clients))
        if insert_clients(*arguments, generator.permutation(clients), closed, opened, self._work):
            self._descend(state, trees)
            if total_cost(state) < before:
                return
        copy_state(best, state)

    def _saved(self, state: State) -> State:
        """A copy of a state, in memory that is used again."""
        if self._spare is None:
            self._spare = empty_state(len(state.brokers), len(state.loads), len(state.costs))
        copy_state(state, self._spare)
        return self._spare


def _copied(state: State) -> State:
    copied = empty_state(len(state.brokers), len(state.loads), len(state.costs))
    copy_state(state, copied)
    return copied
