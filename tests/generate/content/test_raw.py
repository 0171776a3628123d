"""Raw tables hold the workload with ids instead of numbers, and the options that make it a workload again."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.generate import content_adversarial, content_feeds, content_newsgroups, generate, write_raw
from pubplan.generate.raw import INGEST
from pubplan.workload import PUBLISHER, ContentWorkload


def read(directory: Path, key: str) -> pa.Table:
    return pq.read_table(directory).sort_by(key)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ContentWorkload]:
    """Two blocks of clients and a tree of two levels."""
    directory = tmp_path_factory.mktemp("raw")
    shape = content_newsgroups(70_000, 30, seed=2, levels=2, num_sites=100)
    write_raw(shape, directory / "raw")
    return directory / "raw", generate(shape, directory / "workload")


def test_clients(raw: tuple[Path, ContentWorkload]) -> None:
    """Every client once, in no order, with the id of its site and both ends of each attribute."""
    directory, workload = raw
    assert (
        not pa.compute.equal(
            pq.read_table(directory / "clients")["client"], read(directory / "clients", "client")["client"]
        )
        .to_numpy()
        .all()
    )
    table = read(directory / "clients", "client")
    assert table.column_names == ["client", "site", "u_low", "u_high", "v_low", "v_high"]
    assert table["client"].to_pylist() == workload.ids("clients", "client_id").to_pylist()
    assert table["site"].to_pylist() == workload.site_ids.take(pa.array(workload.column("clients", "site"))).to_pylist()
    for column, name in (("u_low", "low_0"), ("u_high", "high_0"), ("v_low", "low_1"), ("v_high", "high_1")):
        assert table[column].to_pylist() == workload.column("clients", name).tolist()


def test_brokers(raw: tuple[Path, ContentWorkload]) -> None:
    """Parents by id, none where the publisher feeds a broker; latency, share, capacity and coordinates as they are."""
    directory, workload = raw
    table, brokers = read(directory / "brokers", "broker"), workload.brokers
    ids = brokers.ids.to_pylist()
    assert table["broker"].to_pylist() == ids
    parents = [None if parent == PUBLISHER else ids[parent] for parent in brokers.parents.tolist()]
    assert table["parent"].to_pylist() == parents
    assert None in parents
    assert table["latency"].to_pylist() == brokers.latencies.tolist()
    assert table["share"].to_pylist() == brokers.shares.tolist()
    assert table["capacity"].to_pylist() == [0] * 30
    assert np.column_stack([table[f"x_{axis}"] for axis in range(5)]).tolist() == brokers.coordinates.tolist()


def test_sites(raw: tuple[Path, ContentWorkload]) -> None:
    """Coordinates, from which latencies follow."""
    directory, workload = raw
    table = read(directory / "sites", "site")
    assert table["site"].to_pylist() == workload.site_ids.to_pylist()
    assert np.column_stack([table[f"x_{axis}"] for axis in range(5)]).tolist() == workload.site_coordinates.tolist()


def test_options(raw: tuple[Path, ContentWorkload]) -> None:
    """Attributes with their columns, and the grid."""
    options = tomllib.loads((raw[0] / INGEST).read_text())["ingest"]
    assert options["attribute"] == ["u=u_low:u_high", "v=v_low:v_high"]
    assert options["grid"] == ["u=0:1:1048576", "v=0:1:1048576"]


def test_latencies_where_there_are_no_coordinates(tmp_path: Path) -> None:
    """A row for each site and broker."""
    shape = content_adversarial(12, 3)
    write_raw(shape, tmp_path / "raw")
    assert not (tmp_path / "raw" / "sites").exists()
    table = pq.read_table(tmp_path / "raw" / "latencies").sort_by([("site", "ascending"), ("broker", "ascending")])
    assert table["latency"].to_pylist() == shape.sites.latencies.reshape(-1).tolist()
    assert table["site"].to_pylist()[:4] == ["site000000000"] * 3 + ["site000000001"]


def test_spark_writes_the_same_rows(tmp_path: Path, spark) -> None:
    """Files of tasks are those of threads."""
    shape = content_feeds(70_000, 10)
    write_raw(shape, tmp_path / "here")
    write_raw(shape, tmp_path / "there", spark=spark)
    for table in ("clients", "brokers", "sites"):
        assert pq.read_table(tmp_path / "here" / table) == pq.read_table(tmp_path / "there" / table)
