"""``describe``, ``explain`` and ``diff``: short values that say the same as the commands."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import pytest

import pubplan
from pubplan.errors import InputError, StalePlan, VerificationFailed
from pubplan.planning import Result
from pubplan.problems import FAMILIES, family_named
from pubplan.workload import TopicWorkload

MAX_REPR = 200


@pytest.fixture
def workload(make_workload) -> TopicWorkload:
    """News costs 9 of 21 deliveries and satisfies three of four; chess costs 2 and satisfies dan."""
    interests = {"ann": ["news"], "bob": ["news", "sport"], "cat": ["news", "sport"], "<dan>": ["chess"]}
    return make_workload({"chess": 2, "news": 3, "sport": 5}, interests)


@pytest.fixture
def result(workload: TopicWorkload, tmp_path: Path) -> Result:
    return pubplan.select.solve(pubplan.select.Problem(workload, capacity=9, threshold=3), out=tmp_path / "plan")


def test_describe_says_what_the_command_prints(cli, workload: TopicWorkload) -> None:
    """A workload or its path; print shows the screen of the command, the repr is short, a notebook gets a table."""
    description = pubplan.describe(workload)
    assert pubplan.describe(str(workload.path)) == description
    assert cli("describe", workload.path, "--quiet").out == f"{description}\n"
    assert repr(description) == "TopicDescription(3 topics, 4 subscribers, 6 interests)"
    assert "<td>2.00</td>" in description._repr_html_()


@pytest.mark.parametrize("kind", ["result", "plan", "path", "text"])
def test_plans_are_taken_in_any_form(kind: str, result: Result) -> None:
    """A result, a plan, and the path of a plan directory are the same plan."""
    path = result.plan.path
    given = {"result": result, "plan": result.plan, "path": path, "text": str(path)}[kind]
    assert pubplan.explain(given, topic="chess").facts["served"] is False
    assert pubplan.export(given, "served")["topic_id"].to_pylist() == ["news"]


def test_explain_says_what_the_command_prints(cli, result: Result) -> None:
    """Sentences for print, a short repr, and for notebooks text in which names are inert."""
    explanation = pubplan.explain(result, subscriber="<dan>")
    assert cli("explain", result.plan.path, "--subscriber", "<dan>", "--quiet").out == f"{explanation}\n"
    assert "It misses 2." in explanation.sentences
    assert len(repr(explanation)) < MAX_REPR
    assert "&lt;dan&gt; receives 0 of the 2 events" in explanation._repr_html_()
    assert "<dan>" not in explanation._repr_html_()


def test_whatever_families_explain_is_an_argument() -> None:
    """Every kind of thing that a family explains can be named."""
    kinds = {kind for family in FAMILIES for kind in family_named(family).explain}
    assert kinds <= set(inspect.signature(pubplan.explain).parameters)


def test_vms_and_links_are_named_as_python_has_them(workload: TopicWorkload) -> None:
    """A VM by its number, a link by a pair of ids."""
    fleet = pubplan.provision.solve(pubplan.provision.Problem(workload, threshold=3, window_seconds=3600))
    assert pubplan.explain(fleet, vm=0).facts == pubplan.explain(fleet, vm="0").facts
    overlay = pubplan.overlay.solve(pubplan.overlay.Problem(workload))
    node, other = (overlay.plan.decisions("links")[name][0].as_py() for name in ("node_id", "other_id"))
    assert pubplan.explain(overlay, link=(node, other)).facts == pubplan.explain(overlay, link=f"{node},{other}").facts


def test_explain_refuses_in_python(result: Result, workload: TopicWorkload, make_workload) -> None:
    """One thing at a time, of a kind that the family has, on the plan's workload, of a plan that is unchanged."""
    with pytest.raises(InputError, match=r"^Name one thing to explain: topic or subscriber\.$"):
        pubplan.explain(result)
    with pytest.raises(InputError, match="Plans of select explain topic, subscriber, not vm"):
        pubplan.explain(result, vm=0)
    with pytest.raises(StalePlan):
        pubplan.explain(result, topic="news", workload=make_workload({"a": 1}, {"x": ["a"]}))
    moved = shutil.move(workload.path, workload.path.with_name("moved"))
    with pytest.raises(InputError, match=r"is no longer at .*: pass workload"):
        pubplan.explain(result, topic="news")
    assert pubplan.explain(result, topic="news", workload=moved).facts["served"] is True
    plan_file = result.plan.path / "plan.json"
    plan_file.write_text(plan_file.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(VerificationFailed):
        pubplan.explain(result.plan.path, topic="news", workload=moved)


def test_diff_says_what_the_command_prints(cli, workload: TopicWorkload, result: Result, tmp_path: Path) -> None:
    """Statements and decisions that change; two equal plans say so."""
    problem = pubplan.select.Problem(workload, capacity=11, threshold=3)
    other = pubplan.select.solve(problem, out=tmp_path / "other")
    changes = pubplan.diff(result, other.plan)
    assert changes.statements["objective"] == (3.0, 4.0)
    assert changes.decisions["served"].added == ("chess",)
    assert cli("diff", result.plan.path, other.plan.path).out == f"{changes}\n"
    assert repr(changes) == "Diff(5 statements changed; served: 1 added, 0 dropped, 1 kept)"
    assert "<tr><th>objective</th><td>3</td><td>4</td></tr>" in changes._repr_html_()
    assert repr(pubplan.diff(result, result)) == "Diff(the plans are the same)"
    assert str(pubplan.diff(result, result)) == "The plans are the same."


def test_a_session_that_is_given_is_used(workload: TopicWorkload, spark) -> None:
    """Spark is either passed or started, not both."""
    assert pubplan.describe(workload, spark=spark) == pubplan.describe(workload)
    with pytest.raises(InputError, match=r"^Pass spark, or how to start it: not both"):
        pubplan.describe(workload, spark=spark, master="local[1]")


def test_reprs_are_short(workload: TopicWorkload, result: Result) -> None:
    """Whatever a notebook shows last fits on two lines."""
    values = (
        *(workload, pubplan.describe(workload), result, pubplan.explain(result, topic="chess")),
        *(pubplan.provision.find_vm_types(["c7g.large"])[0], pubplan.select.curve_of(result.problem, result.plan)),
    )
    home = len(str(workload.path))
    assert [value for value in values if len(repr(value)) > MAX_REPR + home] == []
