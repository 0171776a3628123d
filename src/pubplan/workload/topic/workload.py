"""A topic workload: topics with their rates, and the topics that every subscriber is interested in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubplan.errors import InputError, unknown_name
from pubplan.text import counted
from pubplan.workload.manifest import Block
from pubplan.workload.tables import Int64Array
from pubplan.workload.topic.csr import Interests, read_csr
from pubplan.workload.topic.tables import OPTIONAL_INTERESTS, OPTIONAL_TOPICS, TOPICS
from pubplan.workload.topic.totals import TopicCounts, TopicTotals, add_totals
from pubplan.workload.workload import Workload

if TYPE_CHECKING:
    from pubplan.engine import DataFrame, SparkSession


class TopicWorkload(Workload):
    """A workload of topics and subscribers, opened."""

    @property
    def counts(self) -> TopicCounts:
        counts = self.manifest.counts
        assert isinstance(counts, TopicCounts)
        return counts

    @property
    def totals(self) -> TopicTotals:
        totals = self.manifest.totals
        assert isinstance(totals, TopicTotals)
        return totals

    @property
    def interests_blocks(self) -> tuple[Block, ...]:
        return self.manifest.blocks["interests"]

    def summary(self) -> str:
        """Topics, subscribers and interests, and what serving all of them takes."""
        counts = self.counts
        return (
            f"{counted(counts.topics, 'topic')}, {counted(counts.subscribers, 'subscriber')}, "
            f"{counted(counts.pairs, 'interest')}; serving everything costs "
            f"{self.totals.cost:,} deliveries per window"
        )

    def recompute_totals(self) -> TopicTotals:
        return add_totals(*map(self.topic_array, ("rate", "subscribers", "message_bytes")))

    @cached_property
    def optional_columns(self) -> frozenset[str]:
        """Which of ``threshold`` and ``weight`` the interests have."""
        return self.column_names("interests") & frozenset(OPTIONAL_INTERESTS)

    @cached_property
    def optional_topic_columns(self) -> frozenset[str]:
        """Which optional columns the topics have: ``cost`` or none."""
        return self.column_names("topics") & frozenset(OPTIONAL_TOPICS)

    def topics(self, *columns: str) -> pa.Table:
        """The topics in ascending order: all columns, or those named.

        Raises:
            InputError: there is no such column; says which there are.
        """
        directory = self.path / "topics"
        schema = pa.schema([*TOPICS, *(OPTIONAL_TOPICS[name] for name in sorted(self.optional_topic_columns))])
        names = columns or schema.names
        for name in names:
            if name not in schema.names:
                raise InputError(unknown_name(f"column of {directory}", name, schema.names))
        try:
            return pa.concat_tables([schema.empty_table().select(names), *self.blocks("topics", *names)])
        except pa.ArrowInvalid as error:
            raise InputError(f"{directory} has other columns than a workload: {error}") from error

    def topic_array(self, column: str) -> Int64Array:
        """One integer column of the topics, by topic."""
        return np.asarray(self.topics(column)[column], dtype=np.int64)

    def subscriber_array(self, column: str) -> Int64Array:
        """One integer column of the interests, by subscriber."""
        return self.column("interests", column)

    def subscriber_ids(self) -> pa.Array:
        """The ids of all subscribers, by number."""
        return self.ids("interests", "subscriber_id")

    def topic_number(self, topic_id: str) -> int:
        """The dense number of a topic.

        Raises:
            InputError: there is no such topic.
        """
        topic = int(pc.index(self.topics("topic_id")["topic_id"], topic_id).as_py())
        if topic < 0:
            raise InputError(f"{self.path} has no topic {topic_id!r}.")
        return topic

    def find_subscriber(self, subscriber_id: str, spark: SparkSession | None = None) -> tuple[int, int]:
        """The block of a subscriber, and its row there.

        Raises:
            InputError: there is no such subscriber.
        """
        row = self.find_id("interests", "subscriber_id", subscriber_id, spark)
        if row is None:
            raise InputError(f"{self.path} has no subscriber {subscriber_id!r}.")
        return row

    def interests_block(self, block: int, *columns: str) -> pa.Table:
        """One block of the interests: all columns, or those named."""
        return self.block("interests", block, *columns)

    def csr(self) -> Interests:
        """Both directions of the interests as NumPy arrays.

        Raises:
            EngineError: they do not fit into memory; says how much they need.
        """
        return read_csr(self.path, self.counts, self.interests_blocks, self.topic_array("subscribers"))

    def interests_frame(self, spark: SparkSession) -> DataFrame:
        """The interests as a Spark DataFrame."""
        return spark.read.parquet(str(self.path.resolve() / "interests"))
