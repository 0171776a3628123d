"""``pubplan describe``: a workload in numbers."""

from __future__ import annotations

from pubplan.cli.options import Conf, Json, Master, Quiet, WorkloadPath


def describe(
    workload: WorkloadPath,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Describe a workload: how its interests and rates, or its subscriptions, sites and candidates, are distributed."""
    from pubplan.api import describe as run
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import parse_conf
    from pubplan.cli.show import answer

    with showing_progress(quiet):
        description = run(workload, master=master, conf=parse_conf(conf or []))
    answer(description.to_dict(), str(description), json)
