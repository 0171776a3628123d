"""``pubplan generate``: synthetic workloads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pubplan.cli.options import Conf, Json, Master, Out, Quiet, Replace, Seed

if TYPE_CHECKING:
    from pubplan.generate import Shape

app = typer.Typer(no_args_is_help=True, help="Write a synthetic workload.", rich_markup_mode=None)

Scale = Annotated[float, typer.Option("--scale", help="Share of the trace's topics and subscribers, 0.001 to 1.")]
Nodes = Annotated[int, typer.Option("--nodes", help="Number of nodes (subscribers).")]
Raw = Annotated[
    Path | None,
    typer.Option("--raw", metavar="DIR", help="Also write the raw trace that 'pubplan ingest' makes it from."),
]
RawRates = Annotated[
    bool,
    typer.Option("--raw-rates", help="In the raw trace, rates instead of events: large shapes have billions."),
]
Topics = Annotated[int, typer.Option("--topics", help="Number of topics.")]
TopicsPerNode = Annotated[
    str | None,
    typer.Option(
        "--sizes",
        metavar="FEWEST-MOST",
        help="Topics per node, every number between the two equally likely. Default: 10-90.",
    ),
]
Exponent = Annotated[float | None, typer.Option("--exponent", help="Exponent of the Zipf distribution. Default: 2.")]
DecayRate = Annotated[
    float | None, typer.Option("--rate", help="By which topics become less likely, from one to the next. Default: 0.1.")
]


def _trace_command(name: str, told: str) -> None:
    """Add the command of a shape of a trace."""

    def command(
        out: Out,
        scale: Scale = 0.01,
        raw: Raw = None,
        raw_rates: RawRates = False,
        seed: Seed = 0,
        replace: Replace = False,
        quiet: Quiet = False,
        json: Json = False,
        master: Master = None,
        conf: Conf = None,
    ) -> None:
        from pubplan import generate

        shape = getattr(generate, name)(scale, seed)
        _write(shape, out, raw, raw_rates, replace, quiet, json, master, conf)

    app.command(name, help=told)(command)


_trace_command(
    "spotify", "Shaped like a ten-day Spotify trace: 1.1 M topics, 4.9 M subscribers, 12 M pairs at scale 1."
)
_trace_command("twitter", "Shaped like a ten-day Twitter trace: 8 M topics, 30 M subscribers, 683 M pairs at scale 1.")


@app.command("uniform", help="Nodes with some dozen topics each, every topic equally likely.")
def uniform(
    out: Out,
    nodes: Nodes = 4000,
    topics: Topics = 200,
    sizes: TopicsPerNode = None,
    raw: Raw = None,
    raw_rates: RawRates = False,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    from pubplan.generate import uniform as shape_of

    shape = shape_of(nodes, topics, seed, **_given(sizes=_sizes(sizes)))
    _write(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


@app.command("zipf", help="Nodes with some dozen topics each, topic i with probability proportional to 1 / i^exponent.")
def zipf(
    out: Out,
    nodes: Nodes = 4000,
    topics: Topics = 200,
    sizes: TopicsPerNode = None,
    exponent: Exponent = None,
    raw: Raw = None,
    raw_rates: RawRates = False,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    from pubplan.generate import zipf as shape_of

    shape = shape_of(nodes, topics, seed, **_given(sizes=_sizes(sizes), exponent=exponent))
    _write(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


@app.command(
    "exponential", help="Nodes with some dozen topics each, topic i with probability proportional to exp(-rate i)."
)
def exponential(
    out: Out,
    nodes: Nodes = 4000,
    topics: Topics = 200,
    sizes: TopicsPerNode = None,
    rate: DecayRate = None,
    raw: Raw = None,
    raw_rates: RawRates = False,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    from pubplan.generate import exponential as shape_of

    shape = shape_of(nodes, topics, seed, **_given(sizes=_sizes(sizes), rate=rate))
    _write(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


def _given(**options: Any) -> dict[str, Any]:
    """Options that were given; the others stay as the shape has them."""
    return {name: value for name, value in options.items() if value is not None}


def _sizes(text: str | None) -> tuple[int, int] | None:
    """The fewest and the most topics of a node: ``10-90``, or one number for all."""
    from pubplan.errors import InputError, one_line

    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text.strip())
    if match is None:
        raise InputError(f"--sizes is a range of topics per node such as 10-90, or one number, not '{one_line(text)}'.")
    return int(match[1]), int(match[2] or match[1])


def _write(
    shape: Shape,
    out: Path,
    raw: Path | None,
    raw_rates: bool,
    replace: bool,
    quiet: bool,
    json: bool,
    master: str | None,
    conf: list[str] | None,
) -> None:
    from pubplan.cli.progress import showing_progress
    from pubplan.cli.session import maybe_spark
    from pubplan.cli.show import answer
    from pubplan.engine import check_apart, check_free, num_blocks
    from pubplan.generate import generate, write_raw
    from pubplan.generate.raw import INGEST
    from pubplan.workload import MANIFEST

    check_free(out, marker=MANIFEST, replace=replace)
    if raw is not None:
        check_apart(raw, out)
        check_free(raw, marker=INGEST, replace=replace)

    with showing_progress(quiet), maybe_spark(master, conf, num_blocks(shape.num_subscribers)) as spark:
        workload = generate(shape, out, replace=replace, spark=spark)
        if raw is not None:
            write_raw(shape, raw, with_events=not raw_rates, replace=replace, spark=spark)
    counts = workload.counts
    text = (
        f"{counts.topics:,} topics, {counts.subscribers:,} subscribers, {counts.pairs:,} interests; serving everything "
        f"costs {workload.totals.cost:,} deliveries per window.\nWritten to {out}"
    )
    if raw is not None:
        traffic = "rates" if raw_rates else "events"
        text += f"\nIts raw trace is in {raw}: pubplan ingest --parameters {raw / INGEST} --{traffic} {raw / traffic} "
        text += f"--subscriptions {raw / 'subscriptions'} --out DIR"
    answer(workload.manifest.to_dict(), text, json)
