"""``pubplan explain``: why a plan decides about one thing as it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pubplan.cli.options import Conf, Json, Master, PlanPath, Quiet, WorkloadOption
from pubplan.cli.plan import request_of
from pubplan.cli.signature import REQUIRED, with_signature
from pubplan.problems import FAMILIES

SHARED: Mapping[str, tuple[Any, Any]] = {
    "workload": (WorkloadOption, None),
    "quiet": (Quiet, False),
    "json": (Json, False),
    "master": (Master, None),
    "conf": (Conf, None),
}


def explain_command() -> Callable[..., None]:
    """The function behind ``pubplan explain``: an option for every kind of thing that a family explains."""

    def command(plan: Path, **given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED}
        _explain(plan, given, **shared)

    ordered = {"plan": (PlanPath, REQUIRED), **_options(), **SHARED}
    return with_signature(command, "explain", "Explain one decision of a plan in numbers.", ordered)


def _options() -> dict[str, tuple[Any, Any]]:
    """An option per kind of thing; where several families explain it, the help has a question of each."""
    questions: dict[str, list[str]] = {}
    metavars: dict[str, str] = {}
    for family in FAMILIES:
        for kind, explainable in request_of(family).explainables.items():
            questions.setdefault(kind, []).append(f"{explainable.help} ({family})")
            metavars[kind] = explainable.metavar
    return {
        kind: (Annotated[str | None, typer.Option(f"--{kind}", metavar=metavars[kind], help=" ".join(asked))], None)
        for kind, asked in questions.items()
    }


def _explain(
    plan: Path,
    given: Mapping[str, str | None],
    *,
    workload: Path | None,
    quiet: bool,
    json: bool,
    master: str | None,
    conf: list[str] | None,
) -> None:
    from pubplan.api import explain
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import parse_conf
    from pubplan.cli.show import answer

    with showing_progress(quiet):
        explanation = explain(plan, **given, workload=workload, master=master, conf=parse_conf(conf or []))
    answer(dict(explanation.facts), str(explanation), json)
