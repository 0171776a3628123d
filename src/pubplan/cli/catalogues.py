"""``pubplan catalogues``: which VM types there are, at whose prices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pubplan.cli.options import Json, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pubplan.problems.provision.catalogue import Tier
    from pubplan.problems.provision.listing import Catalogue

CatalogueFile = Annotated[
    Path | None, typer.Option("--catalogue", metavar="FILE", help="Also a TOML file with prices of your own.")
]


def catalogues(catalogue: CatalogueFile = None, quiet: Quiet = False, json: Json = False) -> None:
    """List the price catalogues and their VM types for 'pubplan provision --vm-type'."""
    from pubplan.cli.show import answer
    from pubplan.problems.provision.listing import all_catalogues

    listed = all_catalogues(catalogue)
    lines = [line for each in listed for line in (*_lines(each), "")]
    lines.append("Take one type with --vm-type CATALOGUE/TYPE, or all of a catalogue with --vm-type 'CATALOGUE/*'.")
    answer([each.to_dict() for each in listed], "\n".join(lines), json)


def _lines(catalogue: Catalogue) -> list[str]:
    """A catalogue: where its prices are from, its types, and what traffic costs."""
    from pubplan.errors import one_line
    from pubplan.problems.provision.listing import BITS_PER_MBIT, exact_dollars
    from pubplan.text import aligned

    header = f"{catalogue.name}: {catalogue.provider}, {catalogue.region}, prices of {catalogue.date}"
    rows = [
        [
            f"  {vm_type.name}",
            f"{exact_dollars(vm_type.micros_per_hour)} per hour",
            f"{vm_type.bits_per_second // BITS_PER_MBIT:,} Mbit/s",
        ]
        for vm_type in catalogue.vm_types
    ]
    tariff = catalogue.vm_types[0].tariff
    return [
        one_line(header, longest=400),
        one_line(f"  from {catalogue.source}", longest=1000),
        *aligned(rows, left=(0,)),
        f"  bytes in: {_tiers(tariff.incoming)}; out: {_tiers(tariff.outgoing)}",
    ]


def _tiers(tiers: Sequence[Tier]) -> str:
    """What a GB costs, tier by tier."""
    from pubplan.problems.provision.listing import exact_dollars

    texts = [
        f"{exact_dollars(tier.micros_per_gb)} per GB" + (f" up to {tier.up_to_gb:,} GB" if tier.up_to_gb else "")
        for tier in tiers
    ]
    return ", then ".join(texts)
