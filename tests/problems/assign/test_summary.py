"""What is measured of an assignment, and what the sentences say of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from oracles.assign_example import ASKED, dense, example, tree
from oracles.forge import forge

from pubplan.errors import InputError
from pubplan.planning import Result
from pubplan.problems.assign import Problem, copies, measures_of, solve
from pubplan.problems.assign.summary import summarise


def sentences(result: Result) -> tuple[str, ...]:
    problem = result.problem
    assert isinstance(problem, Problem)
    return tuple(summarise(problem, result).sentences)


def test_the_worked_example(tmp_path: Path) -> None:
    """3 + 4 of 12 steps; two clients each; everybody is served the shortest way."""
    result = solve(Problem(example(tmp_path / "workload"), **ASKED), "gr-star")
    measures = measures_of(result.problem, result.plan)
    assert (measures.bandwidth, measures.scale, measures.by_level, measures.boxes) == (7, 1, (7,), 2)
    assert (measures.loads, measures.limits, measures.load_factor) == ((2, 2), (2, 2), 1)
    assert (measures.delays, measures.largest_delay, measures.rms_delay) == ((4,), 0.0, 0.0)
    assert copies(result.problem, 7) == pytest.approx(7 / 12)
    assert "No assignment needs less bandwidth." in sentences(result)


def test_inner_brokers_count(tmp_path: Path) -> None:
    """One box of hub holds 0 to 3 and 8 to 12: 12 steps, and the 7 of its leaves. 19 / 12 brokers per event."""
    result = solve(Problem(tree(tmp_path / "workload"), **ASKED), "gr-star")
    measures = measures_of(result.problem, result.plan)
    assert (measures.bandwidth, measures.by_level, measures.leaves) == (19, (12, 7), 2)
    assert sentences(result)[1] == (
        "An event anywhere in the space goes into 1.59 of 3 brokers on average (19 grid steps of all filters)."
    )


def test_messages_count_where_there_are_some(tmp_path: Path) -> None:
    """0 to 3 holds 3 / 4 of 8 messages and 8 to 12 all 4: 10 of 12. South holds none of the messages of 4 to 8."""
    result = solve(Problem(dense(tmp_path / "workload"), **ASKED), "gr-star")
    assert result.objective == 10
    assert measures_of(result.problem, result.plan).bandwidth == 40
    assert sentences(result)[1] == (
        "A message goes into 0.834 of 2 brokers on average (10 messages into brokers per window)."
    )


def test_weights_count_for_loads(tmp_path: Path) -> None:
    """ann weighs 3: north serves 4 of 6 with bob, which is 4 x 2 / 6 = 4 / 3 of its share, shown rounded up."""
    weights = {"ann": 3, "bob": 1, "carl": 1, "dora": 1}
    workload = example(tmp_path / "workload", {name: {"weight": weight} for name, weight in weights.items()})
    result = solve(Problem(workload, boxes=1, max_delay="0.5"), "gr-star")
    measures = measures_of(result.problem, result.plan)
    assert (measures.loads, measures.load_factor, measures.load_deviation) == ((4, 2), Fraction(4, 3), 1.0)
    assert (
        "The busiest leaf serves 1.3334 times its share of the clients; at most 1.5 was wanted, at most 1.8 is allowed."
        in sentences(result)
    )


def test_what_is_broken_is_said(tmp_path: Path) -> None:
    """The nearest of all: north has ann, bob and dora, 0 to 12; south carl, 8 to 10. 14 is twice the bound of 7."""
    result = solve(Problem(example(tmp_path / "workload"), **ASKED), "closest-unbalanced")
    lines = sentences(result)
    assert "No assignment stays below 0.583 on average: this one is at most 2.0 times that." in lines
    assert lines[-1] == "Broken: 1 leaf broker of 2 is overloaded: north serves 3 clients and may serve 2."


def test_delays_are_counted_by_percent(tmp_path: Path) -> None:
    """carl joins ann on north: 30 us instead of 10 are 200 % longer; the others take no longer. sqrt(4 / 4) is 1."""
    workload = example(tmp_path / "workload", {"carl": {"box": [(0, 2)]}})
    result = solve(Problem(workload, boxes=1, max_delay="0.5", load=2, max_load=2), "gr-no-latency")
    measures = measures_of(result.problem, result.plan)
    assert (measures.delays[0], measures.delays[200], len(measures.delays)) == (3, 1, 201)
    assert (measures.largest_delay, measures.rms_delay) == (2.0, 1.0)
    assert sentences(result)[-1] == "Broken: 1 client of 4 is served later than allowed."


@pytest.mark.parametrize("table", ["decisions/brokers.parquet", "decisions/assignments/00000.parquet"])
def test_damaged_tables_are_refused(tmp_path: Path, table: str) -> None:
    """A row is missing: the sentence names the table."""
    result = solve(Problem(example(tmp_path / "workload"), **ASKED), "gr-star", out=tmp_path / "plan")
    damaged = forge(result.plan, tmp_path / "forged", tables={table: lambda rows: rows.slice(1)})
    with pytest.raises(InputError, match="damaged"):
        measures_of(result.problem, damaged)
