"""What an ingest of content is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.pipeline.clean import TimeWindow
from pubplan.pipeline.content.clean import MICROS_DIGITS
from pubplan.pipeline.content.columns import AttributeColumns
from pubplan.pipeline.content.grid import Grid, check_volume, default_cells, make_space
from pubplan.pipeline.content.prices import PRICE_DIGITS, DistancePrices
from pubplan.pipeline.source import Source
from pubplan.workload import Space
from pubplan.workload.content.space import MAX_ATTRIBUTES


@dataclass(frozen=True)
class ContentIngest:
    """What to read and how.

    Args:
        clients: who subscribes, where, and to what; its columns of attributes are those of ``attributes``.
        brokers: who serves them.
        attributes: of events, in the order of the space.
        network: sites with coordinates, or latencies; without, every client is close to every broker.
        messages: samples of what is published, from which the density is counted.
        prices: of traffic between sites and brokers.
        links: prices of traffic between brokers.
        price_per_distance: what traffic costs by distance instead, where sites and brokers have coordinates.
        grids: by attribute; one that is not given is derived from the values of clients and messages.
        cells: by attribute, how many parts of it messages are counted in.
        latency_unit: of latencies, limits and coordinates.
        price_unit: of prices.
        window: the time that messages were published in.
        max_rejected: the largest share of rejected rows, per source, that is not an error.
    """

    clients: Source
    brokers: Source
    attributes: tuple[AttributeColumns, ...]
    network: Source | None = None
    messages: Source | None = None
    prices: Source | None = None
    links: Source | None = None
    price_per_distance: DistancePrices | None = None
    grids: Mapping[str, Grid] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)
    latency_unit: str = "us"
    price_unit: str = "microusd"
    window: TimeWindow = field(default_factory=TimeWindow)
    max_rejected: float = 0.05

    def __post_init__(self) -> None:
        kinds = [source.kind for source in self.sources]
        if kinds[:2] != ["clients", "brokers"] or (self.network and self.network.kind not in ("sites", "latencies")):
            raise InputError("Ingest of content takes clients and brokers, sites or latencies, prices, and messages.")
        if not self.attributes:
            example = argument("attribute", "price=price_low:price_high")
            raise InputError(f"Name the attributes that clients subscribe by: {example}.")
        names = [attribute.name for attribute in self.attributes]
        columns = [name for attribute in self.attributes for name in attribute.client_columns()]
        if len(set(names)) < len(names) or len(set(columns)) < len(columns) or len(names) > MAX_ATTRIBUTES:
            raise InputError(
                f"A space has up to {MAX_ATTRIBUTES} attributes of different names, not {', '.join(names)}."
            )
        for option, given in (("grid", self.grids), ("cells", self.cells)):
            for name in given:
                if name not in names:
                    raise InputError(f"{argument(option)}: " + unknown_name("attribute", name, names))
        if self.cells and self.messages is None:
            raise InputError(
                f"{argument('cells')} are what messages are counted in; give them with {argument('messages')}."
            )
        self._check_units()
        self._check_prices()
        if not 0 <= self.max_rejected <= 1:
            raise InputError(f"{argument('max_rejected')} is a share between 0 and 1, not {self.max_rejected}.")
        if (self.window.start is None) != (self.window.end is None):
            both = f"{argument('window_start')} and {argument('window_end')}"
            raise InputError(f"Give both {both}, or neither: messages have no times.")
        self._check_columns()
        check_volume(self.grids)
        if len(self.grids) == len(names):
            self.space(self.grids)  # cells that do not divide the grid are refused before anything is read

    def _check_units(self) -> None:
        if self.latency_unit not in MICROS_DIGITS:
            raise InputError(f"{argument('latency_unit')} is us, ms or s, not '{self.latency_unit}'.")
        if self.price_unit not in PRICE_DIGITS:
            raise InputError(f"{argument('price_unit')} is microusd or usd, per GB, not '{self.price_unit}'.")

    def _check_prices(self) -> None:
        by_distance = argument("price_per_distance")
        if self.price_per_distance is None:
            return
        for name, source in (("prices", self.prices), ("links", self.links)):
            if source is not None:
                raise InputError(f"Give either {argument(name)} or {by_distance}, which makes all prices.")
        if self.network is None or self.network.kind != "sites":
            raise InputError(f"{by_distance} needs coordinates: give {argument('sites')} with them.")

    def _check_columns(self) -> None:
        """Sources must have been made for the attributes, see content_source."""
        expected = {"clients": {name for each in self.attributes for name in each.client_columns()}}
        expected["messages"] = {each.name for each in self.attributes}
        for source in self.sources:
            if set(source.extra) != expected.get(source.kind, set()):
                raise InputError(f"The {source.kind} lack the columns of attributes: make them with content_source.")

    @property
    def sources(self) -> list[Source]:
        given = (self.clients, self.brokers, self.network, self.prices, self.links, self.messages)
        return [source for source in given if source is not None]

    @property
    def digits(self) -> int:
        return MICROS_DIGITS[self.latency_unit]

    @property
    def price_digits(self) -> int:
        return PRICE_DIGITS[self.price_unit]

    @property
    def price_per_us(self) -> DistancePrices | None:
        """Micro-dollars per GB and microsecond."""
        scale = Fraction(10**self.price_digits, 10**self.digits)
        return None if self.price_per_distance is None else self.price_per_distance.scaled(scale)

    @property
    def derived(self) -> tuple[str, ...]:
        """The attributes without a given grid."""
        return tuple(each.name for each in self.attributes if each.name not in self.grids)

    def space(self, grids: Mapping[str, Grid]) -> Space:
        """The space on these grids, with cells where messages are counted."""
        ordered = {each.name: grids[each.name] for each in self.attributes}
        cells = {
            name: self.cells.get(name) or default_cells(grid.steps, len(ordered)) for name, grid in ordered.items()
        }
        return make_space(ordered, None if self.messages is None else cells)
