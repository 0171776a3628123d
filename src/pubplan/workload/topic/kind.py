"""The kind of workload that is about topics."""

from __future__ import annotations

from pubplan.workload.kinds import Kind
from pubplan.workload.topic.describe import describe_topics
from pubplan.workload.topic.totals import TopicCounts, TopicTotals, count_blocks
from pubplan.workload.topic.workload import TopicWorkload

TOPIC = Kind(
    name="topic",
    tables=("topics", "interests"),
    row_table="interests",
    counts=TopicCounts,
    totals=TopicTotals,
    sizes=count_blocks,
    open=TopicWorkload,
    describe=describe_topics,
)
