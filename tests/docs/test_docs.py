"""What the documents say is what the program does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pubplan.pipeline import REASONS
from pubplan.problems import FAMILIES, family_named

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "how-to" / "traces.md"]
PYTHON_PAGES = [ROOT / "docs" / name for name in ("overlay.md", "provision.md", "how-to/prices.md")]


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """The fenced blocks of a page: language, the rest of the fence line, content."""
    found = re.findall(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert found
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_as_they_stand(page: Path, cli, shared_spark, tmp_path: Path, monkeypatch) -> None:
    """Every command of the page succeeds, in order, on the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    for _, name, content in blocks(page):
        if name:
            Path(name).write_text(content)
    commands = [line for language, _, content in blocks(page) if language == "sh" for line in content.splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "pubplan"
        answer = cli(*arguments)
        assert answer.code == 0, f"{command}\n{answer.err}"


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: page.stem)
def test_python_runs_as_it_stands(page: Path, tmp_path: Path, monkeypatch) -> None:
    """What the page claims in Python holds, on the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    for _, name, content in blocks(page):
        if name:
            Path(name).write_text(content)
    code = [content for language, _, content in blocks(page) if language == "python"]
    assert code
    for content in code:
        exec(compile(content, str(page), "exec"), {})


def test_every_reason_is_documented() -> None:
    """The reference lists the reasons with their meaning, in order."""
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs" / "reference.md").read_text(), flags=re.MULTILINE)
    assert [(name, said) for name, said in listed if name in REASONS] == list(REASONS.items())


def test_every_method_is_documented() -> None:
    """Each family's page names its methods."""
    for name in FAMILIES:
        text = (ROOT / "docs" / f"{name}.md").read_text()
        assert all(f"`{method}`" in text for method in family_named(name).methods)


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links point to files that exist."""
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
