"""What Python shows of a family's functions, results and plans."""

from __future__ import annotations

import inspect

import pytest

import pubplan
from pubplan.planning import read_plan
from pubplan.problems import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_have_signatures_and_help(family: str) -> None:
    """help(pubplan.select.solve) shows its own arguments and what it raises, not those of a wrapper."""
    functions = getattr(pubplan, family)
    signature = inspect.signature(functions.solve)
    assert list(signature.parameters)[:3] == ["problem", "method", "parameters"]
    assert signature.parameters["seed"].default == 0
    assert (functions.solve.__name__, functions.solve.__module__) == ("solve", f"pubplan.problems.{family}")
    assert "Raises:" in inspect.getdoc(functions.solve)
    assert list(inspect.signature(functions.verify).parameters) == ["problem", "plan", "spark"]
    assert inspect.isfunction(functions.verify)


def test_results_and_plans_are_short(make_workload, tmp_path) -> None:
    """A notebook shows what was reached, the bound and the gap in a line or a small table, with names escaped."""
    workload = make_workload({"a<b>": 2, "b": 3}, {"x": ["a<b>", "b"], "y": ["b"]})
    problem = pubplan.select.Problem(workload, 6, 3)
    result = pubplan.select.solve(problem, out=tmp_path / "plan")
    assert repr(result) == "Result(select by greedy-fb3m, 2 subscribers, bound 2, gap 0.00 %)"
    assert repr(read_plan(tmp_path / "plan")) == (
        f"Plan('{tmp_path / 'plan'}': select by greedy-fb3m, 2 subscribers, bound 2, gap 0.00 %, verified)"
    )
    unbounded = pubplan.select.solve(problem, bound="none", verify=False)
    assert repr(unbounded) == "Result(select by greedy-fb3m, 2 subscribers)"
    assert "not verified" in repr(unbounded.plan)
    page = unbounded._repr_html_()
    assert "<tr><th>subscribers</th><td>2</td></tr>" in page
    assert "<td>unknown</td>" in page
