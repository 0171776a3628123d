"""What an ingest of content is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name
from pubplan.pipeline.clean import TimeWindow
from pubplan.pipeline.content.clean import MICROS_DIGITS
from pubplan.pipeline.content.columns import AttributeColumns
from pubplan.pipeline.content.grid import Grid, check_volume, default_cells, make_space
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
        grids: by attribute; one that is not given is derived from the values of clients and messages.
        cells: by attribute, how many parts of it messages are counted in.
        latency_unit: of latencies, limits and coordinates.
        window: the time that messages were published in.
        max_rejected: the largest share of rejected rows, per source, that is not an error.
    """

    clients: Source
    brokers: Source
    attributes: tuple[AttributeColumns, ...]
    network: Source | None = None
    messages: Source | None = None
    grids: Mapping[str, Grid] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)
    latency_unit: str = "us"
    window: TimeWindow = field(default_factory=TimeWindow)
    max_rejected: float = 0.05

    def __post_init__(self) -> None:
        kinds = [source.kind for source in self.sources]
        if kinds[:2] != ["clients", "brokers"] or (self.network and self.network.kind not in ("sites", "latencies")):
            raise InputError("Ingest of content takes clients and brokers, sites or latencies, and messages.")
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
        if self.latency_unit not in MICROS_DIGITS:
            raise InputError(f"{argument('latency_unit')} is us, ms or s, not '{self.latency_unit}'.")
        if not 0 <= self.max_rejected <= 1:
            raise InputError(f"{argument('max_rejected')} is a share between 0 and 1, not {self.max_rejected}.")
        if (self.window.start is None) != (self.window.end is None):
            both = f"{argument('window_start')} and {argument('window_end')}"
            raise InputError(f"Give both {both}, or neither: messages have no times.")
        self._check_columns()
        check_volume(self.grids)
        if len(self.grids) == len(names):
            self.space(self.grids)  # cells that do not divide the grid are refused before anything is read

    def _check_columns(self) -> None:
        """Sources must have been made for the attributes, see content_source."""
        expected = {"clients": {name for each in self.attributes for name in each.client_columns()}}
        expected["messages"] = {each.name for each in self.attributes}
        for source in self.sources:
            if set(source.extra) != expected.get(source.kind, set()):
                raise InputError(f"The {source.kind} lack the columns of attributes: make them with content_source.")

    @property
    def sources(self) -> list[Source]:
        given = (self.clients, self.brokers, self.network, self.messages)
        return [source for source in given if source is not None]

    @property
    def digits(self) -> int:
        return MICROS_DIGITS[self.latency_unit]

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
