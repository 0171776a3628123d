"""The house rules of DESIGN: who may import whom, and which library lives where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "pubplan"

LAYERS = [
    {"arguments"},
    {"errors", "lazy", "quantities", "text"},
    {"files"},
    {"engine", "kernels"},
    {"workload"},
    {"pipeline", "generate", "planning"},
    {"problems"},
    {"reproduce"},
    {"pages"},
    {"api"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

ALLOWED_ONLY_IN = {
    "pyspark": ("engine/", "pipeline/"),
    "numba": ("kernels/", "problems/*/kernels/*.py"),
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


VERIFIERS = sorted(PACKAGE.glob("problems/*/verifier/*.py"))

DATA = {"catalogue.Tier", "catalogue.VmType"}
"""What verifiers import of a family apart from its problem, its tables and each other: records of prices."""

RENDERED = {"undecided_budget"}
"""Functions of plan.py that verifiers call: they put recomputed numbers into the words of a plan."""

DEFINITIONS = {
    "select": {"first_choices", "has_weights", "is_open", "scale", "total_weight"},
    "provision": {"types"},
    "overlay": {"num_nodes", "num_topics"},
    "assign": set(),
    "federate": set(),
}
"""What verifiers read of a problem apart from its fields: what was asked for, in numbers. Methods and bounds read the
same, so nothing may be added that a method or a bound computes an answer with."""

TABLES = {
    "block",
    "blocks",
    "column",
    "column_names",
    "counts",
    "ids",
    "interests_block",
    "interests_blocks",
    "manifest",
    "num_blocks",
    "path",
    "space",
    "subscriber_ids",
    "topic_array",
    "topics",
}
"""What verifiers read of a workload: its tables as they are on disk, and of its manifest the window. What runs kernels
is not among it."""


def by_name(path: Path) -> str:
    return f"{family_of(path)}-{path.stem}"


def family_of(path: Path) -> str:
    """The family that a file is of."""
    return path.relative_to(PACKAGE / "problems").parts[0]


def read_of(tree: ast.AST, name: str) -> set[str]:
    """The attributes that code reads of ``name`` or of ``anything.name``."""
    reads = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in reads if name in (getattr(node.value, "id", ""), getattr(node.value, "attr", ""))}


def fields_of_problem(family: str) -> set[str]:
    """The fields of a family's dataclass ``Problem`` that say what was asked for."""
    tree = ast.parse((PACKAGE / "problems" / family / "problem.py").read_text())
    (problem,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Problem")
    fields = {node.target.id for node in problem.body if isinstance(node, ast.AnnAssign)}  # type: ignore[union-attr]
    return fields - {"instance"}  # the arrays of methods and bounds


def undefined_reads(tree: ast.AST, family: str) -> set[str]:
    """What a verifier reads of a problem or a workload that is no definition."""
    of_problem = read_of(tree, "problem") - fields_of_problem(family) - DEFINITIONS[family]
    return of_problem | (read_of(tree, "workload") - TABLES)


@pytest.mark.parametrize("path", VERIFIERS, ids=by_name)
def test_verifiers_share_no_code_with_what_they_check(path: Path) -> None:
    """What is below verifier/ imports no kernel, no method and no bound."""
    family = PACKAGE / "problems" / family_of(path)
    others = {p.stem for p in family.iterdir()} - {"problem", "plan", "verifier", "__init__"}
    for module in imports(path):
        parts = module.split(".")
        assert parts[:2] != ["pubplan", "kernels"], module
        if parts[:2] == ["pubplan", "problems"] and others & set(parts[3:4]):
            assert module.endswith(tuple(DATA)) or any(name.startswith(f"{parts[-1]}.") for name in DATA), module
        if parts[:2] == ["pubplan", "problems"] and parts[3:4] == ["plan"] and len(parts) > 4:
            assert parts[4].isupper() or parts[4] in RENDERED, module


@pytest.mark.parametrize("path", VERIFIERS, ids=by_name)
def test_verifiers_ask_problems_for_definitions_alone(path: Path) -> None:
    """What a verifier reads of a problem or a workload is a field, a listed definition or a table.

    A method of ``Problem`` that a bound calls too would let the verifier repeat the bound's mistake.
    """
    tree = ast.parse(path.read_text())
    assert undefined_reads(tree, family_of(path)) == set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and ast.unparse(node.annotation or ast.Constant(None)) == "Problem":
            assert node.arg == "problem", f"a Problem is called {node.arg}, which hides what is read of it"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "vars", "replace"):
            assert "problem" not in [getattr(argument, "id", "") for argument in node.args]


def test_shared_computations_are_seen() -> None:
    """A verifier that calls a bound's computation through the problem, or reads interests by kernels, is noticed."""
    leaking = ast.parse("problem.least_cost(floor); self.problem.limit(x); problem.rows(); problem.workload.csr()")
    assert undefined_reads(leaking, "provision") == {"least_cost", "limit", "rows", "csr"}
    assert undefined_reads(ast.parse("problem.threshold + problem.workload.counts.pairs"), "provision") == set()


def test_definitions_are_read_by_verifiers() -> None:
    """Lists of what verifiers may read hold nothing that none of them reads."""
    for family, names in DEFINITIONS.items():
        trees = [ast.parse(path.read_text()) for path in VERIFIERS if family_of(path) == family]
        assert names <= set().union(*(read_of(tree, "problem") for tree in trees)), family


def test_families_do_not_know_each_other() -> None:
    """A family imports no other family."""
    for path in PACKAGE.glob("problems/*/**/*.py"):
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] == ["pubplan", "problems"] and len(parts) > 2:
                assert parts[2] == family_of(path), f"{path} imports {module}"


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
