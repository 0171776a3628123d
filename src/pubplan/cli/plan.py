"""The command of every family, made from its request: options, help and the way from a workload to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import (
    Check,
    Conf,
    Json,
    Master,
    NoVerify,
    ParameterFile,
    PlanOut,
    Quiet,
    Replace,
    Seed,
    SetParameter,
    WorkloadPath,
)
from pubplan.cli.signature import REQUIRED, with_signature
from pubplan.errors import InputError
from pubplan.planning.request import FLAG, IDS, Option, Request

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Family, Method, Result
    from pubplan.workload import Workload

AFTER_METHOD = {"set_": (SetParameter, None)}
SHARED = {
    "parameters": (ParameterFile, None),
    "no_verify": (NoVerify, False),
    "check": (Check, False),
    "seed": (Seed, 0),
    "replace": (Replace, False),
    "quiet": (Quiet, False),
    "json": (Json, False),
    "master": (Master, None),
    "conf": (Conf, None),
}


GRACE_SECONDS = 5.0
"""How long a method may take to stop early, once its time is over."""


def request_of(family: str) -> type[Request[Any]]:
    """The requests of a family, without what it takes to answer them."""
    request: type[Request[Any]] = import_module(f"pubplan.problems.{family}.request").Request
    return request


def plan_command(family: str) -> Callable[..., None]:
    """The function behind ``pubplan <family>``; its signature has the options of the family's requests."""
    request_type = request_of(family)

    def command(workload: Path, out: Path | None, **given: Any) -> None:
        shared = {name: given.pop(name) for name in (*AFTER_METHOD, *SHARED)}
        _plan(request_type, workload, out, given, **shared)

    options = {name: _annotated(name, described) for name, described in request_type.options().items()}
    method = list(options).index("method") + 1
    ordered = {
        "workload": (WorkloadPath, REQUIRED),
        "out": (PlanOut, None),
        **dict(list(options.items())[:method]),
        **AFTER_METHOD,
        **dict(list(options.items())[method:]),
        **SHARED,
    }
    return with_signature(command, family, request_type.__doc__, ordered)


def _annotated(name: str, described: Option) -> tuple[Any, Any]:
    """An option as Typer takes it. All values are text: the request reads them, as it reads those of a file."""
    flag = f"--{name.replace('_', '-')}"
    if described.reader is FLAG:
        return Annotated[bool, typer.Option(flag, help=described.help)], False
    kind: Any = list[str] | None if described.repeats else str | None
    return Annotated[kind, typer.Option(flag, metavar=described.metavar, help=described.help)], None


def _plan(
    request_type: type[Request[Any]],
    workload: Path,
    out: Path | None,
    given: Mapping[str, Any],
    *,
    set_: list[str] | None,
    parameters: Path | None,
    no_verify: bool,
    check: bool,
    seed: int,
    replace: bool,
    quiet: bool,
    json: bool,
    master: str | None,
    conf: list[str] | None,
) -> None:
    """Answer a request. Everything that can be refused is refused before Spark is started."""
    from pubplan.cli.interruption import limited
    from pubplan.cli.show import answer
    from pubplan.engine import PLANNING, time_limited
    from pubplan.files import check_disjoint, check_free
    from pubplan.planning import PLAN, solve_problem
    from pubplan.problems import family_named
    from pubplan.text import duration
    from pubplan.workload import read_workload

    family = family_named(request_type.family)
    request = _read_request(request_type, family, parameters, given)
    limit = request.time_limit
    if limit is not None and not limit > 0:
        raise InputError("--time-limit must be longer than 0 seconds.")
    if request.is_comparison:
        if out is not None:
            raise InputError("A comparison writes no plan: leave out --out, or ask for one plan.")
        request = _with_parameters(request, family.named_method(request.comparison_method), set_)
        opened = read_workload(workload)
        overtime = f"The table was not complete after {duration(limit or 0)} (--time-limit)."
        with limited(limit, overtime), _session(opened, check, quiet, master, conf) as spark:
            rows, lines = request.compare(opened, seed, spark)
        answer(rows, "\n".join(lines), json)
        return
    if out is not None:
        check_disjoint(out, workload)
        check_free(out, marker=PLAN, replace=replace)
    opened = read_workload(workload)
    problem = request.problem(opened)
    problem.check()
    method = family.method_for(problem, request.method)
    request = _with_parameters(request, method, set_)
    family.bounds_for(problem, request.bound)
    overtime = f"{method.name} had no plan after {duration(limit or 0)} (--time-limit). {family.early_stopping}"
    # A method that stops early gets a little longer to do so; its plan is then bounded and verified in any case.
    until, seconds = (PLANNING, _plus(limit, GRACE_SECONDS)) if method.stops_early else (None, limit)
    with limited(seconds, overtime, until), _session(opened, check, quiet, master, conf) as spark:
        with time_limited(limit):
            problem = request.refine(problem, method, seed, spark)
        result = solve_problem(
            family,
            problem,
            method.name,
            parameters=request.method_parameters(method),
            seed=seed,
            bound=request.bound,
            out=out,
            replace=replace,
            verify=not no_verify,
            time_limit=limit if method.stops_early else None,
            spark=spark,
        )
        summary = request.summarise(problem, result, spark)
    facts = {**result.plan.record, **summary.facts, "path": None if out is None else str(out)}
    answer(facts, "\n".join([*summary.sentences, _last_sentence(result, out)]), json)


def _plus(limit: float | None, more: float) -> float | None:
    return None if limit is None else limit + more


def _read_request(
    request_type: type[Request[Any]], family: Family[Any, Any], path: Path | None, given: Mapping[str, Any]
) -> Request[Any]:
    """What the command line gives, which wins, and what the family's table of the parameter file gives."""
    from pubplan.planning import read_table

    methods, values, source = tuple(family.methods), {}, ""
    if path is not None:
        values, source = read_table(path, family.name), f"{path}, table [{family.name}]: "
    options = request_type.options()
    expanded = {name: _expanded(value) if options[name].reader is IDS else value for name, value in given.items()}
    return request_type.from_mapping(values, methods=methods, source=source).with_values(expanded)


def _expanded(ids: list[str] | None) -> list[str] | None:
    """Ids as they are; behind an @, those in the lines of a file."""
    expanded: list[str] = []
    for name in ids or []:
        if not name.startswith("@"):
            expanded.append(name)
            continue
        try:
            expanded += [line for line in Path(name[1:]).read_text(encoding="utf-8").splitlines() if line]
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The list {name[1:]} cannot be read: {error}.") from error
    return expanded or None


def _with_parameters(request: Request[Any], method: Method[Any, Any, Any], given: list[str] | None) -> Request[Any]:
    """The request with what ``--set`` gives for the method; refuses parameters that the method does not take."""
    from pubplan.cli.parameters import parse_settings
    from pubplan.planning import make_parameters

    settings = parse_settings(method, given or [])
    options = request.options()
    for name in settings:
        if name in options and options[name].of_method and getattr(request, name) is not None:
            raise InputError(f"{name} is given twice.")
    table = {**request.parameters.get(method.name, {}), **settings}
    request = replace(request, parameters={**request.parameters, method.name: table})
    make_parameters(method.parameters, request.method_parameters(method), f"method {method.name}")
    return request


@contextmanager
def _session(
    workload: Workload, check: bool, quiet: bool, master: str | None, conf: list[str] | None
) -> Iterator[SparkSession | None]:
    """Progress, Spark where it was asked for or pays, and the workload checked if that was asked for."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark

    with showing_progress(quiet), maybe_spark(master, conf, workload.num_blocks) as spark:
        if check:
            workload.check(spark)
        yield spark


def _last_sentence(result: Result, out: Path | None) -> str:
    """Whether the plan was verified, and where it is."""
    state = "Verified" if result.plan.record["verified"] else "NOT verified"
    if out is None:
        return f"{state}. Nothing was kept: pass --out DIR to keep the plan."
    return f"{state}. Plan written to {out}"
