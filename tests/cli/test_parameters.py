"""Parameters of methods on the command line: ``--set`` and what ``pubplan methods`` lists."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

import pubplan
from pubplan.cli.parameters import parameters_of
from pubplan.planning import Method
from pubplan.problems import FAMILIES, family_named
from pubplan.workload import Workload


@dataclass(frozen=True)
class Example:
    """A parameter of every type."""

    count: int = field(default=3, metadata={"help": "How many."})
    limit: int | None = None
    share: float | None = 0.5
    name: str = "a"
    rule: Literal["best", "worst"] = "best"
    is_on: bool = False


DAILY = ("--threshold", "3", "--window", "1d")

EXAMPLE = Method("example", lambda *_: None, "", None, "", "", "", parameters=Example)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return pubplan.generate.generate(pubplan.generate.uniform(40, 20), tmp_path_factory.mktemp("made") / "workload")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("count", "-7", -7),
        ("limit", "none", None),
        ("limit", "12", 12),
        ("share", "0.25", 0.25),
        ("share", "2", 2.0),
        ("share", "none", None),
        ("name", "none", "none"),
        ("name", "b=c", "b=c"),
        ("rule", "worst", "worst"),
        ("is_on", "true", True),
        ("is_on", "false", False),
    ],
)
def test_values_have_the_type_of_the_field(name: str, text: str, value: object) -> None:
    """Text becomes what the dataclass of the method declares, and nothing else."""
    parsed = parameters_of(EXAMPLE)[name].value_of(text)
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("count", "many", "count is a whole number, not 'many'"),
        ("count", "1.5", "count is a whole number, not '1.5'"),
        ("limit", "None", "limit is a whole number or none, not 'None'"),
        ("share", "half", "share is a number or none"),
        ("rule", "good", "rule is one of best, worst, not 'good'"),
        ("is_on", "yes", "is_on is true or false, not 'yes'"),
    ],
)
def test_values_of_other_types_are_refused(name: str, text: str, said: str) -> None:
    """The sentence has the type that was expected and the text that came."""
    with pytest.raises(ValueError, match=said):
        parameters_of(EXAMPLE)[name].value_of(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_parameter_is_listed(cli, family: str) -> None:
    """In words and in JSON, with type and default, for every method."""
    listed = json.loads(cli("methods", family, "--json").out)[family]
    text = cli("methods", family).out
    for method in family_named(family).methods.values():
        fields = {each.name: each for each in dataclasses.fields(method.parameters)}
        assert listed[method.name]["parameters"].keys() == fields.keys()
        for name, facts in listed[method.name]["parameters"].items():
            assert facts["default"] == fields[name].default
            assert f"--set {name}={'none' if facts['default'] is None else facts['default']}  ({facts['type']})" in text


@pytest.mark.parametrize("family", ["select", "provision", "overlay"])
def test_every_parameter_has_a_sentence(cli, family: str) -> None:
    """The help of a parameter is a sentence."""
    for facts in json.loads(cli("methods", family, "--json").out)[family].values():
        assert all(each["help"][0].isupper() and each["help"].endswith(".") for each in facts["parameters"].values())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["select", "--capacity", "50%", "--threshold", "3", "--set", "rule=gain"], {"rule": "gain"}),
        (
            ["select", "--capacity", "50%", "--threshold", "3", "--method", "exact", "--time-limit", "0.5"],
            {"time_limit": 0.5},
        ),
        (
            ["provision", "--threshold", "3", "--window", "1d", "--method", "gsp+cbp", "--set", "steps=bc"],
            {"steps": "bc"},
        ),
        (
            ["overlay", "--set", "model=paper", "--eta", "15", "--set", "effort=0.5", "--set", "parts=none"],
            {"model": "paper", "eta": 15, "effort": 0.5, "parts": None},
        ),
    ],
)
def test_parameters_reach_the_plan(cli, made: Workload, tmp_path: Path, arguments: list[str], expected: dict) -> None:
    """What is set is in the plan."""
    command, *options = arguments
    answer = cli(command, made.path, *options, "--out", tmp_path / "plan", "--json", "--quiet")
    assert answer.code == 0, answer.err
    parameters = json.loads(answer.out)["parameters"]
    assert {name: parameters[name] for name in expected} == expected


def test_the_command_line_beats_the_file(cli, made: Workload, tmp_path: Path) -> None:
    """Of two parameters in the file the one that is set changes, the other stays."""
    (tmp_path / "p.toml").write_text('[overlay.dcbr-repair]\ncoverage = 2\nmodel = "known"\n')
    options = ["--parameters", tmp_path / "p.toml", "--set", "model=paper", "--json", "--quiet"]
    parameters = json.loads(cli("overlay", made.path, *options, "--out", tmp_path / "plan").out)["parameters"]
    assert (parameters["coverage"], parameters["model"]) == (2, "paper")


def test_what_if_takes_parameters(cli, made: Workload, monkeypatch) -> None:
    """A table is made with the parameters that are set."""
    asked: list[dict] = []
    monkeypatch.setattr("pubplan.problems.provision.what_if", lambda *_, **options: asked.append(options) or [])
    answer = cli("provision", made.path, *DAILY, "--what-if", "--set", "rounds=2", "--json", "--quiet")
    assert (answer.code, answer.out) == (0, "[]\n")
    assert [options["parameters"] for options in asked] == [{"rounds": 2}]
    refused = cli("provision", made.path, *DAILY, "--what-if", "--set", "round=2")
    assert (refused.code, "Did you mean 'rounds'" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("select", ["--capacity", "50%", "--threshold", "3", "--set", "rules=gain"], "Did you mean 'rule'"),
        (
            "select",
            ["--capacity", "50%", "--threshold", "3", "--set", "rule=gains"],
            "rule is one of best, gain, ratio",
        ),
        ("select", ["--capacity", "50%", "--threshold", "3", "--method", "greedy-max", "--set", "rule=gain"], "has no"),
        ("select", ["--capacity", "50%", "--threshold", "3", "--time-limit", "soon"], "such as 30s, 5min or 90, not"),
        ("overlay", ["--time-limit", "0"], "--time-limit must be longer than 0 seconds"),
        ("provision", [*DAILY, "--method", "gsp+cbp", "--set", "steps=z"], "steps"),
        ("provision", ["--threshold", "3", "--what-if", "--method", "gsp"], "There is no method of provision 'gsp'"),
        ("overlay", ["--set", "coverage=two"], "coverage is a whole number, not 'two'"),
        ("overlay", ["--set", "coverage"], "--set takes NAME=VALUE, not 'coverage'"),
        ("overlay", ["--set", "coverage=0"], "coverage is a whole number, at least 1"),
        ("overlay", ["--set", "eta=3", "--eta", "4"], "eta is given twice"),
        ("overlay", ["--set", "eta=3", "--set", "eta=3"], "eta is given twice"),
        ("overlay", ["--set", "model=papers"], "Did you mean 'paper'"),
        ("overlay", ["--method", "gm-m", "--set", "parts=2"], "gm-m has no parameters to set"),
    ],
)
def test_wrong_parameters_exit_with_2(
    cli, made: Workload, tmp_path: Path, monkeypatch, command: str, options: list[str], said: str
) -> None:
    """A sentence that helps, before Spark starts, and nothing written."""

    def started(*_: object) -> None:
        raise AssertionError("a session was started")

    monkeypatch.setattr("pubplan.cli.session.maybe_spark", started)
    out = [] if "--what-if" in options else ["--out", tmp_path / "plan"]
    answer = cli(command, made.path, *options, *out)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []
