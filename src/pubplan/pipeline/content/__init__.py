"""From clients, brokers, sites and messages to content workloads."""

from pubplan.pipeline.content.columns import AttributeColumns, content_source
from pubplan.pipeline.content.grid import Grid, parse_cells
from pubplan.pipeline.content.ingest import ingest_content
from pubplan.pipeline.content.job import ContentIngest
from pubplan.pipeline.content.prices import DistancePrices

__all__ = [
    "AttributeColumns",
    "ContentIngest",
    "DistancePrices",
    "Grid",
    "content_source",
    "ingest_content",
    "parse_cells",
]
