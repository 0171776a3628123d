"""Workloads of topics and of subscribers that are interested in them."""

from pubplan.workload.kinds import register_kind
from pubplan.workload.topic.build import build_workload
from pubplan.workload.topic.csr import Csr, Interests
from pubplan.workload.topic.describe import TopicDescription, describe_topics
from pubplan.workload.topic.from_tables import workload_from_tables
from pubplan.workload.topic.kind import TOPIC
from pubplan.workload.topic.subscribers import (
    ALL_EVENTS,
    MAX_THRESHOLD,
    SubscriberBlock,
    SubscriberReader,
    Threshold,
    checked_threshold,
    effective_thresholds,
    unit_weights,
    with_all_events,
)
from pubplan.workload.topic.tables import DEFAULT_MESSAGE_BYTES
from pubplan.workload.topic.totals import TopicCounts, TopicTotals
from pubplan.workload.topic.workload import TopicWorkload
from pubplan.workload.topic.writer import finish_workload, write_interests_block

register_kind(TOPIC)

__all__ = [
    "ALL_EVENTS",
    "DEFAULT_MESSAGE_BYTES",
    "MAX_THRESHOLD",
    "TOPIC",
    "Csr",
    "Interests",
    "SubscriberBlock",
    "SubscriberReader",
    "Threshold",
    "TopicCounts",
    "TopicDescription",
    "TopicTotals",
    "TopicWorkload",
    "build_workload",
    "checked_threshold",
    "describe_topics",
    "effective_thresholds",
    "finish_workload",
    "unit_weights",
    "with_all_events",
    "workload_from_tables",
    "write_interests_block",
]
