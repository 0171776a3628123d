"""Pages read as what they are for a reader: files to write, commands to run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"

SHELL_PROGRAMS = {"awk", "bash", "grep", "nats-server", "python"}
"""What pages run apart from pubplan."""


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """The fenced blocks of a page: language, the rest of the fence line, content."""
    fenced = re.findall(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert fenced
    return fenced


def write_files(page: Path) -> None:
    """Write the files that the page shows into the current directory."""
    for _, name, content in blocks(page):
        if name:
            Path(name).write_text(content)


def commands(page: Path) -> list[str]:
    """The commands of a page's shell blocks, in order, lines that end with a backslash joined."""
    shell = "".join(content for language, name, content in blocks(page) if language == "sh" and not name)
    lines = [line.strip() for line in shell.replace("\\\n", " ").splitlines()]
    assert any(lines)
    return [line for line in lines if line]


def run_shell(command: str, variables: Mapping[str, str] | None = None) -> str:
    """Run a command as it is printed, with the programs of this environment; what it wrote to stdout."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    finished = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stderr}"
    return finished.stdout


def run_command(command: str, cli: Callable[..., Any], variables: Mapping[str, str] | None = None) -> str:
    """Run one command of a page, pubplan in this process, anything else in a shell; what it wrote to stdout."""
    program, *arguments = shlex.split(command, comments=True)
    if program in SHELL_PROGRAMS:
        return run_shell(command, variables)
    assert program == "pubplan", command
    answer = cli(*arguments)
    assert answer.code == 0, f"{command}\n{answer.err}"
    return answer.out
