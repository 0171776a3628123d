"""Traffic of drawn clients, against counting it client by client."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pubplan.generate.content.traffic import Publications, Traffic, traffic_of
from pubplan.workload import ClientBlock, Space, unit_space


def naive_demand(space: Space, clients: ClientBlock, published: Publications) -> tuple[list[int], list[int], int]:
    """Messages and subscribers by cell, and what all clients send and receive, by the definitions."""
    cells = [tuple(cell) for cell in np.ndindex(*space.cells)]
    sent = []
    for row in range(len(clients.sites)):
        part = slice(*published.offsets[row : row + 2])
        sent.append(dict(zip(published.cells[part].tolist(), published.counts[part].tolist(), strict=True)))
    touched = []
    for lows, highs in zip(clients.lows.tolist(), clients.highs.tolist(), strict=True):
        touched.append(
            {
                number
                for number, cell in enumerate(cells)
                if all(
                    low < (along + 1) * width and high > along * width
                    for low, high, along, width in zip(lows, highs, cell, space.cell_widths, strict=True)
                )
            }
        )
    messages = [sum(row.get(cell, 0) for row in sent) for cell in range(len(cells))]
    subscribers = [sum(cell in row for row in touched) for cell in range(len(cells))]
    demand = sum(sum(row.values()) for row in sent)
    for client, wanted in enumerate(touched):
        for other, row in enumerate(sent):
            if other != client:
                demand += sum(count for cell, count in row.items() if cell in wanted)
    return messages, subscribers, demand


@pytest.mark.parametrize("seed", range(12))
def test_traffic_is_counted_by_the_definitions(seed: int) -> None:
    """In one to three dimensions, with subscriptions that end between cells, and with clients without messages."""
    generator = np.random.default_rng(seed)
    dimensions, number = seed % 3 + 1, 9
    space = replace(unit_space(*(12, 6, 8)[:dimensions]), cells=(4, 3, 2)[:dimensions])
    lows = np.column_stack([generator.integers(0, steps, number) for steps in space.extents])
    highs = generator.integers(lows + 1, np.array(space.extents) + 1)
    messages = np.maximum(generator.integers(-5, 6, (number, space.num_cells)), 0)
    rows, cells = np.nonzero(messages)
    offsets = np.searchsorted(rows, np.arange(number + 1))
    published = Publications(offsets, cells.astype(np.int32), messages[rows, cells])
    clients = ClientBlock(np.zeros(number, np.int32), lows.astype(np.int32), highs.astype(np.int32))
    traffic = traffic_of(space, clients, published)
    assert (traffic.messages.tolist(), traffic.subscribers.tolist(), traffic.demand) == naive_demand(
        space, clients, published
    )


def test_traffic_of_blocks_adds_up() -> None:
    """What clients of one block publish is delivered to those of others: 5 sent, 5 received by two, 3 of them own."""
    space = replace(unit_space(4), cells=(2,))
    publisher = Traffic(np.array([3, 2]), np.array([1, 0]), 3)
    subscriber = Traffic(np.array([0, 0]), np.array([1, 1]), 0)
    # Sent 3 + 2; received: the publisher wants cell 0, which only itself publishes; the subscriber gets 3 + 2.
    assert Traffic.sum([publisher, subscriber], space).demand == 5 + 5
