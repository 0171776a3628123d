"""The kind of workload that is about content."""

from __future__ import annotations

from pubplan.workload.content.describe import describe_content
from pubplan.workload.content.totals import ContentCounts, ContentTotals, count_blocks
from pubplan.workload.content.workload import ContentWorkload
from pubplan.workload.kinds import Kind

CONTENT = Kind(
    name="content",
    tables=("clients", "brokers", "sites"),
    row_table="clients",
    counts=ContentCounts,
    totals=ContentTotals,
    sizes=count_blocks,
    open=ContentWorkload,
    describe=describe_content,
    optional_tables=("links", "density"),
    details=("space", "units"),
)
