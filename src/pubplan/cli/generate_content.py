"""``pubplan generate content-…``: synthetic content workloads."""

from __future__ import annotations

from typing import Annotated

import typer

from pubplan.cli.options import Conf, Json, Master, Out, Quiet, Raw, Replace, Seed
from pubplan.cli.write_shape import given, write_shape

Clients = Annotated[int, typer.Option("--clients", help="Number of clients.")]
Brokers = Annotated[int, typer.Option("--brokers", help="Number of brokers, with those that only feed others.")]
Levels = Annotated[int, typer.Option("--levels", help="Brokers between the publisher and a client, 1 to 5.")]
OutDegree = Annotated[
    int | None, typer.Option("--out-degree", help="The most brokers that one feeds, with several levels. Default: 15.")
]
Sites = Annotated[int | None, typer.Option("--sites", help="Number of sites. Default: 2000, for feeds 200.")]
Skew = Annotated[
    str, typer.Option("--skew", metavar="low|high", help="How unequal subjects are in popularity (IS of the paper).")
]
Broad = Annotated[
    str, typer.Option("--broad", metavar="low|high", help="How many clients want broad subjects (BI of the paper).")
]
Boxes = Annotated[int, typer.Option("--boxes", help="Boxes per filter that it is made to be difficult for, 2 to 5.")]

PriceRatio = Annotated[
    str,
    typer.Option(
        "--price-ratio",
        metavar="RATIO",
        help="Price of traffic from sites to brokers, in terms of that between brokers.",
    ),
]
Niche = Annotated[
    str | None,
    typer.Option(
        "--niche", metavar="SHARE", help="Width of all subscriptions, such as 2%. Default: both ends are drawn."
    ),
]
SubscriptionGroups = Annotated[
    int | None, typer.Option("--groups", help="Number of different subscriptions. Default: one for each client.")
]
Dims = Annotated[int, typer.Option("--dims", help="Attributes of events, 1 to 3.")]
CellsPerAttribute = Annotated[
    int | None,
    typer.Option(
        "--cells", help="Parts of each attribute that messages are counted in. Default: 200, 14 or 5 by --dims."
    ),
]
CapacityFactor = Annotated[
    str,
    typer.Option(
        "--capacity-factor", metavar="FACTOR", help="What all brokers can take, in terms of what clients need."
    ),
]
ExchangeSites = Annotated[
    int | None, typer.Option("--sites", help="Number of sites. Default: one for each client, at most 10,000.")
]


def content_newsgroups(
    out: Out,
    clients: Clients = 100_000,
    brokers: Brokers = 100,
    skew: Skew = "high",
    broad: Broad = "low",
    levels: Levels = 1,
    out_degree: OutDegree = None,
    sites: Sites = None,
    raw: Raw = None,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Clients all over the world with rectangles out of a hierarchy of subjects, tastes differing by region."""
    from pubplan.generate import content_newsgroups as shape_of

    options = given(out_degree=out_degree, num_sites=sites)
    shape = shape_of(clients, brokers, seed, skew=skew, broad=broad, levels=levels, **options)
    write_shape(shape, out, raw, False, replace, quiet, json, master, conf)


def content_feeds(
    out: Out,
    clients: Clients = 100_000,
    brokers: Brokers = 100,
    levels: Levels = 1,
    out_degree: OutDegree = None,
    sites: Sites = None,
    raw: Raw = None,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Clients of 50 feeds, small squares far from each other, each read at ten sites."""
    from pubplan.generate import content_feeds as shape_of

    shape = shape_of(clients, brokers, seed, levels=levels, **given(out_degree=out_degree, num_sites=sites))
    write_shape(shape, out, raw, False, replace, quiet, json, master, conf)


def content_hotspots(
    out: Out,
    clients: Clients = 100_000,
    brokers: Brokers = 100,
    levels: Levels = 1,
    out_degree: OutDegree = None,
    sites: Sites = None,
    raw: Raw = None,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Clients with rectangles of all widths around a hundred centres, at sites that have nothing to do with them."""
    from pubplan.generate import content_hotspots as shape_of

    shape = shape_of(clients, brokers, seed, levels=levels, **given(out_degree=out_degree, num_sites=sites))
    write_shape(shape, out, raw, False, replace, quiet, json, master, conf)


def content_adversarial(
    out: Out,
    clients: Clients = 100_000,
    brokers: Brokers = 100,
    boxes: Boxes = 3,
    raw: Raw = None,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Squares on a diagonal that greedy methods spread over brokers as badly as can be; nothing is random."""
    from pubplan.generate import content_adversarial as shape_of

    write_shape(shape_of(clients, brokers, boxes), out, raw, False, replace, quiet, json, master, conf)


def content_exchange(
    out: Out,
    clients: Clients = 10_000,
    brokers: Brokers = 100,
    price_ratio: PriceRatio = "1",
    niche: Niche = None,
    groups: SubscriptionGroups = None,
    dims: Dims = 1,
    cells: CellsPerAttribute = None,
    capacity_factor: CapacityFactor = "2",
    sites: ExchangeSites = None,
    raw: Raw = None,
    seed: Seed = 0,
    replace: Replace = False,
    quiet: Quiet = False,
    json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Clients in a square that publish as well as subscribe, and brokers with capacities that charge by distance."""
    from pubplan.generate import content_exchange as shape_of

    options = given(niche=niche, groups=groups, cells=cells, num_sites=sites)
    shape = shape_of(
        clients, brokers, seed, dimensions=dims, price_ratio=price_ratio, capacity_factor=capacity_factor, **options
    )
    write_shape(shape, out, raw, False, replace, quiet, json, master, conf)
