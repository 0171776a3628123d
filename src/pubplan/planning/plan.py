"""Plans on disk: ``plan.json``, the decisions, the certificates, and how they are written and opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from pubplan.arguments import function
from pubplan.engine import block_name, map_blocks, read_block, read_parquet, write_block, write_parquet
from pubplan.errors import InputError, VerificationFailed, Violation, unknown_name
from pubplan.files import OwnedDirectory, digest_table, digest_value, file_sha256, read_json_object, write_json
from pubplan.planning.record import KEYS, is_exact, record_trouble
from pubplan.planning.registry import Method
from pubplan.planning.values import BlockTable, Certificate, Draft, Exact, Problem, gap, tightest
from pubplan.text import percent_up

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

FORMAT = "pubplan-plan/1"
PLAN = "plan.json"
RUN = "run.json"
TRAJECTORY = "trajectory.parquet"


def headline(record: Mapping[str, Any]) -> str:
    """A plan in half a line: family, method, objective with its unit, bound and gap."""
    text = f"{record['family']} by {record['method']}, {record['objective']:,.6g} {record['unit']}"
    if record["bound"] is not None:
        text += f", bound {record['bound']:,.6g}"
    return text if record["gap"] is None else f"{text}, gap {percent_up(record['gap'])}"


@dataclass(frozen=True, repr=False)
class Plan:
    """A plan directory, opened: ``record`` is its plan.json."""

    path: Path
    record: Mapping[str, Any]
    keeper: OwnedDirectory | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        state = "verified" if self.record["verified"] else "not verified"
        return f"Plan('{self.path}': {headline(self.record)}, {state})"

    @property
    def family(self) -> str:
        """The name of the family whose question it answers."""
        return str(self.record["family"])

    @property
    def method(self) -> str:
        """The name of the method that made it."""
        return str(self.record["method"])

    @property
    def digest(self) -> str:
        """The digest of everything the plan says."""
        return str(self.record["digest"])

    @property
    def exact(self) -> Exact:
        """The objective as an integer over a scale."""
        return Exact(**self.record["exact"])

    @overload
    def decisions(self) -> tuple[str, ...]: ...

    @overload
    def decisions(self, table: str, schema: pa.Schema | None = None) -> pa.Table: ...

    def decisions(self, table: str | None = None, schema: pa.Schema | None = None) -> tuple[str, ...] | pa.Table:
        """A table of decisions, with topics, subscribers and nodes by number; without a name, the names of the tables.

        :func:`pubplan.export` gives the same with ids.

        Args:
            schema: the columns that it must have.

        Raises:
            InputError: there is no such table, it cannot be read, or it does not have the columns of ``schema``.

        >>> plan.decisions()
        ('served',)
        >>> plan.decisions("served").to_pylist()
        [{'topic': 1, 'topic_id': 'news', 'cost': 9}]
        """
        parts = (Path(name).parts for name in self.record["files"] if name.startswith("decisions/"))
        tables = tuple(dict.fromkeys(names[1].removesuffix(".parquet") for names in parts))
        if table is None:
            return tables
        if table not in tables:
            raise InputError(f"{self.path}: " + unknown_name("table of decisions", table, tables))
        num_blocks = self.num_decision_blocks(table)
        if num_blocks:
            return pa.concat_tables(self.decisions_block(table, block, schema) for block in range(num_blocks))
        read = read_parquet(self.path / "decisions" / f"{table}.parquet")
        return self._checked(f"the decisions '{table}' are damaged", read, schema)

    def decisions_block(self, table: str, block: int, schema: pa.Schema | None = None) -> pa.Table:
        """One block of a table of decisions that is written in blocks; raises as :meth:`decisions`."""
        read = read_block(self.path / "decisions" / table, block)
        return self._checked(f"the decisions '{table}' are damaged", read, schema)

    def num_decision_blocks(self, table: str) -> int:
        """How many blocks a table of decisions has."""
        return sum(name.startswith(f"decisions/{table}/") for name in self.record["files"])

    def _checked(self, damage: str, table: pa.Table, expected: pa.Schema | None) -> pa.Table:
        if expected is None:
            return table
        if not table.schema.equals(expected) or any(column.null_count for column in table.columns):
            columns, needed = (", ".join(f"{f.name} {f.type}" for f in schema) for schema in (table.schema, expected))
            raise InputError(f"{self.path}: {damage}; the columns are {columns}, expected {needed}, without nulls.")
        return table

    def certificate(self, name: str) -> Certificate:
        """A certificate as it was written, without its blocks.

        Raises:
            InputError: it is missing or damaged.
        """
        path = self.path / "certificate" / f"{name}.json"
        if not path.is_file():
            raise InputError(f"{self.path} claims the bound '{name}' but has no {path.relative_to(self.path)}.")
        raw = read_json_object(path)
        if raw.keys() != {"bound", "evidence"} or not is_exact(raw["bound"]) or not isinstance(raw["evidence"], dict):
            raise InputError(f"{path} is damaged: it must hold an exact bound and its evidence.")
        return Certificate(name, Exact(**raw["bound"]), raw["evidence"])

    def certificate_block(self, name: str, table: str, block: int, schema: pa.Schema | None = None) -> pa.Table:
        """One block of a table of evidence.

        Raises:
            InputError: it cannot be read, or does not have the columns of ``schema``.
        """
        folder = f"{name}-{table}"
        read = read_block(self.path / "certificate" / folder, block)
        return self._checked(f"the evidence '{folder}' is damaged", read, schema)

    def trajectory(self) -> pa.Table | None:
        """The decisions in the order of choice, if the method has one."""
        path = self.path / TRAJECTORY
        return read_parquet(path) if path.is_file() else None

    def workload_path(self) -> Path | None:
        """Where the workload was when the plan was made, if the plan still knows."""
        path = self.path / RUN
        workload = read_json_object(path).get("workload") if path.is_file() else None
        return Path(workload) if isinstance(workload, str) else None

    def changed_files(self) -> list[str]:
        """The files that no longer hold what they held when the plan was written."""
        expected: Mapping[str, str] = self.record["files"]
        names = list(expected)
        hashes = map_blocks(lambda number: file_sha256(self.path / names[number]), len(names))
        return [name for name, sha256 in zip(names, hashes, strict=True) if sha256 != expected[name]]

    def check(self) -> None:
        """Compare files and statements with their hashes.

        Raises:
            VerificationFailed: something was changed since the plan was written.
        """
        changed = self.changed_files()
        if changed or self.content_digest() != self.digest:
            where = changed[0] if changed else PLAN
            raise VerificationFailed(f"{self.path} was changed since it was written.", [Violation("changed", where)])

    def content_digest(self) -> str:
        """The digest of what the plan says, recomputed from its files."""
        certificates = {
            name: read_json_object(self.path / "certificate" / f"{name}.json") for name in self.record["bounds"]
        }
        return _content_digest(self.record, self.table_digests(), certificates)

    def table_digests(self) -> dict[str, str]:
        """The digests of all tables, by file: of what they hold, not of how that is encoded."""
        names = [name for name in self.record["files"] if name.endswith(".parquet")]
        digests = map_blocks(lambda number: digest_table(read_parquet(self.path / names[number])), len(names))
        return dict(zip(names, digests, strict=True))


def write_plan(
    directory: Path,
    family: str,
    problem: Problem,
    method: Method[Any, Any, Any],
    parameters: Mapping[str, Any],
    seed: int,
    draft: Draft,
    certificates: tuple[Certificate, ...],
    spark: SparkSession | None = None,
) -> Plan:
    """Write everything but the verdict into ``directory``; plan.json says ``"verified": false`` until it is known."""
    tables: dict[str, pa.Table] = {}
    in_blocks: dict[str, BlockTable] = {}
    for name, decided in draft.decisions.items():
        if isinstance(decided, BlockTable):
            in_blocks[f"decisions/{name}"] = decided
        else:
            tables[f"decisions/{name}.parquet"] = decided
    for certificate in certificates:
        in_blocks |= {f"certificate/{certificate.name}-{name}": table for name, table in certificate.blocks.items()}
    if draft.trajectory is not None:
        tables[TRAJECTORY] = draft.trajectory
    for name in ("decisions", "certificate"):
        (directory / name).mkdir()
    for name, table in tables.items():
        write_parquet(directory / name, table)
    digests = {name: digest_table(table) for name, table in tables.items()}
    for name, blocks in in_blocks.items():
        written = _write_blocks(directory / name, blocks, spark)
        digests |= {f"{name}/{block_name(block)}": digest for block, digest in enumerate(written)}
    evidence = {c.name: {"bound": c.bound.to_dict(), "evidence": dict(c.evidence)} for c in certificates}
    for name, content in evidence.items():
        write_json(directory / "certificate" / f"{name}.json", content)

    safe = Exact.rounded_up if problem.sense == "max" else Exact.rounded_down
    bounds = {certificate.name: certificate.bound for certificate in certificates}
    bound = tightest(bounds, problem.sense)
    files = sorted([*digests, *(f"certificate/{name}.json" for name in evidence)])
    record: dict[str, Any] = {
        "format": FORMAT,
        "family": family,
        "method": method.name,
        "parameters": {**problem.to_parameters(), **parameters},
        "seed": seed,
        "workload": {"kind": problem.workload.kind, "digest": problem.workload.digest},
        "sense": problem.sense,
        "objective": float(draft.claimed),
        "bound": None if bound is None else safe(bound),
        "gap": gap(draft.claimed, bound),
        "unit": problem.unit,
        "exact": draft.claimed.to_dict(),
        "bounds": {name: safe(value) for name, value in bounds.items()},
        "verified": False,
        "deterministic": draft.deterministic,
        "reasons": [reason.to_dict() for reason in draft.reasons],
        "files": {name: file_sha256(directory / name) for name in files},
    }
    record["digest"] = _content_digest(record, digests, evidence)
    write_json(directory / PLAN, record)
    return Plan(Path(os.path.abspath(directory)), record)  # tasks run in other directories


def _write_blocks(directory: Path, blocks: BlockTable, spark: SparkSession | None) -> Iterator[str]:
    """Write a table block by block and give the digest of each."""
    make = blocks.make

    def write(block: int) -> str:
        table = make(block)
        write_block(directory, block, table)
        return digest_table(table)

    return map_blocks(write, blocks.num_blocks, spark)


def _content_digest(
    record: Mapping[str, Any], tables: Mapping[str, str], certificates: Mapping[str, Mapping[str, Any]]
) -> str:
    """Over everything the plan says, not over how its files are encoded or whether it was verified yet."""
    said = {key: record[key] for key in KEYS if key not in ("verified", "files", "digest")}
    contents = {name: tables[name] for name in sorted(tables)}
    return digest_value({"said": said, "tables": contents, "certificates": dict(certificates)})


def read_plan(path: str | Path) -> Plan:
    """Open a plan directory and check that it is complete; :meth:`Plan.check` tells whether it is unchanged.

    Args:
        path: the plan directory.

    Raises:
        InputError: it is no plan, damaged or incomplete.

    >>> pubplan.read_plan("plan").method
    'greedy-fb3m'
    """
    directory = Path(path)
    if not directory.is_dir():
        raise InputError(f"There is no plan directory {directory}.")
    if not (directory / PLAN).is_file():
        is_workload = (directory / "manifest.json").is_file()
        advice = f" It is a workload: look at it with {function('describe')}." if is_workload else ""
        raise InputError(f"{directory} is not a plan: it has no {PLAN}.{advice}")
    record = read_json_object(directory / PLAN)
    if record.get("format") != FORMAT:
        raise InputError(f"{directory / PLAN} has format {record.get('format')!r}; this version reads {FORMAT!r}.")
    trouble = record_trouble(record)
    if trouble:
        raise InputError(f"{directory / PLAN} is damaged: {trouble}.")
    present = {str(file.relative_to(directory)) for file in directory.rglob("*") if file.is_file()} - {PLAN, RUN}
    expected = set(record["files"])
    if present != expected:
        wrong = sorted(present ^ expected)
        kind = "is incomplete: it lacks" if wrong[0] in expected else "holds a file that plan.json does not list:"
        raise InputError(f"{directory} {kind} {wrong[0]}.")
    return Plan(Path(os.path.abspath(directory)), record)  # tasks run in other directories
