"""How the content space is cut into channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubplan.errors import InputError
from pubplan.problems.federate.channels import Channels, check_channels, cut_space, ranges_per_attribute
from pubplan.workload import Attribute, Space


def space_of(cells: tuple[int, ...], width: int = 2) -> Space:
    return Space(tuple(Attribute(f"a{axis}", number * width) for axis, number in enumerate(cells)), cells)


@pytest.mark.parametrize(
    ("asked", "cells", "expected"),
    [
        (50, (200,), (50,)),
        (50, (7,), (7,)),
        (1, (4, 4), (1, 1)),
        (12, (100, 100), (4, 3)),
        (50, (2, 100), (2, 25)),
        ("10x5", (100, 3), (10, 3)),
    ],
)
def test_ranges_are_as_equal_as_possible(asked: int | str, cells: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """At most as many channels as asked for, never more ranges than cells."""
    assert ranges_per_attribute(asked, cells) == expected


def test_ranges_have_equal_width_or_equal_traffic() -> None:
    """Ten cells in three ranges: 3, 3 and 4 wide; by traffic, the heavy cell is alone and no range is empty."""
    density = np.array([0, 0, 90, 1, 1, 1, 1, 1, 1, 1])
    assert cut_space(space_of((10,)), density, 3, "width").edges == ((0, 3, 6, 10),)
    # A third of 97 messages is passed with cell 2, two thirds as well; the second range has cell 3 all the same.
    assert cut_space(space_of((10,)), density, 3, "traffic").edges == ((0, 3, 4, 10),)
    assert cut_space(space_of((10,)), density * 0, 3, "traffic").edges == ((0, 3, 6, 10),)
    assert cut_space(space_of((3,)), np.array([0, 0, 5]), 3, "traffic").edges == ((0, 1, 2, 3),)


@given(st.integers(0, 2**32 - 1))
def test_rectangles_touch_the_channels_of_their_cells(seed: int) -> None:
    """The channels of a rectangle are those of the cells that it touches, in ascending order."""
    rng = np.random.default_rng(seed)
    cells = tuple(rng.integers(1, 6, int(rng.integers(1, 4))).tolist())
    width = int(rng.integers(1, 4))
    space = space_of(cells, width)
    density = rng.integers(0, 5, cells)
    channels = cut_space(space, density, int(rng.integers(1, 20)), str(rng.choice(["width", "traffic"])))
    lows = np.column_stack([rng.integers(0, number * width, 5) for number in cells]).astype(np.int32)
    extents = np.array([number * width for number in cells])
    highs = np.minimum(extents, lows + rng.integers(1, 6, lows.shape)).astype(np.int32)
    offsets, wanted = channels.subscribed(lows, highs, space.cell_widths)
    for row, (low, high) in enumerate(zip(lows, highs, strict=True)):
        expected = set()
        for number, cell in enumerate(np.ndindex(*cells)):
            starts = np.array(cell) * width
            if (starts < high).all() and (low < starts + width).all():
                expected.add(int(channels.of_cell[number]))
        assert wanted[offsets[row] : offsets[row + 1]].tolist() == sorted(expected)
    box_lows, box_highs = channels.boxes(space.cell_widths)
    for number, cell in enumerate(np.ndindex(*cells)):
        inside = (box_lows <= np.array(cell) * width) & ((np.array(cell) + 1) * width <= box_highs)
        assert np.flatnonzero(inside.all(axis=1)).tolist() == [channels.of_cell[number]]
    assert isinstance(channels, Channels)


@pytest.mark.parametrize("asked", [0, -3, 5000, "0", "3x", "ax2", 2.5, True, None, "100x100"])
def test_other_channels_are_refused(asked: object) -> None:
    """Whole numbers from 1 on, or one per attribute, within a limit."""
    with pytest.raises(InputError, match="hannels"):
        check_channels(asked)


def test_channels_fit_the_attributes() -> None:
    """One number per attribute."""
    with pytest.raises(InputError, match="for 2 attributes; the space has 1"):
        ranges_per_attribute("3x4", (10,))
