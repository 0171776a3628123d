"""Blocks: files that are whole, and the same answers in process and on Spark."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubplan.engine import BLOCK_ROWS, block_range, map_blocks, num_blocks, read_block, read_parquet, write_block
from pubplan.errors import EngineError, Infeasible, InputError, Reason


@pytest.mark.parametrize(("rows", "blocks"), [(0, 0), (1, 1), (BLOCK_ROWS, 1), (BLOCK_ROWS + 1, 2)])
def test_rows_fill_blocks(rows: int, blocks: int) -> None:
    """Every row is in exactly one block, blocks are full but the last."""
    assert num_blocks(rows) == blocks
    covered = [number for block in range(blocks) for number in range(*block_range(block, rows))]
    assert covered == list(range(rows))


def test_both_ways_give_the_same_results_in_block_order(spark) -> None:
    """Arrays, numbers and text come back equal and in order, however many tasks Spark makes of them."""
    table = np.arange(1000, dtype=np.int64)

    def work(block: int):
        rng = np.random.default_rng(block)
        return block, rng.random(3).tolist(), f"block {block}", table[block : block + 3] * 2

    alone = list(map_blocks(work, 200))
    with_spark = list(map_blocks(work, 200, spark))
    assert [answer[0] for answer in with_spark] == list(range(200))
    for left, right in zip(alone, with_spark, strict=True):
        assert left[:3] == right[:3]
        np.testing.assert_array_equal(left[3], right[3])


def test_no_blocks_no_results(spark) -> None:
    """Nothing to do is not an error."""
    assert list(map_blocks(lambda block: block, 0)) == []
    assert list(map_blocks(lambda block: block, 0, spark)) == []


def test_our_errors_arrive_as_they_were(spark) -> None:
    """A refusal raised in a task reaches the caller with its type and reasons."""

    def refuse(block: int) -> None:
        if block == 3:
            raise Infeasible("no room", [Reason("capacity", 5, 4, "block 3")])

    for session in (None, spark):
        with pytest.raises(Infeasible, match="no room") as caught:
            list(map_blocks(refuse, 6, session))
        assert caught.value.reasons == (Reason("capacity", 5, 4, "block 3"),)


def test_other_errors_name_their_cause(spark) -> None:
    """A bug in a task surfaces as engine trouble that names it."""

    def fail(block: int) -> float:
        return 1 / (block - 1)

    with pytest.raises(ZeroDivisionError):
        list(map_blocks(fail, 3))
    with pytest.raises(EngineError, match="ZeroDivisionError"):
        list(map_blocks(fail, 3, spark))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (zlib.error("bad header"), "zlib.error: bad header"),
        (Exception("out of disk"), "Exception: out of disk"),
        (ValueError("bad value\nno Error on this line"), "ValueError: bad value"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_error_is_named_not_code_that_mentions_errors(spark, error: Exception, expected: str) -> None:
    """Tracebacks quote our code, such as "except PubplanError as error:"; the line that is shown names the error."""

    def fail(block: int) -> None:
        raise error

    with pytest.raises(EngineError) as caught:
        list(map_blocks(fail, 1, spark))
    assert "except PubplanError" in str(caught.value.__cause__)
    assert str(caught.value) == f"A Spark task failed: {expected}"


def test_a_slow_reader_is_not_flooded() -> None:
    """In process, only a few results wait for their reader."""
    started = 0
    lock = threading.Lock()

    def work(block: int) -> int:
        nonlocal started
        with lock:
            started += 1
        return block

    results = map_blocks(work, 1000)
    assert next(results) == 0
    assert started < 100
    results.close()


def test_a_block_comes_back_as_written(tmp_path) -> None:
    """Writing twice, as a retried task does, is harmless and leaves no temporary file."""
    table = pa.table({"number": pa.array([1, 2, 3]), "name": pa.array(["a", "ü", ""])})
    sizes = {write_block(tmp_path, 17, table) for _ in range(2)}
    assert [path.name for path in tmp_path.iterdir()] == ["00017.parquet"]
    assert sizes == {(tmp_path / "00017.parquet").stat().st_size}
    assert read_block(tmp_path, 17).equals(table)
    assert read_block(tmp_path, 17, ["name"]).column_names == ["name"]


def test_unreadable_blocks_are_named(tmp_path) -> None:
    """Missing, damaged and foreign files are errors with their path."""
    with pytest.raises(InputError, match=r"00000.parquet is missing"):
        read_block(tmp_path, 0)
    (tmp_path / "00000.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match=r"00000.parquet cannot be read"):
        read_block(tmp_path, 0)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="no column topics"):
        read_parquet(tmp_path / "other.parquet", ["topics"])
