"""The most even assignment: the least load factor that any assignment of clients to leaves reaches, by flows.

Clients flow from their group to the leaves that may serve it. A factor f lets leaf i take floor(f x share_i x all
clients / all shares). Where not all clients get through, the cut that stops them says how large the factor must be at
least. So factors rise from below, each needed by some cut, until everything gets through: the last is the least.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pubplan.errors import InputError
from pubplan.workload.content.groups import Candidates
from pubplan.workload.tables import Int32Array, Int64Array


@dataclass(frozen=True)
class Balance:
    """An assignment with the least load factor.

    Attributes:
        factor: the least load factor; loads are at most ``capacities_at(factor)``.
        flows: beside the candidates, what the clients of the group weigh that go to that leaf.
    """

    factor: Fraction
    flows: Int64Array


def capacities_at(factor: Fraction, shares: Int64Array, total_weight: int) -> Int64Array:
    """What every broker may serve at a load factor: floor(factor x share x all clients / all shares)."""
    whole = sum(shares.tolist())
    numerator, denominator = factor.numerator * total_weight, factor.denominator * whole
    # A broker takes no more than all clients, however large the factor.
    return np.array([min(total_weight, numerator * share // denominator) for share in shares.tolist()], dtype=np.int64)


def load_factor(loads: Int64Array, shares: Int64Array) -> Fraction:
    """The largest load in multiples of a broker's share of all clients; 0 where nobody is served."""
    total, whole = sum(loads.tolist()), sum(shares.tolist())
    factors = [
        Fraction(load * whole, share * total)
        for load, share in zip(loads.tolist(), shares.tolist(), strict=True)
        if load and share
    ]
    return max(factors, default=Fraction(0))


def balance(candidates: Candidates, weights: Int64Array, shares: Int64Array) -> Balance:
    """The most even assignment of groups to their candidates, in which groups may be divided.

    Args:
        weights: what the clients of each group weigh together.
        shares: of every broker; candidates have one above 0.

    Raises:
        InputError: a group with clients has no candidate.
    """
    counts = np.diff(candidates.offsets)
    if ((counts == 0) & (weights > 0)).any():
        raise InputError("Some clients have no leaf that may serve them.")
    total = sum(weights.tolist())
    if not total:
        return Balance(Fraction(0), np.zeros(len(candidates.brokers), dtype=np.int64))
    network, factor = _Network.of(candidates, weights, shares), Fraction(1)
    while True:
        flows, is_cut = network.saturate(capacities_at(factor, shares, total))
        if is_cut is None:
            return Balance(factor, flows)
        factor = network.needed_factor(is_cut, total, shares)


def least_load_factor(candidates: Candidates, weights: Int64Array, shares: Int64Array) -> Fraction:
    """The least load factor that any assignment reaches: a proof where rows of clients cannot be divided, too.

    Raises:
        InputError: a group with clients has no candidate.
    """
    return balance(candidates, weights, shares).factor


@dataclass(frozen=True)
class _Network:
    """Source, groups, leaves, sink; edges from groups to their candidates."""

    weights: Int64Array
    group_of_edge: Int32Array
    broker_of_edge: Int32Array
    num_brokers: int

    @classmethod
    def of(cls, candidates: Candidates, weights: Int64Array, shares: Int64Array) -> _Network:
        groups = np.repeat(np.arange(len(weights), dtype=np.int32), np.diff(candidates.offsets))
        return cls(weights, groups, candidates.brokers, len(shares))

    def saturate(self, capacities: Int64Array) -> tuple[Int64Array, npt.NDArray[np.bool_] | None]:
        """The largest flow by edge from groups to leaves, and the groups on the source's side of a cut that stops it;
        None where everything gets through.
        """
        from scipy import sparse
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        num_groups, num_brokers = len(self.weights), self.num_brokers
        source, sink = num_groups + num_brokers, num_groups + num_brokers + 1
        groups, brokers = np.arange(num_groups), num_groups + np.arange(num_brokers)
        rows = np.concatenate([np.full(num_groups, source), self.group_of_edge, brokers])
        columns = np.concatenate([groups, num_groups + self.broker_of_edge, np.full(num_brokers, sink)])
        limits = np.concatenate([self.weights, self.weights[self.group_of_edge], capacities])
        graph = sparse.csr_matrix((limits.astype(np.int32), (rows, columns)), shape=(sink + 1, sink + 1))
        result = maximum_flow(graph, source, sink)
        flow = sparse.csr_matrix(result.flow)  # unlike an array it gives single entries as numbers
        flows = np.asarray(flow[self.group_of_edge, num_groups + self.broker_of_edge]).reshape(-1).astype(np.int64)
        if result.flow_value == int(self.weights.sum()):
            return flows, None
        residual = graph - flow
        residual.data[residual.data < 0] = 0
        residual.eliminate_zeros()
        reached = breadth_first_order(residual, source, return_predecessors=False)
        is_cut = np.zeros(num_groups, dtype=np.bool_)
        is_cut[reached[reached < num_groups]] = True
        return flows, is_cut

    def needed_factor(self, is_cut: npt.NDArray[np.bool_], total: int, shares: Int64Array) -> Fraction:
        """The least factor at which the candidates of some groups can take all of them together."""
        needed = int(self.weights[is_cut].sum())
        leaves = np.unique(self.broker_of_edge[is_cut[self.group_of_edge]])
        whole, leaf_shares = sum(shares.tolist()), shares[leaves].tolist()
        factor = Fraction(needed * whole, total * sum(leaf_shares))
        loads = [factor.numerator * share * total // (factor.denominator * whole) for share in leaf_shares]
        lacking = needed - sum(loads)  # at most as many as there are leaves: each is rounded down by less than 1
        steps = sorted(
            Fraction((load + more) * whole, share * total)
            for load, share in zip(loads, leaf_shares, strict=True)
            for more in range(1, lacking + 1)
        )
        return steps[lacking - 1] if lacking else factor
