"""What clients publish: read as lists by client, checked, and agreeing with the density."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pubplan.engine import BLOCK_ROWS, write_block
from pubplan.errors import InputError
from pubplan.workload import Client, ContentWorkload, build_content_workload, unit_space, write_table
from pubplan.workload.content.publications import sum_by_cell
from pubplan.workload.content.tables import density_table

from .conftest import BROKERS, CLIENTS, LATENCIES

SPACE = replace(unit_space(10, 5), cells=(2, 5))


def build(path: Path, published: dict[str, dict[int, int]], **given: object) -> ContentWorkload:
    clients = {name: replace(CLIENTS[name], publishes=published[name]) for name in CLIENTS}
    return build_content_workload(path, SPACE, clients, BROKERS, LATENCIES, **given)


def test_publications_are_read_back(tmp_path: Path) -> None:
    """By client in number order, cells ascending; without a density the workload's is what clients publish."""
    workload = build(tmp_path / "w", {"zoe": {7: 2, 1: 5}, "ann": {}, "bob": {1: 4, 9: 0}})
    offsets, cells, counts = workload.read_publications(0)
    assert (offsets.dtype, cells.dtype, counts.dtype) == (np.int64, np.int32, np.int64)
    # ann, bob, zoe
    assert offsets.tolist() == [0, 0, 2, 4]
    assert cells.tolist() == [1, 9, 1, 7]
    assert counts.tolist() == [4, 0, 5, 2]
    assert workload.density is not None
    assert workload.density.reshape(-1).tolist() == [0, 9, 0, 0, 0, 0, 0, 2, 0, 0]
    assert workload.published().tolist() == [0, 9, 0, 0, 0, 0, 0, 2, 0, 0]
    assert workload.totals.rate == 11
    workload.check()


def test_clients_that_publish_nothing(tiny: ContentWorkload) -> None:
    """A workload that does not say what clients publish has an empty row for each."""
    offsets, cells, counts = tiny.read_publications(0)
    assert (offsets.tolist(), cells.tolist(), counts.tolist()) == ([0, 0, 0, 0], [], [])


def test_publications_of_several_blocks(tmp_path: Path) -> None:
    """Against a sum by hand: client number n publishes n % 3 messages in cell n % 10."""
    number = BLOCK_ROWS + 5
    clients = {f"c{row:06d}": Client("oslo", [(0, 1), (0, 1)], publishes={row % 10: row % 3}) for row in range(number)}
    workload = build_content_workload(tmp_path / "w", SPACE, clients, BROKERS, LATENCIES)
    expected = [0] * 10
    for row in range(number):
        expected[row % 10] += row % 3
    assert workload.published().tolist() == expected
    assert workload.read_publications(1)[1].tolist() == [row % 10 for row in range(BLOCK_ROWS, number)]


def test_the_density_holds_what_clients_publish(tmp_path: Path) -> None:
    """It may have messages whose publisher is not known, but lacks none of those that clients publish."""
    published = {"zoe": {1: 5}, "ann": {}, "bob": {1: 4}}
    more = build(tmp_path / "more", published, density=[3, 10, *[0] * 8])
    assert more.totals.rate == 13
    more.check()
    with pytest.raises(InputError, match="Clients publish 9 messages in cell 1; the density has 8"):
        build(tmp_path / "less", published, density=[3, 8, *[0] * 8])
    # The same sum in other cells is found by reading all clients.
    table = density_table(np.array([4, 8, 1, *[0] * 7]))
    blocks = {**more.manifest.blocks, "density": write_table(more.path, "density", table)}
    with pytest.raises(InputError, match="9 messages in cell 1; the density has 8"):
        ContentWorkload(more.path, replace(more.manifest, blocks=blocks)).check()


@pytest.mark.parametrize(
    ("cells", "counts", "sentence"),
    [
        ([[1], [2, 2], []], [[1], [1, 1], []], "not in ascending order"),
        ([[1], [3, 2], []], [[1], [1, 1], []], "not in ascending order"),
        ([[10], [], []], [[1], [], []], "cells that the space does not have"),
        ([[-1], [], []], [[1], [], []], "cells that the space does not have"),
        ([[1], [], []], [[-1], [], []], "no number of messages from 0"),
        ([[1], [2], []], [[1], [], [1]], "no number of messages from 0"),
        ([[1], [2], []], None, "no numbers of messages"),
    ],
)
def test_damaged_publications_are_refused(
    tmp_path: Path, cells: list[list[int]], counts: list[list[int]] | None, sentence: str
) -> None:
    """Cells are ascending numbers of the space with one number of messages each."""
    workload = build(tmp_path / "w", {"zoe": {1: 5}, "ann": {2: 1}, "bob": {}})
    table = workload.client_block(0).drop_columns(["cells", "counts"])
    table = table.append_column("cells", pa.array(cells, pa.list_(pa.int32())))
    if counts is not None:
        table = table.append_column("counts", pa.array(counts, pa.list_(pa.int64())))
    write_block(workload.path / "clients", 0, table)
    with pytest.raises(InputError, match=sentence):
        ContentWorkload(workload.path, workload.manifest).read_publications(0)


def test_ascending_cells_begin_anew_with_every_client(tmp_path: Path) -> None:
    """A client's first cell may be below the last one of the client before it, with empty clients between."""
    workload = build(tmp_path / "w", {"ann": {8: 1, 9: 1}, "bob": {}, "zoe": {0: 1, 9: 1}})
    assert workload.read_publications(0)[1].tolist() == [8, 9, 0, 9]


def test_sums_beyond_64_bits_are_refused() -> None:
    """Instead of wrapping around."""
    with pytest.raises(InputError, match="more than 64 bits hold"):
        sum_by_cell(np.array([0, 0], np.int32), np.array([2**62, 2**62]), 1)
