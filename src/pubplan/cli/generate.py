"""``pubplan generate``: synthetic workloads."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from pubplan.cli.generate_content import (
    content_adversarial,
    content_exchange,
    content_feeds,
    content_hotspots,
    content_newsgroups,
)
from pubplan.cli.options import Conf, Json, Master, Out, Quiet, Raw, Replace, Seed, scale_number, whole_number
from pubplan.cli.write_shape import given, write_shape

app = typer.Typer(no_args_is_help=True, help="Write a synthetic workload.", rich_markup_mode=None)

Scale = Annotated[
    float,
    typer.Option(
        "--scale",
        parser=scale_number,
        metavar="SHARE",
        help="Share of the trace's topics and subscribers, 0.1% to 100%, or 0.001 to 1.",
    ),
]
Nodes = Annotated[int, typer.Option("--nodes", parser=whole_number, metavar="N", help="Number of nodes (subscribers).")]
RawRates = Annotated[
    bool,
    typer.Option("--raw-rates", help="Write rates instead of events, of which large shapes have billions, with --raw."),
]
Topics = Annotated[int, typer.Option("--topics", parser=whole_number, metavar="N", help="Number of topics.")]
TopicsPerNode = Annotated[
    str | None,
    typer.Option(
        "--sizes",
        metavar="MIN-MAX",
        help="Topics per node, every number between the two equally likely. Default: 10-90.",
    ),
]
Exponent = Annotated[float | None, typer.Option("--exponent", help="Exponent of the Zipf distribution. Default: 2.")]
DecayRate = Annotated[
    float | None, typer.Option("--rate", help="Decay of the exponential distribution of topics. Default: 0.1.")
]


def _trace_command(name: str, summary: str) -> None:
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
        write_shape(shape, out, raw, raw_rates, replace, quiet, json, master, conf)

    app.command(name, help=summary)(command)


_trace_command(
    "spotify", "Shaped like a ten-day Spotify trace: 1.1 M topics, 4.9 M subscribers, 12 M interests at scale 1."
)
_trace_command(
    "twitter", "Shaped like a ten-day Twitter trace: 8 M topics, 30 M subscribers, 683 M interests at scale 1."
)


@app.command("uniform", help="Nodes with a few dozen topics each, every topic equally likely.")
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

    shape = shape_of(nodes, topics, seed, **given(sizes=_sizes(sizes)))
    write_shape(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


@app.command(
    "zipf", help="Nodes with a few dozen topics each, topic i with probability proportional to 1 / i^exponent."
)
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

    shape = shape_of(nodes, topics, seed, **given(sizes=_sizes(sizes), exponent=exponent))
    write_shape(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


@app.command(
    "exponential", help="Nodes with a few dozen topics each, topic i with probability proportional to exp(-rate i)."
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

    shape = shape_of(nodes, topics, seed, **given(sizes=_sizes(sizes), rate=rate))
    write_shape(shape, out, raw, raw_rates, replace, quiet, json, master, conf)


def _sizes(text: str | None) -> tuple[int, int] | None:
    """The fewest and the most topics of a node: ``10-90``, or one number for all."""
    from pubplan.errors import InputError, one_line

    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text.strip())
    if match is None:
        raise InputError(f"--sizes is a range of topics per node such as 10-90, or one number, not '{one_line(text)}'.")
    return int(match[1]), int(match[2] or match[1])


for _command in (content_newsgroups, content_feeds, content_hotspots, content_adversarial, content_exchange):
    app.command(_command.__name__.replace("_", "-"))(_command)
