"""The functions ``solve`` and ``verify`` of a family, with their own signatures and help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pubplan.planning.plan import Plan
from pubplan.planning.registry import Family
from pubplan.planning.solve import Result, solve_problem
from pubplan.planning.values import Problem, Verdict
from pubplan.planning.verify import verify_plan

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

P_contra = TypeVar("P_contra", bound=Problem, contravariant=True)


class Solve(Protocol[P_contra]):
    """Plan, bound, verify and write: :func:`pubplan.planning.solve_problem` of one family."""

    def __call__(
        self,
        problem: P_contra,
        method: str | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        seed: int = 0,
        bound: str | None = None,
        out: str | Path | None = None,
        replace: bool = False,
        verify: bool = True,
        time_limit: float | None = None,
        spark: SparkSession | None = None,
    ) -> Result: ...


class Verify(Protocol[P_contra]):
    """Evaluate a plan afresh: :func:`pubplan.planning.verify_plan` of one family."""

    def __call__(self, problem: P_contra, plan: Plan, spark: SparkSession | None = None) -> Verdict: ...


def solve_function(family: Family[P_contra, Any]) -> Solve[P_contra]:
    """The ``solve`` of a family."""
    solve: Solve[P_contra] = _bound_to(family, solve_problem, "solve")
    return solve


def verify_function(family: Family[P_contra, Any]) -> Verify[P_contra]:
    """The ``verify`` of a family."""
    verify: Verify[P_contra] = _bound_to(family, verify_plan, "verify")
    return verify


def _bound_to(family: Family[Any, Any], function: Callable[..., Any], name: str) -> Any:
    """A function whose first argument is the family, without that argument.

    Unlike a partial it has a name, a docstring and a signature, which ``help`` and notebooks show.
    """
    call = partial(function, family)

    def bound(*arguments: Any, **options: Any) -> Any:
        return call(*arguments, **options)

    full_signature = inspect.signature(function)
    parameters = list(full_signature.parameters.values())[1:]
    bound.__signature__ = full_signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    bound.__name__, bound.__qualname__, bound.__doc__ = name, name, function.__doc__
    bound.__module__ = f"pubplan.problems.{family.name}"
    return bound
