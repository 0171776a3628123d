"""The public functions around ``solve``: what Python programs call, and what the commands of the same names run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.api.answers import describe as describe
    from pubplan.api.answers import diff as diff
    from pubplan.api.answers import explain as explain
    from pubplan.api.ingestion import SOURCES as SOURCES
    from pubplan.api.ingestion import ingest as ingest
    from pubplan.api.ingestion import ingest_content as ingest_content
    from pubplan.api.opening import AnyPlan as AnyPlan
    from pubplan.api.opening import AnyWorkload as AnyWorkload
    from pubplan.api.opening import OpenedPlan as OpenedPlan
    from pubplan.api.opening import open_plan as open_plan
    from pubplan.api.opening import plan_of as plan_of
    from pubplan.api.opening import workload_of as workload_of
    from pubplan.api.outputs import ExportedFile as ExportedFile
    from pubplan.api.outputs import Page as Page
    from pubplan.api.outputs import TableExport as TableExport
    from pubplan.api.outputs import export as export
    from pubplan.api.outputs import open_export as open_export
    from pubplan.api.outputs import report as report

_NAMES = {
    "answers": ("describe", "diff", "explain"),
    "ingestion": ("SOURCES", "ingest", "ingest_content"),
    "opening": ("AnyPlan", "AnyWorkload", "OpenedPlan", "open_plan", "plan_of", "workload_of"),
    "outputs": ("ExportedFile", "Page", "TableExport", "export", "open_export", "report"),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "SOURCES",
    "AnyPlan",
    "AnyWorkload",
    "ExportedFile",
    "OpenedPlan",
    "Page",
    "TableExport",
    "describe",
    "diff",
    "explain",
    "export",
    "ingest",
    "ingest_content",
    "open_export",
    "open_plan",
    "plan_of",
    "report",
    "workload_of",
]
