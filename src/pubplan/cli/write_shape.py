"""What every ``pubplan generate`` does with its shape: write it, write its raw trace, and say so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubplan.generate import Shape


def given(**options: Any) -> dict[str, Any]:
    """Options that were given; the others stay as the shape has them."""
    return {name: value for name, value in options.items() if value is not None}


def write_shape(
    shape: Shape[Any],
    out: Path,
    raw: Path | None,
    raw_rates: bool,
    replace: bool,
    quiet: bool,
    json: bool,
    master: str | None,
    conf: list[str] | None,
) -> None:
    """Write a shape, and its raw trace where one is asked for; answer with what was written."""
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.engine import num_blocks
    from pubplan.files import check_disjoint, check_free
    from pubplan.generate import generate, write_raw
    from pubplan.generate.raw import INGEST
    from pubplan.text import factor_up
    from pubplan.workload import CONTENT, MANIFEST, USUAL_DELAY, factor_value, least_load

    check_free(out, marker=MANIFEST, replace=replace)
    if raw is not None:
        check_disjoint(raw, out)
        check_free(raw, marker=INGEST, replace=replace)

    with showing_progress(quiet), maybe_spark(master, conf, num_blocks(shape.num_rows)) as spark:
        workload = generate(shape, out, replace=replace, spark=spark)
        if raw is not None:
            write_raw(shape, raw, with_events=not raw_rates, replace=replace, spark=spark)
        factor = least_load(workload, USUAL_DELAY, spark) if workload.kind == CONTENT.name else None
    value, text = workload.manifest.to_dict(), f"{workload.summary()}.\n"
    if factor is not None:
        value["least_load"] = {"max_delay": USUAL_DELAY} | factor_value(factor)
        text += f"The least load factor of any assignment with a max delay of {USUAL_DELAY}: {factor_up(factor)}.\n"
    text += f"Written to {out}"
    if raw is not None:
        tables = (table.name for table in shape.raw_trace(with_events=not raw_rates).tables)
        sources = " ".join(f"--{table} {raw / table}" for table in tables)
        text += f"\nIts raw trace is in {raw}: pubplan ingest --parameters {raw / INGEST} {sources} --out DIR"
    answer(value, text, json)
