"""One parser for what is asked, wherever it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pubplan.errors import InputError
from pubplan.problems import FAMILIES, family_named
from pubplan.problems.overlay import Request as OverlayRequest
from pubplan.problems.provision import Request as ProvisionRequest
from pubplan.problems.select import Request as SelectRequest
from pubplan.quantities import plain_number


def test_mappings_make_requests(make_workload) -> None:
    """What JSON holds becomes the question; what is left out has its default."""
    asked = json.loads('{"capacity": "50%", "threshold": 3, "must_serve": ["a"], "method": "greedy-max"}')
    request = SelectRequest.from_mapping(asked)
    problem = request.problem(make_workload({"a": 2, "b": 3}, {"x": ["a", "b"], "y": ["b"]}))
    assert (request.method, request.bound) == ("greedy-max", None)
    assert (problem.capacity, problem.threshold, problem.objective, problem.must_serve) == ("50%", 3, "fb3m", ("a",))


def test_text_and_numbers_mean_the_same() -> None:
    """The command line has only text; TOML and JSON have types."""
    typed = ProvisionRequest.from_mapping({"threshold": [10, 100], "rate_factor": 2, "window": 864_000})
    text = ProvisionRequest().with_values({"threshold": "10, 100", "rate_factor": "2", "window": "10d"})
    assert (typed.threshold, text.threshold) == ((10, 100), (10, 100))
    assert (list(map(str, typed.rate_factor)), list(text.rate_factor)) == (["2"], ["2"])
    assert typed.window == text.window == "864000"
    assert typed.is_comparison
    assert text.is_comparison


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"threshold": "many"},
            "threshold must be a whole number or all, or several with commas between them, not 'many'.",
        ),
        (
            {"threshold": True},
            "threshold must be a whole number or all, or several with commas between them, not 'True'.",
        ),
        (
            {"threshold": 2.5},
            "threshold must be a whole number or all, or several with commas between them, not '2.5'.",
        ),
        ({"threshold": "9" * 19}, "threshold must be a whole number"),
        ({"objective": 3}, "objective must be text, not '3'."),
        ({"must_serve": "a"}, "must_serve must be a list of ids, not 'a'."),
        ({"must_serve": ["a", 5]}, "must_serve must be a list of ids"),
        ({"curve": 1}, "curve must be true or false, not '1'."),
        ({"capacity": [["10%"]]}, "capacity must be a capacity, or several with commas between them, not"),
        ({"treshold": 5}, "There is no parameter 'treshold'. Did you mean 'threshold'?"),
        ({"greedy-max": 5}, "greedy-max must be a table of parameters, not 5."),
        ({"greedy-mox": {}}, "Did you mean 'greedy-max'?"),
        ({"parameters": {}}, "There is no parameter 'parameters'."),
    ],
)
def test_wrong_values_get_one_sentence(values: dict[str, Any], sentence: str) -> None:
    """It begins with where the value is from, and says what is expected."""
    with pytest.raises(InputError) as refusal:
        SelectRequest.from_mapping(values, methods=family_named("select").methods, source="the request: ")
    assert str(refusal.value).startswith("the request: ")
    assert sentence in str(refusal.value)


def test_files_and_the_command_line_refuse_alike(cli, make_workload, tmp_path: Path) -> None:
    """The same mistake in TOML and on the command line reads the same but for where it is."""
    workload = make_workload({"a": 1}, {"x": ["a"]})
    (tmp_path / "p.toml").write_text('[select]\ncapacity = "10%"\nthreshold = "many"\n')
    in_file = cli("select", workload.path, "--out", tmp_path / "o", "--parameters", tmp_path / "p.toml")
    typed = cli("select", workload.path, "--out", tmp_path / "o", "--capacity", "10%", "--threshold", "many")
    assert (in_file.code, typed.code) == (2, 2)
    assert in_file.err.endswith(
        "table [select]: threshold must be a whole number or all, or several with commas between them, not 'many'.\n"
    )
    assert typed.err.endswith(
        "--threshold must be a whole number or all, or several with commas between them, not 'many'.\n"
    )


def test_ids_of_a_mapping_are_ids(cli, make_workload, tmp_path: Path) -> None:
    """Only the command line reads files behind an @; a topic may be called so."""
    workload = make_workload({"@a": 1, "b": 1}, {"x": ["@a", "b"]})
    request = SelectRequest.from_mapping({"capacity": 1, "threshold": 1, "must_serve": ["@a"]})
    assert request.problem(workload).must_serve == ("@a",)
    (tmp_path / "ids").write_text("@a\n")
    options = ("--capacity", 1, "--threshold", 1, "--must-serve", f"@{tmp_path / 'ids'}", "--json")
    answer = cli("select", workload.path, "--out", tmp_path / "plan", *options)
    assert json.loads(answer.out)["parameters"]["must_serve"] == ["@a"]


def test_parameters_of_methods_come_from_tables_and_options() -> None:
    """An option that is a parameter of the method beats the method's table, and is not part of the question."""
    methods = family_named("overlay").methods
    request = OverlayRequest.from_mapping({"dcbr-m": {"eta": 5, "parts": 2}, "parts": 3}, methods=methods)
    assert request.method_parameters(methods["dcbr-m"]) == {"eta": 5, "parts": 3}
    assert request.method_parameters(methods["gm-m"]) == {"parts": 3}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_option_has_a_help(family: str) -> None:
    """A sentence, and something that stands for the value."""
    for name, described in family_named(family).request.options().items():
        assert described.help.rstrip().endswith((".", "?")), name
        assert described.metavar or described.reader.expects == "true or false", name
        assert described.reader.expects, name


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1000000", "1000000"),
        ("1_000_000", "1000000"),
        ("1M", "1000000"),
        ("1.5k", "1500"),
        ("1.2345K", "1234.5"),
        ("2G", "2000000000"),
        ("1e6", "1000000"),
        ("1.50E+1", "15"),
        (" 0.5 ", "0.5"),
        ("-3", "-3"),
    ],
)
def test_numbers_as_people_write_them(text: str, number: str) -> None:
    """Units of thousands, powers of ten and underscores are plain digits."""
    assert plain_number(text) == number
    assert plain_number(text, commas=True) == number


def test_commas_are_thousands_where_no_list_is_meant(make_workload) -> None:
    """A capacity, a budget and a message size have commas; thresholds, of which there may be several, do not."""
    assert plain_number("1,000,000.5", commas=True) == "1000000.5"
    workload = make_workload({"a": 2}, {"x": ["a"]})
    for text in ("1,000,000", "1M", "1_000_000", "1e6"):
        request = SelectRequest().with_values({"capacity": text, "threshold": "1k"})
        assert (request.problem(workload).capacity, request.threshold) == (1_000_000, (1000,))
    asked = ProvisionRequest().with_values({"budget": "1,500.50", "message_bytes": "1,000", "threshold": "10,1k"})
    assert (asked.budget, asked.message_bytes, asked.threshold) == ("1500.50", 1000, (10, 1000))
    assert SelectRequest().with_values({"threshold": "10,100"}).threshold == (10, 100)
    for request_type in (ProvisionRequest, SelectRequest):
        with pytest.raises(InputError, match="several with commas between them, not '1,000,000'"):
            request_type().with_values({"threshold": "1,000,000"})


@pytest.mark.parametrize("text", ["", "M", "1 M", "1,00", "1,0000", "1__0", "1.", "1m", "1e-3", "0x10", "١"])
def test_what_is_no_number(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match=r"^$"):
        plain_number(text, commas=True)
