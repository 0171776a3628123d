"""The exact method: the best of all attachments, and a proof that verify repeats."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.federate import Case, best_cost, cases
from oracles.forge import forge

from pubplan.errors import NotApplicable
from pubplan.generate import content_exchange, generate
from pubplan.planning import Exact
from pubplan.problems.federate.family import solve, verify
from pubplan.problems.federate.problem import DOLLAR_SCALE, Problem


@given(
    cases(max_clients=4, max_brokers=4),
    st.sampled_from(["spanning", "steiner", "acyclic"]),
    st.sampled_from(["shared", "replicating"]),
)
def test_exact_is_the_best_and_a_higher_bound_is_refused(case: Case, routing: str, cost: str) -> None:
    """Its cost is that of the best of all attachments; a bound that is one higher is found out."""
    case = replace(case, routing=routing, cost=cost)
    best = best_cost(case)
    if best is None:
        return
    with tempfile.TemporaryDirectory() as directory:
        problem = case.problem(Path(directory) / "workload")
        plan = solve(problem, "exact", bound="none").plan
        assert plan.exact == Exact(best, DOLLAR_SCALE)
        assert plan.certificate("search").bound == plan.exact
        assert verify(problem, plan).ok
        other = solve(problem, "random", bound="search").plan
        assert other.certificate("search").bound == plan.exact
        if other.exact.value == best:
            return
        higher = {"value": best + 1, "scale": DOLLAR_SCALE}
        forged = forge(
            other,
            Path(directory) / "forged",
            certificates={"search": lambda content: {**content, "bound": higher}},
            record={"bounds": {"search": Exact(**higher).rounded_down()}, "bound": Exact(**higher).rounded_down()},
        )
        faults = {violation.fault for violation in verify(problem, forged).violations}
        assert "bound above the cheapest attachment" in faults


def test_large_problems_are_refused(tmp_path: Path) -> None:
    """Comparing everything is for a few dozen clients; a search that does not end says so."""
    large = Problem(generate(content_exchange(41, 3), tmp_path / "large"), channels=3)
    with pytest.raises(NotApplicable, match="up to 40 clients and 10 brokers; here are 41 and 3"):
        solve(large, "exact")
    wide = Problem(generate(content_exchange(10, 7), tmp_path / "wide"), channels=3, routing="acyclic")
    with pytest.raises(NotApplicable, match="6 brokers"):
        solve(wide, "exact")
    with pytest.raises(NotApplicable, match="without coming to an end"):
        solve(replace(wide, routing="spanning"), "exact", parameters={"search_nodes": 5})
