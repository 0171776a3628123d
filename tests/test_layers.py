"""The house rules of DESIGN: who may import whom, and which library lives where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "pubplan"

LAYERS = [
    {"errors"},
    {"engine", "kernels"},
    {"workload"},
    {"pipeline", "generate", "planning"},
    {"problems"},
    {"reproduce", "report"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

ALLOWED_ONLY_IN = {
    "pyspark": ("engine/", "pipeline/"),
    "numba": ("kernels/", "problems/*/kernels*.py"),
    "typer": ("cli/",),
    "rich": ("cli/",),
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, with names imported from packages spelt out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(path: Path) -> str | None:
    relative = path.relative_to(PACKAGE)
    name = relative.parts[0].removesuffix(".py")
    return None if name == "__init__" else name


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_to_the_left(path: Path) -> None:
    """A module imports its own layer's package and layers to its left, nothing else of pubplan."""
    here = layer_of(path)
    if here is None:
        return  # the package itself loads the public names
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "pubplan" and len(parts) > 1 and parts[1] in LEVEL and parts[1] != here:
            assert LEVEL[parts[1]] < LEVEL[here], f"{path.relative_to(PACKAGE)} imports {module}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_libraries_stay_in_their_layers(path: Path) -> None:
    """Spark, Numba and the terminal libraries are imported only where they belong."""
    relative = path.relative_to(PACKAGE)
    for module in imports(path):
        homes = ALLOWED_ONLY_IN.get(module.split(".")[0])
        if homes is not None:
            fits = [str(relative).startswith(home) if home.endswith("/") else relative.match(home) for home in homes]
            assert any(fits), f"{relative} imports {module}"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.glob("problems/*/verify*.py")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_verifiers_share_no_code_with_what_they_check(path: Path) -> None:
    """verify.py, and what it is divided into, imports no kernel, no method and no bound."""
    shared = {"problem", "plan", "__init__", *(p.stem for p in path.parent.glob("verify*.py"))}
    methods = {p.stem for p in path.parent.glob("*.py")} - shared
    for module in imports(path):
        parts = module.split(".")
        assert parts[:2] != ["pubplan", "kernels"], module
        if parts[:2] == ["pubplan", "problems"]:
            assert not methods & set(parts[3:]), module


def test_families_do_not_know_each_other() -> None:
    """A family imports no other family."""
    for path in PACKAGE.glob("problems/*/*.py"):
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] == ["pubplan", "problems"] and len(parts) > 2:
                assert parts[2] == path.parent.name, f"{path} imports {module}"


def test_only_the_command_line_prints() -> None:
    """Nothing outside cli/ prints, exits or configures logging."""
    forbidden = {"print", "exit", "basicConfig"}
    for path in sources():
        if layer_of(path) == "cli":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", None))
                assert name not in forbidden, f"{path.relative_to(PACKAGE)} calls {name}"


def test_every_folder_has_its_layer() -> None:
    """A new folder must be given a place in the layers."""
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(LEVEL)
