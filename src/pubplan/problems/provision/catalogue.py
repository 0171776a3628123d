"""Prices as data: VM types and transfer tariffs from TOML files, as exact integers.

A catalogue is one file: a provider's region at a date. Its name is the file's stem, and a VM type is named
``catalogue/type``, as in ``paper-2013/c3.large``. Money is micro-dollars, a GB is 10^9 bytes, a Mbit 10^6 bits.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

from pubplan.errors import Infeasible, InputError, Reason, one_line, unknown_name

MICROS = 10**6
BYTES_PER_GB = 10**9
BITS_PER_MBIT = 10**6
SECONDS_PER_HOUR = 3600

_LARGEST = 10**9  # of any number in a file
_LARGEST_WHOLE = _LARGEST * MICROS  # of what is made of them: micro-dollars, bits, seconds of a period
_PRICE = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,18})?", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


@dataclass(frozen=True)
class Tier:
    """What a GB costs up to a volume per period; the last tier of a tariff has no limit."""

    up_to_gb: int | None
    micros_per_gb: int

    def __post_init__(self) -> None:
        if self.up_to_gb is not None:
            _check_whole(self.up_to_gb, "up_to_gb", least=1)
        _check_whole(self.micros_per_gb, "micros_per_gb")

    def to_dict(self) -> dict[str, Any]:
        return {"up_to_gb": self.up_to_gb, "micros_per_gb": self.micros_per_gb}


@dataclass(frozen=True)
class Tariff:
    """The price of traffic into and out of the VMs; tiers count the traffic of ``period_seconds``."""

    period_seconds: int
    incoming: tuple[Tier, ...]
    outgoing: tuple[Tier, ...]

    def __post_init__(self) -> None:
        _check_whole(self.period_seconds, "period_seconds", least=1)
        _check_tiers(self.incoming, "incoming")
        _check_tiers(self.outgoing, "outgoing")

    def to_dict(self) -> dict[str, Any]:
        return {
            "period_seconds": self.period_seconds,
            "incoming": [tier.to_dict() for tier in self.incoming],
            "outgoing": [tier.to_dict() for tier in self.outgoing],
        }


@dataclass(frozen=True)
class Origin:
    """Where prices come from: a provider's region, the day on which they held, and who says so."""

    provider: str
    region: str
    date: str
    source: str

    def __post_init__(self) -> None:
        for key in ("provider", "region", "source"):
            if not isinstance(getattr(self, key), str) or not getattr(self, key).strip():
                raise InputError(f"{key} must be a string that says something, not {_shown(getattr(self, key))}.")
        if not isinstance(self.date, str) or not _DAY.fullmatch(self.date):
            raise InputError(f"date must be a day such as 2013-12-01, not {_shown(self.date)}.")

    def to_dict(self) -> dict[str, str]:
        return {"provider": self.provider, "region": self.region, "date": self.date, "source": self.source}

    def __str__(self) -> str:
        return f"{self.provider}, {self.region}, {self.date}"


@dataclass(frozen=True, repr=False)
class VmType:
    """A machine that can be rented: its qualified name, price and sustained rate, what its traffic costs, and where
    these prices come from if that is known.

    >>> pubplan.provision.find_vm_types(["c7g.large"])[0]
    VmType('aws-us-east-1/c7g.large': $0.0725 per hour, 937 Mbit/s)
    """

    name: str
    micros_per_hour: int
    bits_per_second: int
    tariff: Tariff
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"The name of a VM type must be a string, not {self.name!r}.")
        _check_whole(self.micros_per_hour, "micros_per_hour")
        _check_whole(self.bits_per_second, "bits_per_second")

    def __repr__(self) -> str:
        dollars, megabits = self.micros_per_hour / MICROS, self.bits_per_second / 10**6
        return f"VmType({self.name!r}: ${dollars:g} per hour, {megabits:g} Mbit/s)"

    def to_dict(self) -> dict[str, Any]:
        """The VM type with tariff and origin as JSON: a plan carries the prices that it was made with.

        A type whose origin is not known has no ``origin``.
        """
        origin = {} if self.origin is None else {"origin": self.origin.to_dict()}
        return {
            "name": self.name,
            "micros_per_hour": self.micros_per_hour,
            "bits_per_second": self.bits_per_second,
            "tariff": self.tariff.to_dict(),
            **origin,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> VmType:
        """The VM type that ``to_dict`` wrote.

        Raises:
            InputError: the record is damaged.
        """
        try:
            tariff = record["tariff"]
            vm_type = cls(
                record["name"],
                record["micros_per_hour"],
                record["bits_per_second"],
                Tariff(
                    tariff["period_seconds"],
                    tuple(Tier(tier["up_to_gb"], tier["micros_per_gb"]) for tier in tariff["incoming"]),
                    tuple(Tier(tier["up_to_gb"], tier["micros_per_gb"]) for tier in tariff["outgoing"]),
                ),
                Origin(**record["origin"]) if "origin" in record else None,
            )
        except KeyError as error:
            raise InputError(f"The record of a VM type is damaged: it has no {error}.") from error
        except (TypeError, IndexError, InputError) as error:
            raise InputError(f"The record of a VM type is damaged: {error}") from error
        if vm_type.to_dict() != record:
            raise InputError(f"The record of VM type '{one_line(vm_type.name)}' is damaged: it has unknown entries.")
        return vm_type


def vm_cost(vm_type: VmType, count: int, seconds: Fraction) -> int:
    """Micro-dollars for ``count`` VMs over a window of ``seconds``, rounded up once.

    Two c3.large at $0.15 an hour cost $0.15 in half an hour.
    """
    return math.ceil(count * vm_type.micros_per_hour * Fraction(seconds) / SECONDS_PER_HOUR)


def transfer_cost(tiers: Sequence[Tier], period_seconds: int, num_bytes: int, seconds: Fraction) -> int:
    """Micro-dollars for ``num_bytes`` in a window of ``seconds``, rounded up once."""
    return math.ceil(exact_transfer_cost(tiers, period_seconds, Fraction(num_bytes), seconds))


def exact_transfer_cost(tiers: Sequence[Tier], period_seconds: int, num_bytes: Fraction, seconds: Fraction) -> Fraction:
    """Micro-dollars for ``num_bytes`` in a window of ``seconds``.

    The traffic is taken to go on alike for a whole period, so a tier's limit counts for a window in proportion to its
    length: of 10 TB a month, a tenth of a month has 1 TB.
    """
    cost, below = Fraction(0), Fraction(0)
    for tier, limit in zip(tiers, tier_limits(tiers, period_seconds, seconds), strict=True):
        end = num_bytes if limit is None else min(num_bytes, limit)
        cost += (end - below) * tier.micros_per_gb / BYTES_PER_GB
        below = end
    return cost


def tier_limits(tiers: Sequence[Tier], period_seconds: int, seconds: Fraction) -> list[Fraction | None]:
    """How many bytes of a window of ``seconds`` each tier goes up to."""
    share = Fraction(seconds) / period_seconds
    return [None if tier.up_to_gb is None else tier.up_to_gb * BYTES_PER_GB * share for tier in tiers]


def read_catalogue(path: Path) -> Mapping[str, VmType]:
    """The VM types of a catalogue file by qualified name, in the file's order.

    Raises:
        InputError: the file is missing or broken; a key is unknown, missing or has a value that cannot be used.
        Infeasible: the catalogue has no VM type.
    """
    try:
        with open(path, "rb") as handle:
            content = tomllib.load(handle)
    except FileNotFoundError as error:
        raise InputError(f"There is no price catalogue {path}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not readable TOML: {error}.") from error
    return _vm_types(content, Path(path).stem, str(path))


def all_vm_types(path: Path | None = None) -> tuple[VmType, ...]:
    """Every known VM type: those of the file at ``path`` first, then those that come with pubplan.

    Raises:
        InputError, Infeasible: as ``read_catalogue`` on ``path``.

    >>> "aws-us-east-1/c7g.large" in [vm_type.name for vm_type in pubplan.provision.all_vm_types()]
    True
    """
    return tuple(vm_type for catalogue in _catalogues(path) for vm_type in catalogue.values())


def find_vm_types(names: Sequence[str], path: Path | None = None) -> tuple[VmType, ...]:
    """The VM types of these names, in the order of the names.

    A name is ``catalogue/type``, ``catalogue/*`` for all types of one, or a bare type when a single catalogue has it.
    The catalogue at ``path`` comes first:
    its types need no qualification, and it stands in for one of the same name that comes with pubplan.

    Raises:
        InputError: a name is unknown, ambiguous or given twice; or as ``read_catalogue`` on ``path``.
        Infeasible: the catalogue at ``path`` has no VM type.

    >>> [vm_type.name for vm_type in pubplan.provision.find_vm_types(["c7g.large"])]
    ['aws-us-east-1/c7g.large']
    """
    catalogues = _catalogues(path)
    vm_types: dict[str, VmType] = {}
    for name in names:
        for vm_type in _all_of(name, catalogues) or (_find(name, catalogues, prefers_first=path is not None),):
            if vm_type.name in vm_types:
                raise InputError(f"VM type '{vm_type.name}' is named twice; name each type once.")
            vm_types[vm_type.name] = vm_type
    return tuple(vm_types.values())


def _all_of(name: str, catalogues: Sequence[Mapping[str, VmType]]) -> tuple[VmType, ...]:
    """All types of a catalogue that is named as ``catalogue/*``; nothing for another name."""
    if not name.endswith("/*"):
        return ()
    by_name = {next(iter(catalogue)).partition("/")[0]: tuple(catalogue.values()) for catalogue in catalogues}
    catalogue = name.removesuffix("/*")
    if catalogue not in by_name:
        raise InputError(unknown_name("catalogue", one_line(catalogue), by_name))
    return by_name[catalogue]


def _find(name: str, catalogues: Sequence[Mapping[str, VmType]], prefers_first: bool) -> VmType:
    everything = {key: vm_type for catalogue in catalogues for key, vm_type in catalogue.items()}
    if name in everything:
        return everything[name]
    matches = [key for key in everything if _bare(key) == name]
    first_matches = [key for key in matches if prefers_first and key in catalogues[0]]
    matches = first_matches or matches
    if not matches:
        known = everything if "/" in name else {_bare(key) for key in everything}
        raise InputError(unknown_name("VM type", one_line(name), known))
    if len(matches) > 1:
        raise InputError(f"VM type '{name}' is in several catalogues; say which: {', '.join(matches)}.")
    return everything[matches[0]]


def _bare(qualified: str) -> str:
    return qualified.partition("/")[2]


def _catalogues(path: Path | None) -> tuple[Mapping[str, VmType], ...]:
    shipped = _shipped()
    if path is None:
        return tuple(shipped.values())
    given = read_catalogue(path)
    return (given, *(catalogue for name, catalogue in shipped.items() if name != Path(path).stem))


@cache
def _shipped() -> Mapping[str, Mapping[str, VmType]]:
    """The catalogues that come with pubplan, by name."""
    folder = resources.files("pubplan.problems.provision").joinpath("catalogue")
    files = {entry.name.removesuffix(".toml"): entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return {
        name: _vm_types(tomllib.loads(files[name].read_text(encoding="utf-8")), name, files[name].name)
        for name in sorted(files)
    }


def _vm_types(content: Mapping[str, Any], catalogue: str, file: str) -> dict[str, VmType]:
    """What a catalogue's TOML says, with every key checked."""
    _check_name(catalogue, f"{file}: the catalogue is named after its file, and the name")
    _check_keys(content, ("catalogue", "transfer"), ("vm",), file)
    origin = _origin(_table(content, "catalogue", file), f"{file}, table [catalogue]")
    tariff = _tariff(_table(content, "transfer", file), f"{file}, table [transfer]")
    machines = _table(content, "vm", file) if "vm" in content else {}
    if not machines:
        raise Infeasible(
            f'{file} has no VM type; add a table such as [vm."c3.large"].',
            [Reason("VM types", 1, 0, file, "the catalogue lists no VM type")],
        )
    vm_types = {}
    for bare in machines:
        _check_name(bare, f"{file}, table [vm]: the name of a VM type")
        where = f'{file}, table [vm."{bare}"]'
        machine = _table(machines, bare, f"{file}, table [vm]")
        _check_keys(machine, ("price_per_hour", "mbit_per_second"), (), where)
        name = f"{catalogue}/{bare}"
        micros = _micros(machine, "price_per_hour", where)
        bits = _whole(machine, "mbit_per_second", where, least=0) * BITS_PER_MBIT
        vm_types[name] = VmType(name, micros, bits, tariff, origin)
    return vm_types


def _origin(header: Mapping[str, Any], where: str) -> Origin:
    _check_keys(header, ("provider", "region", "date", "source"), (), where)
    day = header["date"]
    if not isinstance(day, date) or isinstance(day, datetime):
        raise InputError(f"{where}: date must be a day such as 2013-12-01, without quotes, not {_shown(day)}.")
    try:
        return Origin(header["provider"], header["region"], day.isoformat(), header["source"])
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _tariff(table: Mapping[str, Any], where: str) -> Tariff:
    _check_keys(table, ("period_hours", "in", "out"), (), where)
    period_seconds = _whole(table, "period_hours", where, least=1) * SECONDS_PER_HOUR
    return Tariff(period_seconds, _tiers(table, "in", where), _tiers(table, "out", where))


def _tiers(table: Mapping[str, Any], key: str, where: str) -> tuple[Tier, ...]:
    rows = table[key]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            f'{where}: {key} must be a list of tiers such as [{{ price_per_gb = "0.12" }}], not {_shown(rows)}.'
        )
    tiers = []
    for number, row in enumerate(rows, start=1):
        tier = f"{where}, tier {number} of {key}"
        _check_keys(row, ("price_per_gb",), ("up_to_gb",), tier)
        limit = _whole(row, "up_to_gb", tier, least=1) if "up_to_gb" in row else None
        tiers.append(Tier(limit, _micros(row, "price_per_gb", tier)))
    try:
        _check_tiers(tuple(tiers), key)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return tuple(tiers)


def _micros(table: Mapping[str, Any], key: str, where: str) -> int:
    """A price as micro-dollars, exactly."""
    text = table[key]
    if not isinstance(text, str) or not _PRICE.fullmatch(text):
        raise InputError(
            f'{where}: {key} must be dollars as a decimal number in quotes, such as "0.15", not {_shown(text)}.'
        )
    micros = Fraction(text) * MICROS
    if micros < 0:
        raise InputError(f"{where}: {key} must not be negative, but is {text!r}.")
    if micros.denominator != 1:
        raise InputError(f"{where}: {key} has at most six decimals (a micro-dollar), but is {text!r}.")
    return int(micros)


def _whole(table: Mapping[str, Any], key: str, where: str, least: int) -> int:
    value = table[key]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
        raise InputError(f"{where}: {key} must be a whole number from {least} to 10^9, not {_shown(value)}.")
    return value


def _table(content: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    table = content[key]
    if not isinstance(table, dict):
        raise InputError(f"{where}: {key} must be a table, not {_shown(table)}.")
    return table


def _check_keys(table: Mapping[str, Any], needed: Sequence[str], optional: Sequence[str], where: str) -> None:
    known = (*needed, *optional)
    for key in table:
        if key not in known:
            raise InputError(f"{where}: " + unknown_name("key", one_line(key), known))
    for key in needed:
        if key not in table:
            present = ", ".join(table) or "none"
            raise InputError(f"{where}: the key '{key}' is missing; the keys are {present}.")


def _check_name(name: str, subject: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"{subject} must consist of letters, digits, '.', '-' and '_', not '{one_line(name)}'.")


def _check_tiers(tiers: tuple[Tier, ...], direction: str) -> None:
    limits = [tier.up_to_gb for tier in tiers]
    if not limits:
        raise InputError(f"{direction} has no tier; expected at least one, the last without up_to_gb.")
    if limits[-1] is not None:
        raise InputError(f"{direction} ends at {limits[-1]} GB; expected a last tier without up_to_gb.")
    below = limits[:-1]
    if None in below:
        raise InputError(f"{direction} has a tier without up_to_gb before the last; only the last has no limit.")
    if any(left >= right for left, right in pairwise(limit for limit in below if limit is not None)):
        listed = ", ".join(str(limit) for limit in below)
        raise InputError(f"{direction} has tiers up to {listed} GB; expected ascending limits.")


def _check_whole(value: object, what: str, least: int = 0) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST_WHOLE:
        raise InputError(f"{what} must be a whole number from {least} to 10^15, not {_shown(value)}.")


def _shown(value: object) -> str:
    return one_line(repr(value))
