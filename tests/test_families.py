"""A family is one complete package: everything outside is made from the one list of them, or fails here."""

from __future__ import annotations

import ast
import dataclasses
import json
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from properties.families import ORACLES
from test_layers import DEFINITIONS

import pubplan
from pubplan.cli.compile import QUESTIONS
from pubplan.cli.main import app
from pubplan.cli.methods import LISTING, listing_of
from pubplan.errors import InputError
from pubplan.planning import Family, Problem, Request
from pubplan.problems import FAMILIES, family_named, problem_of
from pubplan.reproduce import PAPERS

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "src" / "pubplan" / "problems"

ROOMS = (
    "family",
    "problem",
    "instance",
    "request",
    "plan",
    "draft",
    "bound",
    "summary",
    "explain",
    "export",
    "verifier",
    "methods",
    "kernels",
)
"""The modules that every family has."""

LAZY = ("pubplan", "pubplan.api", "pubplan.planning", *(f"pubplan.problems.{name}" for name in FAMILIES))


@pytest.fixture(params=FAMILIES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def family(name: str) -> Family:
    return family_named(name)


def test_every_package_is_listed() -> None:
    """A package below problems/ is in FAMILIES, and the other way round."""
    packages = {path.name for path in PROBLEMS.iterdir() if (path / "__init__.py").is_file()}
    assert packages == set(FAMILIES)


@pytest.mark.parametrize("room", ROOMS)
def test_families_have_the_same_rooms(name: str, room: str) -> None:
    """Who knows one family finds the way in the others."""
    assert find_spec(f"pubplan.problems.{name}.{room}") is not None


def test_families_come_with_what_is_outside(name: str) -> None:
    """What a family has outside its package: all that was forgotten is named at once."""
    readme = (ROOT / "README.md").read_text()
    parts = {
        f"src/pubplan/pages/{name}.py with sections() and asked()": has(f"pubplan.pages.{name}", "sections", "asked"),
        f"src/pubplan/reproduce/{name} with reproduce()": has(f"pubplan.reproduce.{name}", "reproduce"),
        f"benchmarks/{name}.py": (ROOT / "benchmarks" / f"{name}.py").is_file(),
        f"docs/{name}.md": (ROOT / "docs" / f"{name}.md").is_file(),
        f"tests/oracles/{name}.py": (ROOT / "tests" / "oracles" / f"{name}.py").is_file(),
        f"tests/problems/{name}/": (ROOT / "tests" / "problems" / name).is_dir(),
        "an Oracle in tests/properties/families.py": name in ORACLES,
        "definitions that its verifier reads, in tests/test_layers.py": name in DEFINITIONS,
        "questions in src/pubplan/cli/compile.py": name in QUESTIONS,
        "its methods in src/pubplan/cli/methods.json ('make methods')": name in listed_methods(),
        "a row in README.md": f"pubplan {name}" in readme and f"docs/{name}.md" in readme,
    }
    forgotten = [part for part, is_there in parts.items() if not is_there]
    assert not forgotten, f"{name} lacks " + "; ".join(forgotten)


def has(module: str, *functions: str) -> bool:
    """Whether there is a module with these functions."""
    return find_spec(module) is not None and all(callable(vars(import_module(module)).get(one)) for one in functions)


def listed_methods() -> dict[str, Any]:
    """What ``pubplan methods`` prints, by family."""
    listing: dict[str, Any] = json.loads((ROOT / "src" / "pubplan" / "cli" / LISTING).read_text())
    return listing


def test_what_is_outside_is_of_families() -> None:
    """Lists by family have no entry for one that is gone, and what is printed is in the order of the families."""
    for names in (ORACLES, DEFINITIONS, QUESTIONS):
        assert set(names) <= set(FAMILIES)
    assert list(listed_methods()) == [name for name in FAMILIES if name in listed_methods()]


def test_commands_and_public_names_are_made_from_the_list(name: str, family: Family) -> None:
    """A family in the list is a command, a paper to reproduce and a name of the package."""
    assert family.name == name
    assert name in PAPERS
    assert name in {command.name for command in app.registered_commands}
    assert getattr(pubplan, name).FAMILY is family


def test_methods_are_one_file_each(name: str) -> None:
    """Every module of methods/ offers a method, or a stage of methods."""
    modules = {path.stem for path in (PROBLEMS / name / "methods").glob("*.py")} - {"__init__"}
    offered = {
        module
        for module in modules
        if {"METHOD", "METHODS", "STAGE", "STAGES"}
        & set(vars(import_module(f"pubplan.problems.{name}.methods.{module}")))
    }
    assert offered == modules


def test_the_listing_is_what_the_table_says(name: str, family: Family) -> None:
    """``pubplan methods`` prints a file; it has the methods of the table, in its order. 'make methods' writes it."""
    listing = listed_methods()
    assert listing[name] == json.loads(json.dumps(listing_of(family)))
    assert list(listing[name]) == list(family.methods)


def test_what_is_explained_is_what_can_be_asked(name: str, family: Family) -> None:
    """The command line offers an option for each kind of thing that the family explains, and no other."""
    assert set(family.explain) == set(family.request.explainables)
    (command,) = (command for command in app.registered_commands if command.name == "explain")
    assert set(family.explain) <= set(signature(command.callback).parameters)


def test_decisions_are_exported_and_documented(name: str, family: Family) -> None:
    """Every table of decisions can be exported, and the reference says which columns an export has."""
    assert set(family.decisions) | set(family.blocks) <= set(family.exports)
    reference = (ROOT / "docs" / "reference.md").read_text()
    for table, export in family.exports.items():
        columns = ", ".join(f"`{column}`" for column in export.schema.names)
        assert f"| `{name}` | `{table}` | {columns} |" in reference


def test_bounds_in_the_help_exist(family: Family) -> None:
    """The help of --bound names every bound of the family."""
    text = family.request.options()["bound"].help
    assert [bound for bound in family.bounds if bound not in text] == []


def test_requests_carry_the_problem(name: str, family: Family) -> None:
    """A problem says in its parameters all that was asked, so that a plan's parameters make the same request."""
    problem_type = import_module(f"pubplan.problems.{name}.problem").Problem
    assert problem_type.check.__doc__
    assert issubclass(family.request, Request)
    assert family.request.family == name
    assert family.request.__doc__


def test_plans_ask_again_what_they_answer(name: str, family: Family, tmp_path: Path) -> None:
    """The request that a plan's parameters make asks for the plan's problem."""
    oracle = ORACLES[name]
    problem: Problem = oracle.problem(oracle.plain, tmp_path, str, oracle.variants[0])
    plan = getattr(pubplan, name).solve(problem, out=tmp_path / "plan").plan
    assert plan.method in family.defaults
    assert set(family.defaults) <= set(family.methods)
    assert problem_of(plan, problem.workload).to_parameters() == problem.to_parameters()
    if problem.to_parameters():
        with pytest.raises(InputError, match="damaged"):
            problem_of(dataclasses.replace(plan, record={**plan.record, "parameters": {}}), problem.workload)


@pytest.mark.parametrize("package", LAZY)
def test_what_is_loaded_late_is_known_to_types(package: str) -> None:
    """A package that loads its names when they are used tells type checkers the same names."""
    module = import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(module.__all__) - {"__version__"}
    assert all(hasattr(module, name) for name in module.__all__)
