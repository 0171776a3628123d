"""Text in chunks of whole records, and how many records there are, counted without parsing them.

A record is a line, whatever ends it (LF, CR LF or CR, also mixed); empty lines are none. Where quoted fields may hold
line breaks, a record ends at the first line end outside quotes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.files import readable, text_blocks
from pubplan.pipeline.source import TextFormat
from pubplan.workload import Int64Array

CHUNK_BYTES = 1 << 24
MAX_RECORD_BYTES = 1 << 28
_LOOK_AHEAD_BYTES = 1 << 16

OTHER_QUOTING = f"{argument('multiline', False)}, or {argument('quote', 'none')}"
"""What helps where quotes do not close, inside a message."""


@dataclass(frozen=True)
class Chunk:
    """Whole records: every one ends with LF, and none is empty.

    ``ends`` are the positions behind the records where line ends alone do not tell them.
    """

    text: bytes
    num_records: int
    ends: Int64Array | None = None

    def records(self) -> list[bytes]:
        """The records one by one, without their line ends."""
        if self.ends is None:
            return self.text.split(b"\n")[:-1]
        starts = [0, *self.ends[:-1].tolist()]
        return [self.text[first:last].rstrip(b"\r\n") for first, last in zip(starts, self.ends.tolist(), strict=True)]


def read_range(path: Path, first: int, last: int) -> Iterator[Chunk]:
    """The records of a plain file that begin from byte ``first`` to before byte ``last``."""
    with readable(path), open(path, "rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        start, end = (_record_start(handle.fileno(), offset, size) for offset in (first, last))
        text = os.pread(handle.fileno(), end - start, start)
        while len(text) < end - start:  # one call reads at most 2 GB
            more = os.pread(handle.fileno(), end - start - len(text), start + len(text))
            if not more:
                raise InputError(f"{path} became shorter while it was read.")
            text += more
    if start == 0:
        text = text.removeprefix(b"\xef\xbb\xbf")
    if text:
        yield lines(text)


def _record_start(descriptor: int, offset: int, size: int) -> int:
    """The first byte from ``offset`` on that begins a record; the end of the file where none does."""
    if offset == 0 or offset >= size:
        return min(offset, size)
    position = offset - 1
    while position < size:
        block = os.pread(descriptor, _LOOK_AHEAD_BYTES, position)
        if not block:
            break
        end = re.search(rb"\r\n|\n|\r(?!\n|\Z)", block)
        if end is not None:
            return position + end.end()
        # A CR that ends the block may belong to a CR LF: look at it again with what follows.
        position += len(block) - (1 if block.endswith(b"\r") and position + len(block) < size else 0)
    return size


def read_head(path: Path, style: TextFormat) -> list[bytes]:
    """The first records of a file, at least two where it has them."""
    text = b""
    for block in text_blocks(path, style.encoding):
        text += block
        chunk, _ = _cut(path, text, style, 0, is_last=False)
        if chunk is not None and chunk.num_records >= 2:
            return chunk.records()
    chunk, _ = _cut(path, text, style, 0, is_last=True)
    return [] if chunk is None else chunk.records()


def read_stream(path: Path, style: TextFormat) -> Iterator[Chunk]:
    """The records of a file from its beginning to its end: for compressed, encoded and multi-line text."""
    num_records, pending, length = 0, [], 0
    for block in text_blocks(path, style.encoding):
        pending.append(block)
        length += len(block)
        if length >= CHUNK_BYTES:
            chunk, rest = _cut(path, b"".join(pending), style, num_records, is_last=False)
            if chunk is not None:
                yield chunk
                num_records += chunk.num_records
            pending, length = [rest], len(rest)
    chunk, _ = _cut(path, b"".join(pending), style, num_records, is_last=True)
    if chunk is not None:
        yield chunk


def _cut(path: Path, text: bytes, style: TextFormat, num_before: int, *, is_last: bool) -> tuple[Chunk | None, bytes]:
    """The whole records at the beginning of ``text``, and the rest."""
    if len(text) > MAX_RECORD_BYTES + CHUNK_BYTES:
        raise InputError(
            f"{path}: record {num_before + 1:,} is longer than {MAX_RECORD_BYTES >> 20} MB."
            + (f" A quote may never be closed: try {OTHER_QUOTING}." if style.multiline else "")
        )
    if style.multiline and style.quote is not None:
        if is_last and text and not text.endswith((b"\n", b"\r")):
            text += b"\n"
        ends, has_open_quote = _record_ends(text, style)
        if is_last and has_open_quote:
            raise InputError(
                f"{path}: the quote that opens in record {num_before + len(ends) + 1:,} is never closed. "
                f"Read the file with {OTHER_QUOTING}."
            )
        if not len(ends):
            return None, text
        return _without_empty(text[: ends[-1]], ends), text[ends[-1] :]
    end = len(text) if is_last else max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
    return (lines(text[:end]) if end else None), text[end:]


def lines(text: bytes) -> Chunk:
    """Text with one kind of line end, each behind a record."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    if b"\n\n" in text:
        text = re.sub(rb"\n\n+", b"\n", text)
    text = text.removeprefix(b"\n")
    return Chunk(text, text.count(b"\n"))


def _record_ends(text: bytes, style: TextFormat) -> tuple[Int64Array, bool]:
    """Where records end outside quotes, and whether a quote is still open behind the last one."""
    assert style.quote is not None
    seen = text
    if style.escape is not None:  # an escaped quote opens and closes nothing
        seen = re.sub(re.escape(style.escape.encode()) + rb".", b"xx", text, flags=re.DOTALL)
    letters = np.frombuffer(seen, dtype=np.uint8)
    is_inside = np.bitwise_xor.accumulate((letters == ord(style.quote)).view(np.uint8)).view(bool)
    is_end = letters == ord("\n")
    returns = np.flatnonzero(letters[:-1] == ord("\r"))
    is_end[returns[letters[returns + 1] != ord("\n")]] = True
    if len(letters) and letters[-1] == ord("\r"):
        is_end[-1] = True
    return np.flatnonzero(is_end & ~is_inside) + 1, bool(len(letters) and is_inside[-1])


def _without_empty(text: bytes, ends: Int64Array) -> Chunk:
    starts = np.concatenate([[0], ends[:-1]])
    is_empty = np.array([not text[a:b].strip(b"\r\n") for a, b in zip(starts, ends, strict=True)], dtype=bool)
    if is_empty.any():
        text = b"".join(text[a:b] for a, b in zip(starts[~is_empty], ends[~is_empty], strict=True))
        ends = np.cumsum((ends - starts)[~is_empty])
    return Chunk(text, len(ends), ends)


def drop_first(chunk: Chunk) -> Chunk:
    """The chunk without its first record, the header."""
    end = chunk.text.index(b"\n") + 1 if chunk.ends is None else int(chunk.ends[0])
    ends = None if chunk.ends is None else chunk.ends[1:] - end
    return Chunk(chunk.text[end:], chunk.num_records - 1, ends)
