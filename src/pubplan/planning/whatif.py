"""Tables of what several questions would give, without a plan being written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from pubplan.engine import stage
from pubplan.errors import Infeasible, InputError, one_line
from pubplan.planning.registry import P
from pubplan.text import aligned

Question = TypeVar("Question")
Case = TypeVar("Case")


def try_questions(
    questions: Sequence[Question],
    ask: Callable[[Question], P],
    answer: Callable[[P], Iterable[Case]],
    refuse: Callable[[Question, str], Iterable[Case]],
) -> list[Case]:
    """The cases of every question, in their order; where no plan can do what is asked, those that say why.

    Args:
        ask: makes the problem.
        answer: plans for it.
        refuse: the cases of a question that no plan answers, with the reason in one line.
    """
    cases: list[Case] = []
    with stage("trying what if", len(questions)) as advance:
        for question in questions:
            try:
                problem = ask(question)
                problem.check()
            except Infeasible as error:
                cases += refuse(question, "; ".join([error.message.removesuffix("."), *map(str, error.reasons)]))
            else:
                cases += answer(problem)
            advance(1)
    return cases


def check_values(**lists: Sequence[object]) -> None:
    """Refuse a list of values to try that has none.

    Raises:
        InputError: says which.
    """
    for name, values in lists.items():
        if not values:
            raise InputError(f"There is nothing to try: {name} is empty.")


def case_lines(
    header: Sequence[str], cases: Iterable[tuple[Sequence[str], Sequence[str] | str]], left: Collection[int] = ()
) -> list[str]:
    """Cases under each other: what was asked, then the answer; those that are refused say why below the table."""
    rows: list[list[str]] = [list(header)]
    notes: list[str] = []
    for asked, answered in cases:
        cells = [*asked, *answered]
        if isinstance(answered, str):
            notes.append(one_line(f"[{len(notes) + 1}] {answered}", longest=1000))
            cells = [*asked, f"none [{len(notes)}]"]
        rows.append([*cells, *[""] * (len(header) - len(cells))])
    return [*aligned(rows, left), *notes]
