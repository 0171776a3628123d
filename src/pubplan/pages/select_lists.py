"""Topics that a plan of ``select`` serves, and those that most subscribers want and it does not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pubplan.pages.frame import Sheet
from pubplan.pages.lists import MAX_ROWS, top
from pubplan.pages.select_charts import unit_of_costs
from pubplan.planning import Plan
from pubplan.problems.select import FAMILY, SERVED
from pubplan.workload import Int64Array, TopicWorkload


def topics_served(plan: Plan, workload: TopicWorkload | None) -> list[Sheet]:
    """The topics that bring most; without a trajectory those that cost most."""
    served = FAMILY.read_decisions(plan, SERVED)
    topics, costs = served["topic"].to_numpy(), served["cost"].to_numpy()
    brought = _brought(plan, topics)
    key = costs if brought is None else brought
    first = np.lexsort((topics, -key))[:MAX_ROWS]
    header = ["topic", f"cost in {unit_of_costs(plan)}"]
    columns = [served["topic_id"].take(pa.array(first)).to_pylist(), [f"{costs[at]:,}" for at in first]]
    if brought is not None:
        header.append("satisfied more")
        columns.append([f"{brought[at]:,.1f}" for at in first])
    if workload is not None:
        for name, title in (("subscribers", "subscribers"), ("rate", "events per window")):
            values = workload.topic_array(name)[topics]
            header.append(title)
            columns.append([f"{values[at]:,}" for at in first])
    order = "that cost most" if brought is None else "that brought most when they were chosen"
    caption = f"The topics {order}, of {served.num_rows:,} that are served."
    return top("Topics served", caption, header, list(zip(*columns, strict=True)), served.num_rows)


def topics_not_served(plan: Plan, workload: TopicWorkload | None) -> list[Sheet]:
    """The topics with most subscribers that are not served; nothing without the workload."""
    if workload is None:
        return []
    is_served = np.zeros(workload.counts.topics, dtype=bool)
    is_served[FAMILY.read_decisions(plan, SERVED)["topic"].to_numpy()] = True
    subscribers, rates = workload.topic_array("subscribers"), workload.topic_array("rate")
    missing = np.flatnonzero(~is_served & (subscribers > 0))
    first = missing[np.argsort(-subscribers[missing], kind="stable")][:MAX_ROWS]
    ids = workload.topics("topic_id")["topic_id"].take(pa.array(first)).to_pylist()
    rows = [
        [name, f"{subscribers[topic]:,}", f"{rates[topic]:,}", f"{rates[topic] * subscribers[topic]:,}"]
        for name, topic in zip(ids, first.tolist(), strict=True)
    ]
    return top(
        "Topics not served that most subscribers want",
        f"By their number of subscribers, of {len(missing):,} that somebody wants and that are not served. "
        "'pubplan explain PLAN --topic ID' says why.",
        ["topic", "subscribers", "events per window", "deliveries per window"],
        rows,
        len(missing),
    )


def _brought(plan: Plan, topics: Int64Array) -> npt.NDArray[np.float64] | None:
    """What each of the served topics, ascending, added to the objective; the first choice also what was there."""
    trajectory = plan.trajectory()
    if trajectory is None or trajectory.num_rows != len(topics):
        return None
    gains = np.diff(trajectory["satisfied"].to_numpy(), prepend=0.0)
    by_topic: npt.NDArray[np.float64] = gains[np.argsort(trajectory["topic"].to_numpy(), kind="stable")]
    return by_topic
