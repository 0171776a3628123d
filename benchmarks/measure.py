"""How benchmarks measure and print."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from pubplan.engine import MemoryMeter


def measured(work: Callable[[], object]) -> tuple[float, int]:
    """Seconds and peak bytes of the process tree while ``work`` runs."""
    with MemoryMeter(interval=0.02) as meter:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
    return seconds, meter.peak_bytes


def command(*arguments: object) -> tuple[float, int]:
    """Seconds and peak bytes of one ``pubplan`` command in a process of its own."""
    call = [sys.executable, "-c", "from pubplan.cli.main import main; main()", *map(str, arguments)]
    return measured(lambda: subprocess.run(call, check=True, capture_output=True))


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent e of seconds ~ sizes^e, by least squares on logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a header, columns aligned."""
    cells = [list(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
