"""Words that mean five things each, or that nobody would write, stay out of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "pubplan").rglob("*.py"))

RETIRED_NAMES = {"found", "told", "place", "places", "stood", "own", "aside"}
"""Names of variables, arguments, functions and attributes: CONTRIBUTING.md says what to write instead."""

RETIRED_PHRASES = ("so many", "dearer", "dearest", "unless told", "called otherwise", "is to be had")


def names_in(tree: ast.AST) -> set[str]:
    """The names that code binds, takes or reads."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src" / "pubplan")))
def test_retired_words_stay_retired(path: Path) -> None:
    """No name and no sentence uses a word that CONTRIBUTING.md has a better one for."""
    text = path.read_text()
    assert names_in(ast.parse(text)) & RETIRED_NAMES == set()
    assert [phrase for phrase in RETIRED_PHRASES if re.search(rf"\b{phrase}\b", text)] == []
