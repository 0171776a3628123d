"""The help: short lines, examples that can be typed, and answers when nobody listens."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
import typer

from pubplan.cli.guide import EXAMPLES, SUMMARIES
from pubplan.cli.main import COMMANDS, app

SCRIPT = "from pubplan.cli.main import main; main()"


def test_every_command_has_a_line(cli) -> None:
    """The list of commands fits a terminal; nothing is cut."""
    answer = cli("--help")
    assert set(SUMMARIES) == {*COMMANDS, "generate"}
    for name, summary in SUMMARIES.items():
        assert f"  {name:<10}  {summary}\n" in answer.out
    assert "…" not in answer.out
    assert "..." not in answer.out.partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help(cli, name: str) -> None:
    """-h is --help; the usage names arguments without brackets around them."""
    answer = cli(name, "-h")
    assert (answer.code, answer.out) == (0, cli(name, "--help").out)
    assert "{" not in answer.out.splitlines()[0]
    assert all(line in answer.out for line in EXAMPLES[name])


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_can_be_typed(line: str) -> None:
    """Every command and option of an example exists."""
    program, name, *arguments = shlex.split(line)
    assert (program, line in EXAMPLES[name]) == ("pubplan", True)
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {argument for argument in arguments if argument.startswith("--")} <= options


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell: str) -> None:
    """The names of commands are completed."""
    words = {"bash": {"COMP_WORDS": "pubplan ver", "COMP_CWORD": "1"}}
    environment = {
        "_PUBPLAN_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "pubplan ver",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        **words.get(shell, {}),
    }
    command = [sys.executable, "-c", SCRIPT]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "verify" in answer.stdout


@pytest.mark.parametrize("arguments", [["methods", "select"], ["catalogues", "--json"]])
def test_nobody_listens(arguments: list[str]) -> None:
    """A closed stdout is no error."""
    command = shlex.join([sys.executable, "-c", SCRIPT, *arguments])
    answer = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
