"""What if thresholds or capacities were others? A table of what each would satisfy, without a plan being written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pubplan.planning import case_lines, check_values, gap, make_parameters, tightest, try_questions
from pubplan.problems.select.family import FAMILY
from pubplan.problems.select.plan import SERVED
from pubplan.problems.select.problem import Problem, cost_unit
from pubplan.text import number_down, number_up, percent, percent_up
from pubplan.workload import Threshold, TopicWorkload

if TYPE_CHECKING:
    from pubplan.engine import SparkSession


@dataclass(frozen=True)
class Case:
    """One row: what was asked, and what a plan for it satisfies, or why there is none.

    ``capacity`` is as it was asked; ``capacity_cost``, ``capacity_used`` and ``total_cost`` are in ``capacity_unit``.

    >>> case = pubplan.select.what_if(workload, capacities=[9, 19], thresholds=[3])[0]
    >>> case.capacity, case.topics_served, case.satisfied
    (9, 1, 3.0)
    """

    threshold: Threshold
    capacity: str | int
    capacity_cost: int | None = None
    capacity_used: int | None = None
    total_cost: int | None = None
    capacity_unit: str | None = None
    topics_served: int | None = None
    satisfied: float | None = None
    satisfiable: int | None = None
    unit: str | None = None
    bound: float | None = None
    gap: float | None = None
    refused: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON."""
        share = self.satisfied / self.satisfiable if self.satisfied is not None and self.satisfiable else None
        return {**asdict(self), "satisfied_share": share}


def what_if(
    workload: TopicWorkload,
    *,
    capacities: Sequence[str | int],
    thresholds: Sequence[Threshold] = (None,),
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    bound: str | None = None,
    seed: int = 0,
    spark: SparkSession | None = None,
    **other: Any,
) -> list[Case]:
    """A row for every threshold and capacity, in this order: what ``solve`` would plan, and the bound it would state.

    Args:
        workload: what is planned for.
        capacities: as ``Problem`` takes them.
        thresholds: as ``Problem`` takes them.
        method: the same for all; None is the default one.
        parameters: those of the method, by name.
        bound: what to prove the answers with; None is the default one.
        seed: of what the method draws at random.
        spark: a session to run passes over the workload on; None runs them in this process.
        other: what else a problem takes, such as ``objective``.

    Raises:
        InputError: a value is out of range, or there is nothing to try.
        NotApplicable: the method or the bound does not hold for one of the problems.

    >>> [case.satisfied for case in pubplan.select.what_if(workload, capacities=[9, 19], thresholds=[3])]
    [3.0, 4.0]
    """
    check_values(thresholds=thresholds, capacities=capacities)
    asked: dict[Threshold, Problem] = {}

    def ask(question: tuple[Threshold, str | int]) -> Problem:
        threshold, capacity = question
        if threshold not in asked:
            asked.clear()  # what was read for another threshold is not needed any more
            asked[threshold] = Problem(workload, capacity, threshold, **other)
            return asked[threshold]
        return asked[threshold].at_capacity(capacity)

    def answer(problem: Problem) -> Iterator[Case]:
        chosen = FAMILY.method_for(problem, method)
        checked: Any = make_parameters(chosen.parameters, parameters or {}, f"method {chosen.name}")
        bounds = FAMILY.bounds_for(problem, bound)
        draft = chosen.run(problem, checked, seed, spark)
        certificates = draft.certificates
        for wanted in bounds:
            if all(certificate.name != wanted.name for certificate in certificates):
                certificates += wanted.run(problem, draft, spark)
        best = tightest({certificate.name: certificate.bound for certificate in certificates}, problem.sense)
        served: Any = draft.decisions[SERVED]
        yield Case(
            threshold=problem.threshold,
            capacity=problem.capacity,
            capacity_cost=problem.capacity_cost,
            capacity_used=sum(served["cost"].to_pylist()),
            total_cost=problem.total_cost,
            capacity_unit=cost_unit(problem.cost),
            topics_served=served.num_rows,
            satisfied=draft.claimed.rounded_down(),
            satisfiable=problem.total_weight,
            unit=problem.unit,
            bound=None if best is None else best.rounded_up(),
            gap=gap(draft.claimed, best),
        )

    questions = [(threshold, capacity) for threshold in thresholds for capacity in capacities]
    return try_questions(questions, ask, answer, lambda question, reason: [Case(*question, refused=reason)])


def comparison_lines(cases: Sequence[Case]) -> list[str]:
    """The cases under each other; those without a plan say why below."""
    header = ["threshold", "capacity", "per window", "satisfied", "", "no plan more than", "gap", "topics served"]
    units = sorted({case.capacity_unit for case in cases if case.capacity_unit})
    counted = sorted({case.unit for case in cases if case.unit})
    lines = case_lines(header, ((_asked(case), case.refused or _answered(case)) for case in cases))
    if units:
        lines.append(f"Capacities are {' or '.join(units)}; satisfied are {' or '.join(counted)}.")
    return lines


def _asked(case: Case) -> list[str]:
    threshold = "its own" if case.threshold is None else case.threshold
    return [f"{number:,}" if isinstance(number, int) else str(number) for number in (threshold, case.capacity)]


def _answered(case: Case) -> list[str]:
    assert case.satisfied is not None
    assert case.capacity_cost is not None
    return [
        f"{case.capacity_cost:,}",
        number_down(case.satisfied),
        percent(case.satisfied / case.satisfiable) if case.satisfiable else "all",
        "" if case.bound is None else number_up(case.bound),
        "" if case.gap is None else percent_up(case.gap),
        f"{case.topics_served:,}",
    ]
