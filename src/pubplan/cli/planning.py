"""What the commands that make plans share: options from a file, the run, and the last lines of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubplan.engine import SparkSession
    from pubplan.planning import Family, Problem, Result
    from pubplan.workload import Workload


def read_options(
    family: Family, path: Path | None, given: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]
) -> dict[str, Any]:
    """Options from the command line, which wins, and from the family's table of the parameter file.

    Args:
        kinds: the family's options and the types that they may have in the file; method, bound and the methods' own
            tables come on top.
    """
    from pubplan.planning import read_parameters

    known = {**kinds, "method": (str,), "bound": (str,), **dict.fromkeys(family.methods, (dict,))}
    from_file = read_parameters(path, family.name, known) if path is not None else {}
    return from_file | {name: value for name, value in given.items() if value is not None}


@contextmanager
def planning_session(
    workload: Workload, check: bool, quiet: bool, master: str | None, conf: list[str] | None
) -> Iterator[SparkSession | None]:
    """Progress, Spark where it was asked for or pays, and the workload checked if that was asked for."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark

    with showing_progress(quiet), maybe_spark(master, conf, len(workload.interests_blocks)) as spark:
        if check:
            workload.check(spark)
        yield spark


def solve_with(
    family: Family,
    problem: Problem,
    options: Mapping[str, Any],
    *,
    out: Path,
    seed: int,
    replace: bool,
    verify: bool,
    spark: SparkSession | None,
) -> Result:
    """Solve with the method, its parameters and the bound that the options name."""
    from pubplan.planning import solve_problem

    method = family.method_for(problem, options.get("method"))
    return solve_problem(
        family,
        problem,
        method.name,
        parameters=options.get(method.name),
        seed=seed,
        bound=options.get("bound"),
        out=out,
        replace=replace,
        verify=verify,
        spark=spark,
    )


def listed(value: Any) -> list[Any]:
    """Several values: a list of a file, or text with commas of the command line."""
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return list(value) if isinstance(value, list) else [value]


def whole_number(name: str, value: Any) -> int:
    from pubplan.errors import InputError, one_line

    if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,18}", str(value)):
        raise InputError(
            f"--{name} is a whole number, or several with commas between them, not '{one_line(str(value))}'."
        )
    return int(value)


def last_sentence(result: Result, out: Path) -> str:
    """Whether the plan was verified, and where it is."""
    state = "Verified" if result.plan.record["verified"] else "NOT verified"
    return f"{state}. Plan written to {out}"
