"""Records of JSON, counted in the bytes: as a letter-by-letter count has them, and as the reader delivers them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubplan.errors import InputError
from pubplan.pipeline import jsoncount, jsonlines
from pubplan.pipeline.jsoncount import count_elements, count_lines, count_values
from pubplan.pipeline.source import TextFormat
from pubplan.pipeline.text import lines

KEYS = {"topic": "topic"}
LINES = jsonlines.JsonLayout(KEYS, {}, is_document=False)
DOCUMENT = jsonlines.JsonLayout(KEYS, {}, is_document=True)
STRINGS = ["", "a", "}{", '"', "\\", '\\"', "\\\\", "[", "]", ",", "é", "a: {b}", "\n", "0 1", "\u2028"]


def plain_count(text: str) -> tuple[int, int]:
    """Values, and values where an array stands for its elements, letter by letter."""
    num_values = num_elements = depth = 0
    is_inside = is_escaped = is_array = in_word = False
    for letter in text:
        was_escaped, is_escaped = is_escaped, letter == "\\" and not is_escaped
        is_word, was_in_word = letter not in ' \t\r\n{}[]",:', in_word
        in_word = is_word
        if letter == '"' and not was_escaped:
            is_inside = not is_inside
            begins = is_inside
        else:
            begins = not is_inside and (letter in "{[" or (is_word and not was_in_word))
        if begins:
            num_values += depth == 0
            num_elements += (depth == 0 and letter != "[") or (depth == 1 and is_array)
        if not is_inside and letter in "{[":
            is_array = letter == "[" if depth == 0 else is_array
            depth += 1
        depth -= not is_inside and letter in "}]"
    return num_values, num_elements


def random_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return [rng.choice(STRINGS), rng.choice(STRINGS), rng.randrange(-9, 9), 1.5e300, None, True][kind]
    inner = [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return inner if kind < 8 else {rng.choice(STRINGS) + str(key): value for key, value in enumerate(inner)}


def random_object(rng: random.Random) -> dict[str, Any]:
    return {"topic": rng.choice(STRINGS), "more": random_value(rng)}


def written(rng: random.Random, value: Any, *, on_one_line: bool = False) -> str:
    indent = None if on_one_line else rng.choice([None, 0, 2])
    return json.dumps(value, indent=indent, ensure_ascii=rng.random() < 0.5)


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 1 << 18])
def test_counts_are_those_of_a_letter_by_letter_count(monkeypatch, block_bytes: int) -> None:
    """On any text, whole values or not, and wherever it is cut into blocks."""
    monkeypatch.setattr(jsoncount, "BLOCK_BYTES", block_bytes)
    rng = random.Random(block_bytes)
    pieces = ["{", "}", "[", "]", '"', "\\", ",", ":", " ", "\n", "a", "12", "é", '\\"', "{}", "[]", '""']
    texts = ["".join(rng.choices(pieces, k=rng.randrange(40))) for _ in range(300)]
    for _ in range(100):
        text = " ".join(written(rng, random_value(rng)) for _ in range(rng.randrange(5)))
        texts += [text, text[: rng.randrange(len(text) + 1)]]
    for text in texts:
        assert (count_values(text.encode()), count_elements(text.encode())) == plain_count(text), text


@pytest.mark.parametrize("seed", range(20))
def test_documents_have_the_records_that_were_written(tmp_path: Path, seed: int) -> None:
    """Arrays, indented objects and both in turn: every element of an array, and every other value, is a record."""
    rng = random.Random(seed)
    path = tmp_path / "e.json"
    for _ in range(10):
        values = [[random_value(rng) if rng.random() < 0.2 else random_object(rng) for _ in range(rng.randrange(6))]]
        values += [random_object(rng) for _ in range(rng.randrange(3))]
        rng.shuffle(values)
        path.write_text(rng.choice(["", " ", "\n"]).join(written(rng, value) for value in values))
        records = [record for value in values for record in (value if isinstance(value, list) else [value])]
        (batch,) = jsonlines.read_json(path, None, DOCUMENT, TextFormat())
        assert batch.num_records == len(records)
        assert batch.num_rows == sum(isinstance(record, dict) for record in records)


@pytest.mark.parametrize("seed", range(20))
def test_lines_have_the_records_that_were_written(seed: int) -> None:
    """Objects alone on a line, glued to others or behind other values; one more for the rest that is broken."""
    rng = random.Random(seed)
    tails = ["{", '{"a": 1', '{"a": "b}', "}", ",{}", '"', "tru", "01", "nulltrue", "1.", "é", "\\", "{} {broken} {}"]
    text, num_records, num_objects = "", 0, 0
    for _ in range(200):
        values = [random_object(rng) if rng.random() < 0.9 else random_value(rng) for _ in range(rng.choice([1, 1, 3]))]
        tail = rng.choice(tails) if rng.random() < 0.1 else ""
        text += rng.choice(["", " ", "\t"]).join(written(rng, value, on_one_line=True) + " " for value in values)
        text += tail + rng.choice(["\n", "\r\n", "\n \n"])
        num_records += len(values) + (2 if tail.startswith("{}") else 1 if tail else 0)
        num_objects += sum(isinstance(value, dict) for value in values) + tail.startswith("{}")
    batch = jsonlines.parse_chunk("file", lines(text.encode()), LINES)
    assert batch.num_records == num_records
    assert (batch.num_rows, len(batch.malformed)) == (num_objects, num_records - num_objects)


@pytest.mark.parametrize("seed", range(5))
def test_no_line_makes_the_counts_differ(seed: int) -> None:
    """Whatever bytes a line has, it is counted as it is read: a broken line never refuses its file."""
    rng = random.Random(seed)
    pieces = [b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b" ", b"\t", b"a", b"0", b"-", b".5", b"null", b"NaN"]
    pieces += [
        b"{}",
        b"[]",
        b'""',
        b'{"a":1}',
        b'{"x":[{}]}',
        b"[1,2]",
        b"\xff",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
        b"\0",
        b"\x0b",
    ]
    for _ in range(2000):
        line = b"".join(rng.choices(pieces, k=rng.randrange(1, 9)))
        batch = jsonlines.parse_chunk("file", lines(line), LINES)
        assert batch.num_records >= bool(line.strip(b" \t")), line


@pytest.mark.parametrize("text", ["01", "nulltrue", "1true", "-1-2", "truefalse {}"])
def test_words_without_space_between_them_are_one_record(text: str) -> None:
    """What the decoder would take for two numbers or words is broken."""
    batch = jsonlines.parse_chunk("file", lines(f'{text}\n{{"topic": "a"}}1\n'.encode()), LINES)
    assert batch.malformed == [text, "1"]
    assert batch.num_records == 3


def test_lines_with_one_object_need_no_scan(monkeypatch) -> None:
    """Only lines on which a second value could follow an object are scanned."""
    scanned = []
    monkeypatch.setattr(jsoncount, "count_values", lambda text: scanned.append(text) or 5)
    plain = [b'{"a": {"b": [{}, {"c": 1} ]}}', b'{"a": "{"}']
    others = [b'{"a": "{b}c"}', b"{}{}", b" {}", b'{} "x"', b""]
    assert count_lines([*plain, *others]) == 2 + 5
    assert scanned == [b"\n".join(others)]


def _losing_the_second(values: Callable[[str], Any]) -> Callable[[str], Any]:
    def lossy(text: str) -> Any:
        for number, (value, raw) in enumerate(values(text)):
            if isinstance(value, list):
                yield value[:1] + value[2:], raw
            elif number != 1:
                yield value, raw

    return lossy


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ('[{"topic": "a"}, {"topic": "b"}, {"topic": "c"}]', DOCUMENT),
        ('{\n "topic": "a"\n}\n{\n "topic": "b"\n}\n{"topic": "c"}', DOCUMENT),
        ('{"topic": "a"}{"topic": "b"}\n{"topic": "c"}\n', LINES),
    ],
    ids=["array", "indented", "lines"],
)
def test_a_reader_that_loses_a_record_is_refused(tmp_path: Path, monkeypatch, text: str, layout) -> None:
    """The file and both counts are named."""
    path = tmp_path / "e.json"
    path.write_text(text)
    monkeypatch.setattr(jsonlines, "_values", _losing_the_second(jsonlines._values))
    with pytest.raises(InputError, match=r"e\.json: 3 records were counted, but 2 were read\."):
        list(jsonlines.read_json(path, None, layout, TextFormat()))
