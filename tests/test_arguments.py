"""Messages name arguments; exceptions spell them as Python does, the command line as options."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer

import pubplan
from pubplan.arguments import Mention, argument, function, in_python, spelt
from pubplan.cli.main import app
from pubplan.cli.spelling import in_options
from pubplan.errors import Infeasible, InputError
from pubplan.problems import FAMILIES

PACKAGE = Path(__file__).parents[1] / "src" / "pubplan"
OPTION = re.compile(r"(?<![\w-])--[a-z]*")
JAVA = PACKAGE / "engine" / "java.py"
"""Has options of Java, and passes them on."""

LIBRARY = sorted(set(PACKAGE.rglob("*.py")) - set((PACKAGE / "cli").rglob("*.py")) - {JAVA})


def texts(path: Path) -> Iterator[str]:
    """The texts of a module that are not docstrings, without whole commands in quotes."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield re.sub(r"'pubplan [^']*'", "", node.value)


def mentions() -> Iterator[tuple[str, str]]:
    """Every call of ``argument`` or ``function`` with a literal name, in the library."""
    for path in LIBRARY:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("argument", "function"):
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    yield node.func.id, name.value


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_message_of_the_library_speaks_command_line(path: Path) -> None:
    """Outside cli/ no text has an option, except in whole commands that pages quote."""
    assert [text for text in texts(path) if OPTION.search(text)] == []


def test_options_in_messages_are_seen(tmp_path: Path) -> None:
    """The test above notices options in plain text and in texts with names put in; docstrings may have them."""
    lines = ('"""A --doc."""', 'a = "pass --out"', 'b = f"--{a} is"', "c = \"'pubplan show --json' says\"")
    (tmp_path / "m.py").write_text("\n".join(lines))
    assert [OPTION.findall(text) for text in texts(tmp_path / "m.py")] == [["--out"], [], ["--"], []]


def test_what_is_named_exists_on_both_sides() -> None:
    """Every argument that a message names is one of a public function or class, and an option of a command."""
    values = [getattr(pubplan, name) for name in pubplan.__all__]
    families = [getattr(getattr(pubplan, name), part) for name in FAMILIES for part in ("Problem", "Request", "solve")]
    shapes = [getattr(pubplan.generate, name) for name in pubplan.generate.__all__]
    reproductions = [import_module(f"pubplan.reproduce.{name}").reproduce for name in FAMILIES]
    callables = [value for value in (*values, *families, *shapes, *reproductions) if callable(value)]
    parameters = {name for value in callables for name in inspect.signature(value).parameters}
    root = typer.main.get_command(app)
    groups = [root, *root.commands.values(), *root.commands["generate"].commands.values()]
    options = {name for command in groups for parameter in command.params for name in parameter.opts}
    named = set(mentions())
    assert {name for kind, name in named if kind == "argument"} - parameters == set()
    typed = {name for kind, name in named if kind == "argument"} - {"spark"}  # a session cannot be typed
    assert {in_options(Mention(name)) for name in typed} - options == set()
    functions = [name for kind, name in named if kind == "function"]
    assert all(hasattr(pubplan, name) for name in functions)
    commands = [in_options(Mention(name, is_function=True)).strip("'").split()[1] for name in functions]
    assert set(commands) <= set(root.commands)


@pytest.mark.parametrize(
    ("marked", "python", "typed"),
    [
        (argument("max_rejected"), "max_rejected", "--max-rejected"),
        (argument("replace", True), "replace=True", "--replace"),
        (argument("multiline", False), "multiline=False", "no --multiline"),
        (argument("header", False), "header=False", "--no-header"),
        (argument("capacity", "10%"), "capacity='10%'", "--capacity 10%"),
        (argument("delimiter", ";"), "delimiter=';'", "--delimiter ';'"),
        (argument("delimiter", "\t"), "delimiter='\\t'", "--delimiter tab"),
        (argument("format", {"events": "csv"}), "format={'events': 'csv'}", "--format events=csv"),
        (
            argument("columns", {"events": {"topic": "a b"}}),
            "columns={'events': {'topic': 'a b'}}",
            "--column 'events.topic=a b'",
        ),
        (argument("window_seconds"), "window_seconds", "--window"),
        (function("ingest"), "pubplan.ingest", "'pubplan ingest'"),
        (function("read_plan"), "pubplan.read_plan", "'pubplan show'"),
    ],
)
def test_spellings(marked: str, python: str, typed: str) -> None:
    """The same mention in both languages."""
    assert spelt(f"Pass {marked}.", in_python) == f"Pass {python}."
    assert spelt(f"Pass {marked}.", in_options) == f"Pass {typed}."


def test_marks_survive_tasks() -> None:
    """An error that comes back from another process is spelt by whoever shows it there."""
    error = pickle.loads(pickle.dumps(InputError(f"Pass {argument('out')}.")))
    assert (str(error), error.text(in_options)) == ("Pass out.", "Pass --out.")
    refused = pickle.loads(pickle.dumps(Infeasible(f"Less {argument('capacity')}.", ())))
    assert (refused.message, str(refused)) == ("Less capacity.", "Less capacity.")


@pytest.mark.parametrize("text", ["\ue000", "\ue000x\ue001", "\ue000[\ue001", "\ue001\ue000", "a \ue000\ue001 b"])
def test_names_with_marks_are_left_as_they_are(text: str) -> None:
    """A file may be called anything."""
    assert spelt(text, in_python) == text


def test_python_and_the_command_line_say_the_same(cli, make_workload, tmp_path: Path) -> None:
    """One refusal, two spellings; also in JSON."""
    workload = make_workload({"a": 1}, {"x": ["a"]})
    with pytest.raises(InputError, match=r"^No threshold: pass threshold, or give"):
        pubplan.select.solve(pubplan.select.Problem(workload, capacity="10%"))
    typed = cli("select", workload.path, "--capacity", "10%", "--json")
    assert "No threshold: pass --threshold, or give" in typed.err
    assert '"message": "No threshold: pass --threshold, or give' in typed.out
    with pytest.raises(InputError, match="Choose another out, or pass replace=True to overwrite it"):
        pubplan.build_workload(workload.path, {"a": 1}, {"x": ["a"]})
    refused = cli("generate", "spotify", "--scale", "0.001", "--out", workload.path)
    assert "Choose another --out, or pass --replace to overwrite it." in refused.err
    with pytest.raises(InputError, match=r"Make one of your own data with pubplan\.ingest"):
        pubplan.read_workload(tmp_path)
    assert "Make one of your own data with 'pubplan ingest'" in cli("describe", tmp_path).err
