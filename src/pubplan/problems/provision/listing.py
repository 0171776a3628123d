"""The price catalogues that there are: whose prices, from when, and for which VM types."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from pubplan.problems.provision.catalogue import MICROS, Tier, VmType, all_vm_types, read_catalogue

BITS_PER_MBIT = 10**6


@dataclass(frozen=True)
class Catalogue:
    """One provider's region at one date, and its VM types."""

    name: str
    provider: str
    region: str
    date: str
    source: str
    vm_types: tuple[VmType, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "provider": self.provider,
            "region": self.region,
            "date": self.date,
            "source": self.source,
            "vm_types": [
                {
                    "name": vm_type.name,
                    "price_microusd_per_hour": vm_type.micros_per_hour,
                    "mbit_per_second": vm_type.bits_per_second // BITS_PER_MBIT,
                }
                for vm_type in self.vm_types
            ],
            "incoming": _tiers(self.vm_types[0].tariff.incoming),
            "outgoing": _tiers(self.vm_types[0].tariff.outgoing),
        }


def all_catalogues(path: Path | None = None) -> list[Catalogue]:
    """The catalogues that come with pubplan, and before them the one at ``path``, if one is given.

    Raises:
        InputError, Infeasible: the file at ``path`` cannot be used.
    """
    catalogues = []
    if path is not None:
        vm_types = read_catalogue(path)
        catalogues.append(_catalogue(path.stem, path.read_text(encoding="utf-8"), tuple(vm_types.values())))
    by_name: dict[str, list[VmType]] = {}
    for vm_type in all_vm_types():
        by_name.setdefault(vm_type.name.partition("/")[0], []).append(vm_type)
    folder = resources.files("pubplan.problems.provision").joinpath("catalogue")
    for name, vm_types_of in by_name.items():
        text = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
        catalogues.append(_catalogue(name, text, tuple(vm_types_of)))
    return catalogues


def _catalogue(name: str, text: str, vm_types: tuple[VmType, ...]) -> Catalogue:
    header: Mapping[str, Any] = tomllib.loads(text)["catalogue"]
    return Catalogue(name, header["provider"], header["region"], header["date"].isoformat(), header["source"], vm_types)


def _tiers(tiers: Sequence[Tier]) -> list[dict[str, Any]]:
    return [{"up_to_gb": tier.up_to_gb, "price_microusd_per_gb": tier.micros_per_gb} for tier in tiers]


def exact_dollars(micros: int) -> str:
    """A price to the micro-dollar, with cents at least."""
    text = format((Decimal(micros) / MICROS).normalize(), "f")
    whole, _, decimals = text.partition(".")
    return f"${whole}.{decimals.ljust(2, '0')}"
