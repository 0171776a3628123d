"""How many values JSON text holds, counted in its bytes without parsing them.

Quotes that no backslash escapes open and close strings; brackets outside strings open and close objects and arrays. A
value begins with a bracket, with a string, or with the first letter of a number or word. The counts are those of whole
values: text that ends inside one, or has commas or brackets that match nothing, is for the parser to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pubplan.workload import Int64Array

BLOCK_BYTES = 1 << 18
_DELTA = np.zeros(256, dtype=np.int8)
_DELTA[list(b"{[")] = 1
_DELTA[list(b"}]")] = -1
_IS_LETTER = np.ones(256, dtype=bool)
_IS_LETTER[list(b' \t\r\n{}[]",:')] = False
_SECOND_VALUE = re.compile(rb"}[ \t]*[^ \t,}\]]")

Bytes = npt.NDArray[np.uint8]


def count_lines(lines: Sequence[bytes]) -> int:
    """The values of lines, each of which holds whole values.

    A line that begins with an object holds it alone if nothing that could begin a value follows a closing brace.
    """
    others = [line for line in lines if line[:1] != b"{" or _SECOND_VALUE.search(line)]
    return len(lines) - len(others) + count_values(b"\n".join(others))


def count_values(text: bytes) -> int:
    """The values of a text, one behind the other; an array is one value."""
    return _count(text)[0]


def count_elements(text: bytes) -> int:
    """The values of a text, one behind the other, where an array stands for its elements."""
    num_values, num_arrays, num_elements = _count(text)
    return num_values - num_arrays + num_elements


def _count(text: bytes) -> tuple[int, int, int]:
    """Values outside all brackets, how many of them are arrays, and the elements of these arrays."""
    scan = _Scan()
    letters = np.frombuffer(text, dtype=np.uint8)
    for first in range(0, len(letters), BLOCK_BYTES):
        scan.add(letters[first : first + BLOCK_BYTES])
    return scan.num_values, scan.num_arrays, scan.num_elements


class _Scan:
    """The counts of the blocks so far, and what the next block must know of them."""

    def __init__(self) -> None:
        self.num_values = self.num_arrays = self.num_elements = 0
        self._depth = 0
        self._is_array = False  # the outermost bracket that is open, or was the last to be open
        self._is_inside = False  # a string is open
        self._is_escaping = False  # the last letter is a backslash that escapes the next letter
        self._ends_with_letter = False

    def add(self, letters: Bytes) -> None:
        """Count the values that begin in a block.

        1. Letters are inside strings from an opening quote to before the closing one.
        2. Outside strings, values begin at opening brackets, opening quotes, and letters that follow no letter.
        3. A value's depth is that of the brackets before it. At depth 1 it is an element if its bracket is an array's.
        """
        is_quote = letters == ord('"')
        is_quote[self._escaped(letters)] = False
        is_inside = np.logical_xor.accumulate(is_quote) ^ self._is_inside
        is_letter = _IS_LETTER[letters]
        is_first = is_letter.copy()
        is_first[1:] &= ~is_letter[:-1]
        is_first[0] &= not self._ends_with_letter
        delta = _DELTA[letters]
        events = np.flatnonzero(((is_first | (delta != 0)) & ~is_inside) | (is_quote & is_inside))
        self._is_inside, self._ends_with_letter = bool(is_inside[-1]), bool(is_letter[-1])
        self._count(letters[events], delta[events])

    def _count(self, events: Bytes, delta: npt.NDArray[np.int8]) -> None:
        if not len(events):
            return
        after = self._depth + np.cumsum(delta, dtype=np.int64)
        before = after - delta
        begins = delta >= 0
        is_outermost = begins & (before == 0)
        opened = np.where(is_outermost & (delta > 0), np.arange(len(events)), -1)
        last_opened = np.maximum.accumulate(opened)
        is_in_array = np.where(last_opened >= 0, events[last_opened] == ord("["), self._is_array)
        self.num_values += int(np.count_nonzero(is_outermost))
        self.num_arrays += int(np.count_nonzero(is_outermost & (events == ord("["))))
        self.num_elements += int(np.count_nonzero(begins & (before == 1) & is_in_array))
        self._depth, self._is_array = int(after[-1]), bool(is_in_array[-1])

    def _escaped(self, letters: Bytes) -> Int64Array:
        """Where letters follow a backslash that is not escaped itself: behind every run of an odd number of them."""
        slashes: Int64Array = np.flatnonzero(letters == ord("\\"))
        if self._is_escaping:
            slashes = np.append(-1, slashes)
        if not len(slashes):
            return slashes
        is_start = np.append(True, np.diff(slashes) > 1)
        ends = slashes[np.append(is_start[1:], True)] + 1
        escaped: Int64Array = ends[(ends - slashes[is_start]) % 2 == 1]
        self._is_escaping = len(letters) in escaped[-1:]
        return escaped[escaped < len(letters)]
