"""From raw traces to workloads, as Spark tasks over pieces of their files."""

from pubplan.pipeline.clean import REASONS, TimeWindow
from pubplan.pipeline.describe import Description, describe
from pubplan.pipeline.ingest import Ingest, ingest
from pubplan.pipeline.source import Source

__all__ = ["REASONS", "Description", "Ingest", "Source", "TimeWindow", "describe", "ingest"]
