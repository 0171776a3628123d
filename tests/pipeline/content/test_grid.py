"""Numbers go onto grids exactly, rounded outwards; grids are derived from data where none is given."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import InputError
from pubplan.pipeline.content.columns import AttributeColumns
from pubplan.pipeline.content.grid import Grid, check_volume, default_cells, derived_grid, make_space, parse_cells
from pubplan.pipeline.decimals import decimals
from pubplan.workload import MAX_VOLUME

SHORT = st.decimals(-10_000, 10_000, allow_nan=False, allow_infinity=False, places=4)
GRIDS = st.builds(
    Grid,
    SHORT,
    st.sampled_from([Decimal(text) for text in ("0.0001", "0.1", "1", "3", "2.5", "1e2")]),
    st.integers(1, 10**6),
)


@st.composite
def numbers_near(draw: st.DrawFn, grid: Grid) -> str:
    """Numbers on lines, next to lines by the tiniest bit, between them and far away."""
    line = grid.origin + draw(st.integers(-2, grid.steps + 2)) * grid.step
    offset = draw(st.sampled_from(["0", "1e-30", "-1e-30", "0.00005", "-0.3", "1e9", "-1e300", "5e-324", "-0.0"]))
    return str(Decimal(line) + Decimal(offset)) if "e" not in offset else _added(line, offset)


def _added(line: Decimal, offset: str) -> str:
    from decimal import Context

    return str(Context(prec=700).add(line, Decimal(offset)))


@given(st.data())
def test_ranges_are_rounded_outwards_exactly(data: st.DataObject) -> None:
    """The low end goes to the line at or below, the high end to the line at or above; nothing else is ever cut off."""
    grid = data.draw(GRIDS)
    texts = data.draw(st.lists(st.tuples(numbers_near(grid), numbers_near(grid)), min_size=1, max_size=10))
    pairs = [sorted(pair, key=Decimal) for pair in texts]
    lows, highs = (decimals(pa.array(column), grid.digits) for column in zip(*pairs, strict=True))
    low, high = grid.lines(lows, highs)
    outside = grid.is_outside(lows) | grid.is_outside(highs)
    origin, step = Fraction(grid.origin), Fraction(grid.step)
    for row, (first, last) in enumerate(pairs):
        ends = [(Fraction(Decimal(text)) - origin) / step for text in (first, last)]
        assert outside[row] == (ends[0] < 0 or ends[1] > grid.steps)
        if outside[row]:
            continue
        least, most = math.floor(ends[0]), math.ceil(ends[1])
        if least == most:  # a point on a line is the step behind it, on the last line the one before
            least = min(least, grid.steps - 1)
            most = least + 1
        assert (low[row], high[row]) == (least, most)


@given(st.data())
def test_a_value_lies_in_one_step(data: st.DataObject) -> None:
    """Steps are half-open, and the last one also holds the end of the grid."""
    grid = data.draw(GRIDS)
    texts = data.draw(st.lists(numbers_near(grid), min_size=1, max_size=10))
    values = decimals(pa.array(texts), grid.digits)
    for row, step in enumerate(grid.steps_of(values).tolist()):
        exact = (Fraction(Decimal(texts[row])) - Fraction(grid.origin)) / Fraction(grid.step)
        if not grid.is_outside(values)[row]:
            assert step == min(math.floor(exact), grid.steps - 1)


@given(
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Decimal(repr(value))),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Decimal(repr(value))),
    st.integers(1, 10_000),
    st.integers(1, 40),
)
def test_derived_grids_hold_the_data(one: Decimal, other: Decimal, most: int, cells: int) -> None:
    """From the least to the largest value, in steps of 1, 2 or 5 x 10^k, as fine as is allowed."""
    low, high = min(one, other), max(one, other)
    grid = derived_grid(low, high, most, cells)
    origin, step = Fraction(grid.origin), Fraction(grid.step)
    assert origin <= Fraction(low) <= Fraction(high) <= origin + grid.steps * step
    grid.check("x")
    assert (origin / step).denominator == 1
    assert grid.steps % cells == 0
    assert grid.steps <= max(2, most, cells)
    assert grid.step.normalize().as_tuple().digits in ((1,), (2,), (5,))
    if low < high:
        finer = step * (Fraction(2, 5) if grid.step.normalize().as_tuple().digits == (5,) else Fraction(1, 2))
        needed = math.ceil(Fraction(high) / finer) - math.floor(Fraction(low) / finer)
        has_too_many_digits = max(abs(low), abs(high)) / Decimal(str(float(finer))) > 10**16
        assert needed > max(2, cells, most // cells * cells) or has_too_many_digits, "a finer step would fit as well"


def test_a_derived_grid_by_hand() -> None:
    """0 to 100 in at most 1000 steps: steps of 0.1. In 30 cells at most 990, so of 0.2: 500, which is 510 = 17 x 30."""
    assert derived_grid(Decimal(0), Decimal(100), 1000) == Grid(Decimal(0), Decimal("0.1"), 1000)
    assert derived_grid(Decimal(0), Decimal(100), 1000, 30) == Grid(Decimal(0), Decimal("0.2"), 510)
    assert derived_grid(Decimal("7.25"), Decimal("7.25"), 1000) == Grid(Decimal(7), Decimal(1), 1)
    assert derived_grid(Decimal(0), Decimal(0), 1000, 20) == Grid(Decimal(0), Decimal(1), 20)
    assert derived_grid(Decimal("-0.34"), Decimal("0.21"), 20) == Grid(Decimal("-0.35"), Decimal("0.05"), 12)


@pytest.mark.parametrize(
    "text",
    [
        "price",
        "price=",
        "price=0:1",
        "price=0:0:5",
        "price=0:-1:5",
        "price=0:1:0",
        "price=0:1:2.5",
        "price=a:b:c",
        "price=nan:1:5",
        "price=0:inf:5",
        "=0:1:5",
        "price=0:1:1e999999999",
    ],
)
def test_grids_that_are_none(text: str) -> None:
    """The sentence shows how a grid is given."""
    with pytest.raises(InputError, match=r"price=0:0\.5:200"):
        Grid.parse(text)


@pytest.mark.parametrize("text", ["p=0.12345678901234567890:1:5", "p=1e999999999:1:5", "p=0:1e-999999999:5"])
def test_grids_with_too_many_digits(text: str) -> None:
    """Lines must fit 64 bits; absurd exponents cost nothing."""
    with pytest.raises(InputError, match="more than 18 digits"):
        Grid.parse(text)


def test_a_grid_is_written_in_one_way() -> None:
    """However the numbers are given, the workload's digest sees the same."""
    spellings = ["p=-0:0.50:20", "p=0e5:5e-1:2e1", "p=0.000:.5:20"]
    attributes = {Grid.parse(text)[1].attribute("p") for text in spellings}
    assert [(each.origin, each.step, each.steps) for each in attributes] == [("0", "0.5", 20)]


def test_a_grid_too_fine_names_steps_that_fit() -> None:
    """10^8 x 10^8 steps are more than 2^52; twice as wide, 5 x 10^7 squared are 2.5 x 10^15: less."""
    grids = dict(Grid.parse(text) for text in ("a=0:0.001:100000000", "b=-5:1:100000000"))
    with pytest.raises(InputError, match=r"a=0:0\.002:50000000.* .*b=-5:2:50000000") as refusal:
        check_volume(grids)
    fitting = re.findall(r"\b[ab]=[0-9.:-]*[0-9]", str(refusal.value))
    assert len(fitting) == 2
    make_space(dict(Grid.parse(text) for text in fitting), None)
    check_volume({"a": Grid(Decimal(0), Decimal(1), 2**26), "b": Grid(Decimal(0), Decimal(1), 2**26)})
    assert MAX_VOLUME == 2**52


def test_a_single_attribute_too_fine_names_steps_that_fit() -> None:
    """10^12 steps are less than 2^52 but no 32-bit integers; 512 times as wide, 1,953,125,000 are below 2^31 - 1."""
    name, grid = Grid.parse("a=0:1:1000000000000")
    with pytest.raises(
        InputError, match=r"2,147,483,647 for one attribute\. .* 512 times .*a=0:512:1953125000"
    ) as refusal:
        check_volume({name: grid, "b": Grid(Decimal(0), Decimal(1), 5)})
    assert "b=" not in str(refusal.value)
    make_space(dict([Grid.parse(re.findall(r"a=[0-9:]*[0-9]", str(refusal.value))[0])]), None)


def test_cells() -> None:
    """Given as numbers; otherwise the largest number up to a limit that divides the steps."""
    assert parse_cells(["a=20", "b=3"]) == {"a": 20, "b": 3}
    assert [default_cells(steps, 2) for steps in (1000, 17, 19 * 7, 1)] == [20, 17, 19, 1]
    assert default_cells(1000, 16) == 2  # 2^16 cells in all, 3^16 would be 43 million
    for text in ("a", "a=0", "a=x", "=3"):
        with pytest.raises(InputError, match="cells takes NAME=NUMBER"):
            parse_cells([text])


def test_columns_of_attributes() -> None:
    """A range has two columns, a point one; without columns they have the attribute's name."""
    assert AttributeColumns.parse("price=from:to") == AttributeColumns("price", "from", "to")
    assert AttributeColumns.parse("price").client_columns() == {"price_low": "price_low", "price_high": "price_high"}
    assert AttributeColumns.parse("price=p").client_columns() == {"price": "p"}
    for text in ("", "=a:b", "price=", "price=a:", "price=:b", "price=a:b:c"):
        with pytest.raises(InputError, match="attribute takes"):
            AttributeColumns.parse(text)
    with pytest.raises(InputError, match="cannot have the name weight"):
        AttributeColumns.parse("weight")
