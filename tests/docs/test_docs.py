"""What the documents say is what the program does."""

from __future__ import annotations

import re
import shlex
import subprocess
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


def write_files(page: Path) -> None:
    """Write the files that the page shows into the current directory."""
    for _, name, content in blocks(page):
        if name:
            Path(name).write_text(content)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_as_they_stand(page: Path, cli, shared_spark, tmp_path: Path, monkeypatch) -> None:
    """Every command of the page succeeds, in order, on the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    write_files(page)
    commands = [line for language, _, content in blocks(page) if language == "sh" for line in content.splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "awk":
            subprocess.run(command, shell=True, check=True)
            continue
        assert program == "pubplan"
        answer = cli(*arguments)
        assert answer.code == 0, f"{command}\n{answer.err}"


def test_access_logs_become_events(tmp_path: Path, monkeypatch) -> None:
    """The page's recipe takes paths, times with their zone and sizes; what is no request has no topic, but a line."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "how-to" / "traces.md"
    write_files(page)
    (command,) = re.findall(r"^awk .*", page.read_text(), flags=re.MULTILINE)
    with open("access.log", "a") as log:
        log.write('192.0.2.8 - - [28/Feb/2026:23:59:59 -0730] "-" 408 0\n')
        log.write('192.0.2.8 - - [01/Jun/2026:00:00:00 +0000] "GET /a b HTTP/1.1" 400 0\n')
    subprocess.run(command, shell=True, check=True)
    assert Path("requests.tsv").read_text().splitlines() == [
        "topic\ttimestamp\tsize",
        "/feeds/abba\t2026-03-01T10:00:00+0000\t180",
        "/feeds/abba\t2026-03-01T12:30:00+0100\t191",
        "/feeds/ewf\t2026-12-31T12:00:00+0000\t",
        "\t2026-02-28T23:59:59-0730\t",
        "\t2026-06-01T00:00:00+0000\t400",
    ]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: page.stem)
def test_python_runs_as_it_stands(page: Path, tmp_path: Path, monkeypatch) -> None:
    """What the page claims in Python holds, on the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    write_files(page)
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
