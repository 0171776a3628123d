"""From raw traces to workloads, as Spark tasks over pieces of their files."""

from pubplan.pipeline.clean import REASONS, TimeWindow
from pubplan.pipeline.content import (
    AttributeColumns,
    ContentIngest,
    DistancePrices,
    Grid,
    content_source,
    ingest_content,
    parse_cells,
)
from pubplan.pipeline.ingest import Ingest, ingest
from pubplan.pipeline.source import Source

__all__ = [
    "REASONS",
    "AttributeColumns",
    "ContentIngest",
    "DistancePrices",
    "Grid",
    "Ingest",
    "Source",
    "TimeWindow",
    "content_source",
    "ingest",
    "ingest_content",
    "parse_cells",
]
