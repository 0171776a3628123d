"""Raw traces: what a workload would have looked like before it was ingested."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubplan.engine import map_blocks, stage, write_block
from pubplan.files import atomic_directory, write_text
from pubplan.generate.shape import Shape

if TYPE_CHECKING:
    from pubplan.engine import SparkSession

INGEST = "ingest.toml"


def write_raw(
    shape: Shape[Any],
    out: str | Path,
    *,
    with_events: bool = True,
    replace: bool = False,
    spark: SparkSession | None = None,
) -> None:
    """Write ``shape`` as the tables from which ``pubplan ingest`` makes the workload, their rows in no order.

    Topic shapes become ``events/`` (topic, timestamp, size) and ``subscriptions/`` (subscriber, topic); without events,
    which a large shape has billions of, the first is ``rates/`` (topic, rate, size) instead. Content shapes become
    ``clients/``, ``brokers/``, and ``sites/`` with coordinates or ``latencies/``; where they have them also
    ``prices/``, ``links/`` and ``messages/``. ``ingest.toml`` holds the options with which ``pubplan ingest`` gives the
    workload back, to the digest.

    Args:
        spark: a session to write blocks on; None writes them in this process.

    Raises:
        InputError: ``out`` exists and ``replace`` was not asked for.

    >>> pubplan.generate.write_raw(pubplan.generate.uniform(4, 3, sizes=(1, 2)), "raw", with_events=False)
    >>> sorted(path.name for path in Path("raw").iterdir())
    ['ingest.toml', 'rates', 'subscriptions']
    """
    trace = shape.raw_trace(with_events=with_events)
    with atomic_directory(Path(out), marker=INGEST, replace=replace) as staging:
        for table in trace.tables:
            directory, make = staging / table.name, table.make

            def write(file: int, directory: Path = directory, make: Any = make) -> None:
                write_block(directory, file, make(file), is_repetitive=True)

            with stage(f"writing {table.name}", table.num_files) as advance:
                for _ in map_blocks(write, table.num_files, spark):
                    advance(1)
        lines = [
            "# Options for pubplan ingest, which make this raw trace a workload again.",
            "[ingest]",
            *trace.options,
        ]
        write_text(staging / INGEST, "\n".join(lines) + "\n")
