"""What is planned for: tables on disk, their manifest, and interests as CSR in memory."""

from pubplan.workload.build import build_workload
from pubplan.workload.csr import Csr, Interests
from pubplan.workload.manifest import MANIFEST, Block, Counts, Manifest, Totals, Window
from pubplan.workload.rows import MAX_THRESHOLD, RowReader, Rows, checked_threshold, satisfying, unit_weights
from pubplan.workload.tables import Int32Array, Int64Array, numbered_ids, topic_lists
from pubplan.workload.workload import Workload, read_workload
from pubplan.workload.writer import finish_workload, write_interests_block

__all__ = [
    "MANIFEST",
    "MAX_THRESHOLD",
    "Block",
    "Counts",
    "Csr",
    "Int32Array",
    "Int64Array",
    "Interests",
    "Manifest",
    "RowReader",
    "Rows",
    "Totals",
    "Window",
    "Workload",
    "build_workload",
    "checked_threshold",
    "finish_workload",
    "numbered_ids",
    "read_workload",
    "satisfying",
    "topic_lists",
    "unit_weights",
    "write_interests_block",
]
