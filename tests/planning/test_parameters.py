"""Parameters from values and from TOML."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pubplan.errors import InputError
from pubplan.planning import make_parameters, read_parameters

KNOWN = {"capacity": (str, int), "threshold": (int,), "must_serve": (list,), "greedy-fb3m": (dict,)}


@dataclass(frozen=True)
class Steps:
    num_steps: int = 3

    def __post_init__(self) -> None:
        if self.num_steps < 1:
            raise ValueError("num_steps must be at least 1.")


def test_named_values_become_parameters() -> None:
    """Defaults fill in what is not given."""
    assert make_parameters(Steps, {}, "here") == Steps(3)
    assert make_parameters(Steps, {"num_steps": 5}, "here") == Steps(5)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """A misspelt parameter is named beside the one that was meant."""
    with pytest.raises(InputError, match=r"here: There is no parameter 'num_step'\. Did you mean 'num_steps'\?"):
        make_parameters(Steps, {"num_step": 5}, "here")


def test_refused_values_say_why() -> None:
    """A value the dataclass refuses is an input error with its sentence."""
    with pytest.raises(InputError, match="at least 1"):
        make_parameters(Steps, {"num_steps": 0}, "here")


def test_a_table_is_read(tmp_path) -> None:
    """Only the family's table counts."""
    path = tmp_path / "p.toml"
    path.write_text('[select]\ncapacity = "10%"\nthreshold = 3\n[select.greedy-fb3m]\nrule = "gain"\n[other]\nx = 1\n')
    expected = {"capacity": "10%", "threshold": 3, "greedy-fb3m": {"rule": "gain"}}
    assert read_parameters(path, "select", KNOWN) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[select]\ncapasity = 1\n", "Did you mean 'capacity'"),
        ('[select]\nthreshold = "many"\n', "threshold must be a whole number, not 'many'"),
        ("[select]\nthreshold = true\n", "threshold must be a whole number, not True"),
        ("[select]\ncapacity = 0.1\n", "capacity must be a string or a whole number"),
        ('[select]\nmust_serve = "news"\n', "must_serve must be a list, not 'news'"),
        ("[overlay]\nx = 1\n", r"no table \[select\]"),
        ("[select\n", "not readable TOML"),
    ],
)
def test_wrong_files_are_refused(tmp_path, text: str, said: str) -> None:
    """Unknown keys, wrong types, missing tables and broken files, each with the file's name."""
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as refusal:
        read_parameters(path, "select", KNOWN)
    assert "p.toml" in str(refusal.value)


def test_a_missing_file_is_named(tmp_path) -> None:
    """The path is in the error."""
    with pytest.raises(InputError, match=r"no parameter file .*gone\.toml"):
        read_parameters(tmp_path / "gone.toml", "select", KNOWN)
