"""Words that mean five things each, or that nobody would write, stay out of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "scripts")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__)
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

RETIRED_NAMES = {"found", "told", "place", "places", "stood", "own", "aside"}
"""Names of variables, arguments, functions and attributes: CONTRIBUTING.md says what to write instead."""

RETIRED_PHRASES = ("so many", "dearer", "dearest", "unless told", "called otherwise", "is to be had")


def names_in(tree: ast.AST) -> set[str]:
    """The names that code binds, takes or reads."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def by_path(path: Path) -> str:
    return str(path.relative_to(ROOT))


def phrases_in(text: str) -> list[str]:
    """The retired phrases of a text, also where a line ends inside them."""
    words = {phrase: r"\s+".join(phrase.split()) for phrase in RETIRED_PHRASES}
    return [phrase for phrase, pattern in words.items() if re.search(rf"\b{pattern}\b", text)]


@pytest.mark.parametrize("path", SOURCES, ids=by_path)
def test_retired_words_stay_retired(path: Path) -> None:
    """No name and no sentence uses a word that CONTRIBUTING.md has a better one for, in code or in tests."""
    text = path.read_text()
    assert names_in(ast.parse(text)) & RETIRED_NAMES == set()
    assert phrases_in(text) == []


@pytest.mark.parametrize("path", PAGES, ids=by_path)
def test_retired_phrases_stay_out_of_the_docs(path: Path) -> None:
    """Pages say it in the same words."""
    assert phrases_in(path.read_text()) == []


def test_retired_words_are_seen() -> None:
    """A name wherever it is bound, a phrase across lines."""
    assert names_in(ast.parse("def told(own): self.place = found")) & RETIRED_NAMES == {"told", "own", "place", "found"}
    assert phrases_in("Up to so\n    many topics") == ["so many"]
    assert phrases_in("also many") == []
