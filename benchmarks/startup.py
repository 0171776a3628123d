"""How long a user waits before anything happens."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import command, measured, table


def run(directory: Path) -> None:
    rows = [["pubplan --help", *_row(min(command("--help") for _ in range(5)))]]

    def session() -> None:
        from pubplan.engine import map_blocks, spark_session

        with spark_session() as spark:
            list(map_blocks(lambda block: block, 8, spark))

    rows.append(["embedded Spark, first result, end", *_row(measured(session))])
    table("Start-up", ["what", "seconds", "peak MB"], rows)


def _row(result: tuple[float, int]) -> list[str]:
    return [f"{result[0]:.2f}", f"{result[1] / 1e6:.0f}"]
