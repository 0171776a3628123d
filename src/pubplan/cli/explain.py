"""``pubplan explain``: why a plan does with one thing what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pubplan.cli.options import Conf, Json, Master, PlanPath, Quiet


def explain(
    plan: PlanPath,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic", metavar="ID", help="Why is this topic served, or not, and where? How does it get to everybody?"
        ),
    ] = None,
    subscriber: Annotated[
        str | None, typer.Option("--subscriber", metavar="ID", help="Why is this subscriber satisfied, or not?")
    ] = None,
    vm: Annotated[
        str | None, typer.Option("--vm", metavar="N", help="What does this VM carry, and could it be spared?")
    ] = None,
    node: Annotated[str | None, typer.Option("--node", metavar="ID", help="Why has this node so many links?")] = None,
    link: Annotated[
        str | None, typer.Option("--link", metavar="ID,ID", help="Why are these nodes linked, and what goes this way?")
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload", metavar="DIR", help="The workload it was made for, if it is no longer where it was."
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Explain one decision of a plan in numbers."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.errors import InputError, one_line
    from pubplan.planning import check_answers, check_fresh, read_plan
    from pubplan.problems import family_named, problem_of
    from pubplan.workload import read_workload

    read = read_plan(plan)
    read.check()
    family = family_named(read.family)
    named = {"topic": topic, "subscriber": subscriber, "vm": vm, "node": node, "link": link}
    asked = {kind: name for kind, name in named.items() if name is not None}
    if len(asked) != 1:
        kinds = " or ".join(f"--{kind}" for kind in family.explain)
        raise InputError(f"Name one thing to explain: {kinds}.")
    kind, name = next(iter(asked.items()))
    if kind not in family.explain:
        raise InputError(f"Plans of {family.name} explain {', '.join(family.explain)}, not {kind}.")
    place = workload or read.workload_path()
    if place is None:
        raise InputError(f"{plan} does not know where its workload is: pass --workload.")
    opened = read_workload(place)
    check_fresh(read, opened)
    problem = problem_of(read, opened)
    check_answers(family, problem, read)
    with showing_progress(quiet), maybe_spark(master, conf, len(opened.interests_blocks)) as spark:
        found = family.explain[kind](problem, read, name, spark)
    answer(dict(found.facts), "\n".join(one_line(line, longest=1000) for line in found.sentences), json)
