"""Small files, written whole."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pubplan.engine import write_parquet
from pubplan.errors import InputError
from pubplan.files import read_json_object, write_json, write_text


def test_json_comes_back(tmp_path) -> None:
    """What is written is read back; keys keep their order."""
    write_json(tmp_path / "a.json", {"b": 1, "a": ["ü", 2.5]})
    assert list(read_json_object(tmp_path / "a.json").items()) == [("b", 1), ("a", ["ü", 2.5])]


def test_nothing_is_left_of_a_failed_write(tmp_path, monkeypatch) -> None:
    """A write that fails half-way, text that cannot be encoded, a value that is not JSON: no file, no temporary one."""
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "\ud800")
    with pytest.raises(ValueError, match="Out of range"):
        write_json(tmp_path / "a.json", float("nan"))
    monkeypatch.setattr("os.fsync", lambda descriptor: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_text(tmp_path / "a.txt", "text")
    with pytest.raises(ZeroDivisionError):
        write_parquet(tmp_path / "a.parquet", pa.table({"x": [1]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b""])
def test_broken_json_names_its_file(tmp_path, content: bytes) -> None:
    """Anything but a JSON object is refused with the file's name."""
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json"):
        read_json_object(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1e999}', "too large"),
        ('{"a": -1e999}', "too large"),
        ('{"a": NaN}', "not a number"),
        ('{"a": ' + "1" * 41 + "}", "40 digits"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "'b' occurs twice"),
    ],
)
def test_numbers_and_keys_that_mean_nothing_are_refused(tmp_path, content: str, message: str) -> None:
    """Numbers beyond a float, endless integers and repeated keys are damage, whatever Python's parser makes of them."""
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=message):
        read_json_object(tmp_path / "a.json")


def test_integers_of_128_bits_are_read(tmp_path) -> None:
    """2^128 has 39 digits."""
    write_json(tmp_path / "a.json", {"a": -(2**128)})
    assert read_json_object(tmp_path / "a.json") == {"a": -(2**128)}
