"""Linear relaxations of select, solved with HiGHS, whose duals are good multipliers for the Lagrangian bound.

:func:`partial_multipliers` comes from the small one, in which a row is satisfied in part:

    maximise    sum over rows v of w_v f_v + sum over t of a_t x_t
    subject to  f_v <= sum over t of s_vt x_t,  f_v <= 1,  sum over t of cost_t x_t <= capacity,  0 <= x <= 1

with w_v the weight of a row, a_t the weight of the subscribers who want t alone, and s_vt what t satisfies of v.

:class:`HullProgram` describes every row exactly: it combines sets S of topics, each worth its satisfaction u_v(S).

    maximise    sum over rows v and sets S of w_v u_v(S) z_vS + sum over t of a_t x_t
    subject to  sum over S of z_vS <= 1                     for every row v
                sum over S containing t of z_vS <= x_t      for every interest (v, t)
                sum over t of cost_t x_t <= capacity,   0 <= x <= 1

Nothing is relaxed there but that topics may be served in part, so its duals are the best multipliers there are. Sets of
short rows are all there from the start; others enter when the multipliers make them worth more than they pay.

What HiGHS answers is guidance: multipliers to evaluate exactly, topics to try. Nothing is taken on its word.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from pubplan.problems.select.distinct import DistinctRows, StateArray
from pubplan.problems.select.kernels.search import FREE, SERVED, useful_sets
from pubplan.problems.select.kernels.values import FIXED_POINT_ONE
from pubplan.workload import Int64Array

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MAX_LISTED_TOPICS = 6
"""Rows with at most this many topics have all their useful sets from the start."""

MAX_MULTIPLIER = FIXED_POINT_ONE - 1

_FEASIBILITY = 1e-9
_ENTERING_GAIN = 1e-7


class OutOfTime(Exception):
    """The deadline passed during a linear program."""


class NoAnswer(Exception):
    """HiGHS gave up on a linear program, for numerical reasons."""


def partial_multipliers(rows: DistinctRows, capacity: int, deadline: float | None = None) -> Int64Array:
    """Multipliers of the interests, in units of 2^-32, from the relaxation in which rows are satisfied in part.

    Raises:
        OutOfTime: ``deadline`` (of time.monotonic) passed.
        NoAnswer: HiGHS gave up.
    """
    num_topics, num_rows = len(rows.costs), len(rows.needed)
    owner = rows.row_of_entry
    base = rows.satisfaction(np.arange(num_rows), rows.sure)
    share = (rows.satisfaction(owner, rows.sure[owner] + rows.events[rows.topics]) - base[owner]) / FIXED_POINT_ONE
    if rows.is_whole:
        missing = (rows.needed - rows.sure)[owner]
        share = np.minimum(rows.events[rows.topics], missing) / missing
    model = _empty_model(num_topics + num_rows, 1 + num_rows)
    heaviest = _heaviest(rows)
    model.col_cost_ = -np.concatenate([rows.single_weights, rows.weights]) / heaviest
    model.col_upper_ = np.concatenate([np.ones(num_topics), 1.0 - base / FIXED_POINT_ONE])
    largest = max(1, int(rows.costs.max()))
    model.row_upper_ = np.concatenate([[capacity / largest], np.zeros(num_rows)])
    # Row-wise: the capacity has every topic; a row has itself, then minus the shares of its topics.
    sizes = np.diff(rows.offsets) + 1
    starts = np.concatenate([[0], num_topics + np.concatenate([[0], np.cumsum(sizes)])])
    is_itself = np.zeros(int(sizes.sum()), dtype=bool)
    is_itself[np.cumsum(sizes) - sizes] = True
    index, value = np.empty(len(is_itself), dtype=np.int32), np.ones(len(is_itself))
    index[is_itself], index[~is_itself] = num_topics + np.arange(num_rows), rows.topics
    value[~is_itself] = -share
    _fill(
        model,
        starts,
        np.concatenate([np.arange(num_topics), index]),
        np.concatenate([rows.costs / largest, value]),
    )
    highs = _solver()
    highs.passModel(model)
    duals = _solved_duals(highs, deadline)
    return _as_multipliers((duals[1:] * heaviest / rows.weights)[owner] * share)


@dataclass(frozen=True)
class Relaxed:
    """An answer of the program: topics served in part, multipliers in units of 2^-32, and what rows gain after payment.

    The last counts in units of a row's weight, on top of what the row is sure to receive.
    """

    served: FloatArray
    multipliers: Int64Array
    row_gains: FloatArray


class HullProgram:
    """The exact description of some rows, re-solved from its last basis as topics are fixed and sets enter."""

    def __init__(self, rows: DistinctRows, capacity: int, deadline: float | None = None) -> None:
        self._rows = rows
        self._deadline = deadline
        self._owner = rows.row_of_entry
        self._base = rows.satisfaction(np.arange(len(rows.needed)), rows.sure)
        self._known: set[bytes] = set()
        self._heaviest = _heaviest(rows)
        self._highs = _solver()
        self._highs.passModel(self._model(capacity))
        self._enter_short_rows()

    def _model(self, capacity: int) -> highspy.HighsLp:
        """Topics as columns; rows are the capacity, then one per distinct subscriber, then one per interest."""
        rows = self._rows
        num_topics, num_rows, num_entries = len(rows.costs), len(rows.needed), len(rows.topics)
        largest = max(1, int(rows.costs.max()))
        model = _empty_model(num_topics, 1 + num_rows + num_entries)
        model.col_cost_ = -rows.single_weights / self._heaviest
        model.col_upper_ = np.ones(num_topics)
        model.row_upper_ = np.concatenate([[capacity / largest], np.ones(num_rows), np.zeros(num_entries)])
        # Row-wise: the capacity has every topic, a subscriber none yet, an interest minus its topic.
        starts = np.concatenate([[0], np.full(num_rows + 1, num_topics), num_topics + 1 + np.arange(num_entries)])
        _fill(
            model,
            starts,
            np.concatenate([np.arange(num_topics), rows.topics]),
            np.concatenate([rows.costs / largest, -np.ones(num_entries)]),
        )
        return model

    def _enter_short_rows(self) -> None:
        rows, nothing = self._rows, np.empty(0, np.int32)
        arguments = (rows.offsets, rows.topics, rows.events, rows.needed, rows.sure, rows.is_whole, MAX_LISTED_TOPICS)
        count = useful_sets(*arguments, nothing, nothing)
        if not count:
            return
        row, bits = np.empty(count, np.int32), np.empty(count, np.int32)
        useful_sets(*arguments, row, bits)
        member = (bits[:, None] >> np.arange(MAX_LISTED_TOPICS)) & 1 == 1
        column, position = np.nonzero(member)
        self._enter(row.astype(np.int64), column, rows.offsets[row[column]] + position)

    def _enter(self, row: Int64Array, column: Int64Array, entry: Int64Array) -> None:
        """Add a set for each of ``row``: set ``column[i]`` contains the interest ``entry[i]``; columns ascend."""
        rows, num_rows, count = self._rows, len(self._rows.needed), len(row)
        received = rows.sure[row]
        np.add.at(received, column, np.minimum(rows.events[rows.topics[entry]], rows.needed[row[column]]))
        gains = (rows.satisfaction(row, received) - self._base[row]) / FIXED_POINT_ONE
        starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=count) + 1)])
        index = np.empty(starts[-1], dtype=np.int32)
        is_first = np.zeros(starts[-1], dtype=bool)
        is_first[starts[:-1]] = True
        index[is_first], index[~is_first] = 1 + row, 1 + num_rows + entry
        self._highs.addCols(
            count,
            -rows.weights[row] / self._heaviest * gains,
            np.zeros(count),
            np.full(count, highspy.kHighsInf),
            len(index),
            starts[:-1].astype(np.int32),
            index,
            np.ones(len(index)),
        )

    def fix(self, state: StateArray) -> None:
        """Serve, close or free every topic."""
        columns = np.arange(len(state), dtype=np.int32)
        low = (state == SERVED).astype(np.float64)
        high = ((state == SERVED) | (state == FREE)).astype(np.float64)
        self._highs.changeColsBounds(len(state), columns, low, high)

    def solve(self) -> Relaxed:
        """Solve from the last basis on; raises as :func:`partial_multipliers`."""
        rows, num_rows = self._rows, len(self._rows.needed)
        duals = _solved_duals(self._highs, self._deadline) * self._heaviest
        return Relaxed(
            served=np.array(self._highs.getSolution().col_value[: len(rows.costs)]),
            multipliers=_as_multipliers(duals[1 + num_rows :] / rows.weights[self._owner]),
            row_gains=duals[1 : 1 + num_rows] / rows.weights,
        )

    def enter_taken(self, relaxed: Relaxed, worths: Int64Array, taken: BoolArray, state: StateArray) -> int:
        """Add the sets that rows take at the current multipliers and that are worth more than the program knows.

        A set that was taken while topics are served contains these too. Returns how many entered.
        """
        rows = self._rows
        is_better = (worths - self._base) / FIXED_POINT_ONE > relaxed.row_gains + _ENTERING_GAIN
        member = (taken | (state[rows.topics] == SERVED)) & is_better[self._owner]
        entry = np.flatnonzero(member)
        if not len(entry):
            return 0
        owner = self._owner[entry]
        row, start = np.unique(owner, return_index=True)
        is_new = np.empty(len(row), dtype=bool)
        for number, entries in enumerate(np.split(entry, start[1:])):
            key = entries.tobytes()
            is_new[number] = key not in self._known
            self._known.add(key)
        kept = np.flatnonzero(is_new)
        if not len(kept):
            return 0
        column_of_row = np.full(len(rows.needed), -1, dtype=np.int64)
        column_of_row[row[kept]] = np.arange(len(kept))
        column = column_of_row[owner]
        self._enter(row[kept], column[column >= 0], entry[column >= 0])
        return len(kept)


def _heaviest(rows: DistinctRows) -> float:
    """The largest weight, in whose units the programs count, so that coefficients are at most 1."""
    return float(max(1, *(int(weights.max(initial=0)) for weights in (rows.weights, rows.single_weights))))


def _solver() -> highspy.Highs:
    highs = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "simplex"),
        ("primal_feasibility_tolerance", _FEASIBILITY),
        ("dual_feasibility_tolerance", _FEASIBILITY),
    ):
        highs.setOptionValue(option, value)
    return highs


def _empty_model(num_columns: int, num_rows: int) -> highspy.HighsLp:
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = num_columns, num_rows
    model.col_lower_ = np.zeros(num_columns)
    model.row_lower_ = np.full(num_rows, -highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    return model


def _fill(model: highspy.HighsLp, starts: Int64Array, index: Int64Array, value: FloatArray) -> None:
    model.a_matrix_.start_ = starts.astype(np.int32)
    model.a_matrix_.index_ = index.astype(np.int32)
    model.a_matrix_.value_ = value


def _solved_duals(highs: highspy.Highs, deadline: float | None) -> FloatArray:
    """Solve; the prices of the rows. Where the last basis leads nowhere, solve once more without it."""
    for _ in range(2):
        if deadline is not None:
            remaining = max(0.0, deadline - time.monotonic())
            highs.setOptionValue("time_limit", highs.getRunTime() + remaining)  # its clock runs over all solves
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return -np.array(highs.getSolution().row_dual)
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime
        highs.clearSolver()
    raise NoAnswer


def _as_multipliers(prices: FloatArray) -> Int64Array:
    return np.clip(np.rint(prices * FIXED_POINT_ONE), 0, MAX_MULTIPLIER).astype(np.int64)
