"""``pubplan describe``: a workload in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.cli.options import Conf, Json, Master, Quiet, WorkloadPath

if TYPE_CHECKING:
    from pubplan.pipeline import Description


ONE_IN = (2, 10, 100, 1000)


def describe(
    workload: WorkloadPath,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Describe a workload: how followers, followings, rates and deliveries are distributed."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.pipeline import describe as run
    from pubplan.workload import read_workload

    opened = read_workload(workload)
    with showing_progress(quiet), maybe_spark(master, conf, len(opened.interests_blocks)) as spark:
        found = run(opened, spark)
    answer(found.to_dict(), sentences(found), json)


def sentences(found: Description) -> str:
    """A page-wide summary."""
    from pubplan.cli.show import aligned

    counts, window = found.counts, found.window
    lines = [f"{counts['topics']:,} topics, {counts['subscribers']:,} subscribers, {counts['pairs']:,} interests"]
    if window["seconds"] is not None:
        lines.append(f"{window['start']} to {window['end']} ({window['seconds']:,.0f} s)")
    lines.append(f"{found.totals['rate']:,} events, {found.totals['cost']:,} deliveries per window if all is served")
    header = ["have at least", "mean", *(f"1 in {number}" for number in ONE_IN), "largest"]
    rows = [header]
    for name, distribution in (
        ("subscribers per topic", found.followers),
        ("topics per subscriber", found.followings),
        ("events per topic", found.rates),
        ("events per subscriber", found.received),
    ):
        reached = [f"{distribution.reached_by(1 / number):,}" for number in ONE_IN]
        rows.append([name, f"{distribution.mean:,.2f}", *reached, f"{distribution.largest:,}"])
    lines += [
        "",
        *aligned(rows, left=(0,)),
        "",
        f"The most popular 1 % of the topics hold {100 * found.top_share:.1f} % of the interests.",
        f"Mean subscription cardinality: {found.mean_cardinality:.3g} % of all events.",
    ]
    return "\n".join(lines)
