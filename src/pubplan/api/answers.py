"""Questions about workloads and plans that exist: ``describe``, ``explain`` and ``diff``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from pubplan import workload as workloads
from pubplan.api.opening import AnyPlan, AnyWorkload, open_plan, plan_of, workload_of
from pubplan.api.session import maybe_spark
from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.planning import Diff, Explanation, Plan, diff_plans
from pubplan.problems import family_named
from pubplan.workload import Description, Workload, read_workload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


def describe(
    workload: AnyWorkload,
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Description:
    """Describe a workload: how subscribers per topic, topics per subscriber, rates and deliveries are distributed.

    Args:
        workload: a workload, or its directory.
        spark: a session to count on; without one, Spark is started only for big workloads.
        master: starts Spark at this master URL, and stops it in the end.
        conf: Spark settings for that.

    Returns:
        Counts and distributions; ``print`` shows them on one screen, a notebook as a table.

    Raises:
        InputError: it is not a workload, or a table cannot be read.

    >>> description = pubplan.describe(workload)
    >>> description
    TopicDescription(3 topics, 4 subscribers, 6 interests)
    >>> description.subscribers_per_topic.largest
    3
    """
    opened = workload if isinstance(workload, Workload) else read_workload(workload)
    with maybe_spark(master, conf, opened.num_blocks, spark) as session:
        return workloads.describe(opened, session)


def explain(
    plan: AnyPlan,
    *,
    topic: str | None = None,
    subscriber: str | None = None,
    vm: int | str | None = None,
    node: str | None = None,
    link: str | tuple[str, str] | None = None,
    client: str | None = None,
    broker: str | None = None,
    channel: int | str | None = None,
    workload: AnyWorkload | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Explanation:
    """Explain one decision of a plan in numbers: name one topic, subscriber, VM, node, link, client,
    broker or channel.

    Args:
        plan: a plan, a result, or a plan directory.
        topic: the id of a topic: why it is served or not, where it is placed, how its overlay looks.
        subscriber: the id of a subscriber: what it receives, and from where.
        vm: the number of a VM: what it carries.
        node: the id of a node: what its links are for.
        link: the ids of two nodes or brokers that are linked: what goes this way.
        client: the id of a client: which brokers could serve it, and at what cost.
        broker: the id of a broker: what it lets through or forwards, and for whom.
        channel: the number of a channel: who publishes and wants it, and along which tree it goes.
        workload: the workload it was made for, if that is no longer where it was.
        spark: a session to compute on; without one, Spark is started only for big workloads.
        master: starts Spark at this master URL, and stops it in the end.
        conf: Spark settings for that.

    Returns:
        ``facts`` by name, and the same in ``sentences``, which ``print`` shows.

    Raises:
        InputError: not exactly one thing is named, plans of this family do not explain it, or it does not exist.
        StalePlan: the workload is another one than the plan was made for.
        VerificationFailed: the plan was changed since it was written.

    >>> print(pubplan.explain(plan, subscriber="bob"))
    bob receives 3 of the 3 events it needs per window (100.0 %), from 1 of its 2 topics.
    It is satisfied.
    """
    read = plan_of(plan)
    read.check()
    family = family_named(read.family)
    ends = ",".join(link) if isinstance(link, tuple) else link
    given = {
        "topic": topic,
        "subscriber": subscriber,
        "vm": vm,
        "node": node,
        "link": ends,
        "client": client,
        "broker": broker,
        "channel": channel,
    }
    asked = {kind: str(name) for kind, name in given.items() if name is not None}
    if len(asked) != 1:
        raise InputError(f"Name one thing to explain: {' or '.join(map(argument, family.explain))}.")
    kind, name = next(iter(asked.items()))
    if kind not in family.explain:
        raise InputError(f"Plans of {family.name} explain {', '.join(family.explain)}, not {kind}.")
    opened = open_plan(read, workload_of(read, workload))
    with maybe_spark(master, conf, opened.workload.num_blocks, spark) as session:
        return family.explain[kind](opened.problem, read, name, session)


def diff(old: AnyPlan, new: AnyPlan) -> Diff:
    """Compare two plans of one family: what they say, and which decisions change.

    Decisions are compared by ids, so the plans may be for different workloads.

    Args:
        old: a plan, a result, or a plan directory.
        new: another one of the same family.

    Returns:
        ``statements`` that changed, as (old, new), and by table the ids ``added`` and ``dropped``; ``print`` shows
        them, the weightiest decisions first, a notebook shows a table.

    Raises:
        InputError: one is not a plan, or they are of different families.
        VerificationFailed: one was changed since it was written.

    >>> other = pubplan.select.solve(pubplan.select.Problem(workload, capacity=11, threshold=3))
    >>> changes = pubplan.diff(plan, other)
    >>> changes
    Diff(5 statements changed; served: 1 added, 0 dropped, 1 kept)
    >>> changes.decisions["served"].added
    ('chess',)
    """
    before, after = plan_of(old), plan_of(new)
    before.check()
    after.check()
    changes = diff_plans(family_named(before.family), before, after)
    return replace(changes, asked=_asked_otherwise(before, after))


def _asked_otherwise(old: Plan, new: Plan) -> dict[str, tuple[str, str]]:
    """What was asked of two plans of a family differently, in the words of their pages."""
    asked = import_module(f"pubplan.pages.{old.family}").asked
    before, after = asked(old), asked(new)
    labels = dict.fromkeys((*before, *after))
    return {
        label: (before.get(label, "none"), after.get(label, "none"))
        for label in labels
        if before.get(label) != after.get(label)
    }
