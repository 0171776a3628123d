"""Plans for people and other programs: ``report`` writes a page, ``export`` tables with ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import overload

import pyarrow as pa

from pubplan.api.opening import AnyPlan, AnyWorkload, open_plan, plan_of, workload_of
from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.files import check_disjoint, check_free_file
from pubplan.planning import Plan, Result, export_format, whole_file, write_export
from pubplan.problems import family_named
from pubplan.workload import MANIFEST, Workload, read_workload


@dataclass(frozen=True)
class Page:
    """A page that was written: where it is, and how big."""

    path: Path
    num_bytes: int

    def _repr_html_(self) -> str:
        """A link to the page, for notebooks."""
        return f'<a href="{escape(str(self.path))}">{escape(str(self.path))}</a>'


@dataclass(frozen=True)
class ExportedFile:
    """A table that was written to a file: where it is, and how many rows it has."""

    path: Path
    num_rows: int


@dataclass(frozen=True)
class TableExport:
    """A table of a plan with ids instead of numbers, ready to be made.

    Attributes:
        pieces: makes the table anew, piece by piece.
    """

    plan: Plan
    workload: Workload
    schema: pa.Schema
    pieces: Callable[[], Iterator[pa.Table]]

    def read(self) -> pa.Table:
        """The whole table."""
        pieces = (piece.cast(self.schema) for piece in self.pieces())
        return pa.concat_tables([self.schema.empty_table(), *pieces])

    def write(self, out: Path, form: str, *, replace: bool) -> ExportedFile:
        """The table as a file, which appears when it is whole; ``form`` is one of ``EXPORT_FORMATS``.

        Raises:
            InputError: ``out`` exists and is not to be replaced, or lies in the plan or the workload.
        """
        check_disjoint(out, self.plan.path, self.workload.path)
        check_free_file(out, replace=replace)
        with whole_file(out) as handle:
            return ExportedFile(out, write_export(self.pieces(), self.schema, form, handle))


def open_export(plan: AnyPlan, table: str | None, workload: AnyWorkload | None = None) -> TableExport:
    """A table of a plan that is unchanged, for its workload.

    Raises:
        InputError: plans of this family have no such table, or the workload is not there.
        StalePlan: the workload is another one than the plan was made for.
        VerificationFailed: the plan was changed since it was written.
    """
    read = plan_of(plan)
    exports = family_named(read.family).exports
    if table is None:
        raise InputError(f"Name a table with {argument('table')}: plans of {read.family} have {', '.join(exports)}.")
    if table not in exports:
        raise InputError(unknown_name(f"table of {read.family}", table, exports))
    opened = open_plan(read, workload_of(read, workload))
    read.check()
    exported = exports[table]
    return TableExport(read, opened.workload, exported.schema, lambda: exported.pieces(opened.problem, read))


@overload
def export(plan: AnyPlan, table: str | None = None, *, workload: AnyWorkload | None = None) -> pa.Table: ...


@overload
def export(
    plan: AnyPlan,
    table: str | None = None,
    *,
    out: str | Path,
    format: str | None = None,
    workload: AnyWorkload | None = None,
    replace: bool = False,
) -> ExportedFile: ...


def export(
    plan: AnyPlan,
    table: str | None = None,
    *,
    out: str | Path | None = None,
    format: str | None = None,
    workload: AnyWorkload | None = None,
    replace: bool = False,
) -> pa.Table | ExportedFile:
    """A table of a plan with ids of topics, subscribers and nodes instead of numbers, in memory or as a file.

    Args:
        plan: a plan, a result, or a plan directory.
        table: such as ``"served"``, ``"placements"`` or ``"links"``; without it, the refusal lists the tables.
        out: a file to write, block by block; None gives the table as Arrow.
        format: of the file: csv, json (an object per line) or parquet; None goes by the ending of ``out``.
        workload: the workload it was made for, if that is no longer where it was.
        replace: overwrite the file at ``out``.

    Returns:
        An Arrow table, of which ``to_pandas()`` and ``polars.from_arrow`` make theirs; with ``out`` the file and its
        number of rows.

    Raises:
        InputError: there is no such table, no format is known by the name of the file, or it exists.
        StalePlan: the workload is another one than the plan was made for.
        VerificationFailed: the plan was changed since it was written.

    >>> pubplan.export(plan, "served").to_pylist()
    [{'topic_id': 'news', 'rate': 3, 'subscribers': 3, 'cost': 9}]
    >>> pubplan.export(plan, "served", out="served.csv")
    ExportedFile(path=PosixPath('served.csv'), num_rows=1)
    """
    if out is None:
        return open_export(plan, table, workload).read()
    form = export_format(format, Path(out))
    return open_export(plan, table, workload).write(Path(out), form, replace=replace)


def report(
    sources: AnyPlan | AnyWorkload | Sequence[AnyPlan | AnyWorkload], out: str | Path, *, replace: bool = False
) -> Page:
    """Write plans and workloads as one self-contained HTML page that opens offline.

    Args:
        sources: one or several plans, results and workloads, or their directories, in any order; also JSON files of
            what-if tables.
        out: the page.
        replace: overwrite a page that pubplan wrote.

    Returns:
        The path of the page and its size; a notebook shows a link.

    Raises:
        InputError: ``out`` exists, or one of the sources is none of these.
        VerificationFailed: a plan was changed since it was written.

    >>> pubplan.report([plan, workload], "page.html").path
    PosixPath('page.html')
    """
    from pubplan.pages import check_page, write_page  # charts, which exports need not wait for

    page = Path(out)
    given = [sources] if isinstance(sources, (Plan, Result, Workload, str, Path)) else list(sources)
    check_disjoint(page, *map(_path_of, given))
    check_page(page, replace)
    plans, workloads, comparisons = [], [], []
    for source in given:
        if isinstance(source, Workload):
            workloads.append(source)
        elif isinstance(source, (Plan, Result)):
            plans.append(plan_of(source))
        elif Path(source).is_file():
            comparisons.append(Path(source))
        elif (Path(source) / MANIFEST).is_file():
            workloads.append(read_workload(source))
        else:
            plans.append(plan_of(source))
    for plan in plans:
        plan.check()
        family_named(plan.family)
    return Page(page, write_page(plans, page, workloads=workloads, comparisons=comparisons, replace=replace))


def _path_of(source: AnyPlan | AnyWorkload) -> Path:
    if isinstance(source, (Plan, Workload)):
        return source.path
    return source.plan.path if isinstance(source, Result) else Path(source)
