"""Local files: which belong to a source, what is in them, and whether they stay the same while they are read."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path, PurePath
from typing import BinaryIO, cast
from urllib.parse import unquote

import pyarrow as pa

from pubplan.arguments import argument
from pubplan.errors import InputError
from pubplan.pipeline.source import Source

_BY_EXTENSION = {
    "parquet": "parquet",
    "orc": "orc",
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
    "avro": "avro",
}
_BY_CONTENT = {b"PAR1": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}
_COMPRESSION = {"gz", "bz2", "zst", "lz4", "snappy", "deflate", "xz"}
_COMPRESSED_CONTENT = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zst",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ": "xz",
}
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16le", codecs.BOM_UTF16_BE: "utf-16be"}
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class File:
    """A file as it was when the source was listed."""

    path: Path
    size: int
    changed_ns: int


def list_files(source: Source) -> list[File]:
    """The files behind a path, in order; hidden files and directories, and empty part files, are left out.

    Raises:
        InputError: nothing is there, or all of it is empty.
    """
    path = Path(source.path)
    bases = [path] if path.exists() else [Path(name) for name in sorted(glob(source.path))]
    if not bases:
        raise InputError(f"There is no {source.path} to read {source.kind} from.")
    paths = [Path(os.path.abspath(file)) for base in bases for file in (_walk(base) if base.is_dir() else [base])]
    if not paths:
        raise InputError(f"{source.path} has no files; expected {source.kind} as Parquet, CSV, TSV or JSON lines.")
    files = [File(file, file.stat().st_size, file.stat().st_mtime_ns) for file in paths]
    filled = [file for file in files if file.size]
    if not filled:
        raise InputError(f"{paths[0]} is empty; expected {source.kind} with {', '.join(source.required)}.")
    return filled


def _walk(base: Path) -> Iterator[Path]:
    seen = set()
    for directory, directories, names in os.walk(base, followlinks=True):
        real = os.path.realpath(directory)
        directories[:] = [] if real in seen else sorted(name for name in directories if not _is_hidden(name))
        if real not in seen:
            yield from (Path(directory, name) for name in sorted(names) if not _is_hidden(name))
        seen.add(real)


def _is_hidden(name: str) -> bool:
    """What Hadoop and Spark hide too: names that begin with a dot or underscore, unless they are partitions."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def check_unchanged(files: list[File]) -> None:
    """Refuse files that were written to while they were read.

    Raises:
        InputError: a file is gone, or has another size or time than when it was listed.
    """
    for file in files:
        try:
            now = file.path.stat()
        except OSError as error:
            raise InputError(f"{file.path} went away while it was read.") from error
        if (now.st_size, now.st_mtime_ns) != (file.size, file.changed_ns):
            raise InputError(
                f"{file.path} changed while it was read: it had {file.size:,} bytes, now {now.st_size:,}. "
                "Ingest a copy, or files that are complete."
            )


def format_of(source: Source, files: list[File]) -> str:
    """The one format of all files: the format given, or what their names say, or their first bytes.

    Raises:
        InputError: no name or content says it, files differ, or pubplan cannot read it.
    """
    kinds = {}
    for file in files:
        by_content = _by_content(file.path)
        by_name = source.format or format_by_name(file.path) or by_content
        if by_content is not None and by_name is not None and by_content != by_name:
            raise InputError(
                f"{file.path} is {by_content.capitalize()} by its content, not {by_name}. "
                f"Pass {argument('format', {source.kind: by_content})}."
            )
        kinds[by_name or f"unknown ({file.path.name})"] = file.path
    if "avro" in kinds:
        package = "org.apache.spark:spark-avro_2.13:<Spark's version>"
        raise InputError(
            f"{kinds['avro']} is Avro, which Spark reads with the package spark-avro: pass "
            f"{argument('format', {source.kind: 'avro'})} and {argument('conf', {'spark.jars.packages': package})}."
        )
    if len(kinds) != 1 or next(iter(kinds)).startswith("unknown"):
        seen = ", ".join(sorted(kinds))
        raise InputError(
            f"Cannot tell the format of {source.path} (found: {seen}). "
            f"Name it with {argument('format', {source.kind: '…'})}."
        )
    return next(iter(kinds))


def format_by_name(path: PurePath) -> str | None:
    """The format that a file name says, or None."""
    parts = path.name.lower().split(".")[1:]
    while parts and parts[-1] in _COMPRESSION:
        parts.pop()
    return _BY_EXTENSION.get(parts[-1]) if parts else None


def _by_content(path: Path) -> str | None:
    with readable(path), open(path, "rb") as handle:
        start = handle.read(8)
    return next((name for mark, name in _BY_CONTENT.items() if start.startswith(mark)), None)


def partitions(base: str, path: Path) -> dict[str, str | None]:
    """The ``name=value`` directories of a file below ``base``, as text: ``day=007`` is "007"."""
    root = Path(os.path.abspath(base))
    parts = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else path.parts[:-1]
    pairs = [part.partition("=") for part in parts if "=" in part]
    return {unquote(name): None if value == _NULL_PARTITION else unquote(value) for name, _, value in pairs}


def is_plain(path: Path, encoding: str | None) -> bool:
    """Whether the bytes of a file are UTF-8 text as they lie there, so that parts of it can be read alone."""
    if encoding is not None and codecs.lookup(encoding).name not in ("utf-8", "ascii"):
        return False
    with readable(path), open(path, "rb") as handle:
        start = handle.read(8)
    is_encoded = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return not is_encoded and _compression(path, start) is None


def _compression(path: Path, start: bytes) -> str | None:
    by_content = next((name for mark, name in _COMPRESSED_CONTENT.items() if start.startswith(mark)), None)
    extension = path.suffix.lower().removeprefix(".")
    named = extension if extension in _COMPRESSION else None
    if by_content is None and named in ("gz", "bz2", "zst", "xz"):
        raise InputError(f"{path} is named .{named}, but its content is not compressed that way.")
    return by_content or named


def text_blocks(path: Path, encoding: str | None) -> Iterator[bytes]:
    """The text of a file as UTF-8 in blocks, decompressed; without a byte order mark."""
    with readable(path), _decompressed(path) as stream:
        block = stream.read(_READ_BYTES)
        marked = next((name for mark, name in _MARKS.items() if block.startswith(mark)), None)
        name = codecs.lookup(encoding or marked or "utf-8").name
        if name in ("utf-8", "ascii"):
            yield block.removeprefix(codecs.BOM_UTF8)
            while block := stream.read(_READ_BYTES):
                yield block
            return
        decoder = codecs.getincrementaldecoder(name)(errors="strict")
        text = decoder.decode(block).removeprefix("\ufeff")
        while block:
            yield text.encode("utf-8", errors="surrogatepass")
            block = stream.read(_READ_BYTES)
            text = decoder.decode(block, final=not block)
        yield text.encode("utf-8", errors="surrogatepass")


@contextmanager
def _decompressed(path: Path) -> Iterator[BinaryIO]:
    with open(path, "rb") as handle:
        how = _compression(path, handle.read(8))
        handle.seek(0)
        if how is None:
            yield handle
        elif how == "gz":
            with gzip.open(handle) as stream:
                yield cast(BinaryIO, stream)
        elif how == "bz2":
            with bz2.open(handle) as stream:
                yield cast(BinaryIO, stream)
        elif how == "xz":
            with lzma.open(handle) as stream:
                yield cast(BinaryIO, stream)
        elif how == "deflate":
            yield cast(BinaryIO, _Inflated(handle))
        elif how == "zst" or handle.read(4) == b"\x04\x22\x4d\x18":
            with pa.input_stream(str(path), compression={"zst": "zstd"}.get(how, how)) as stream:
                yield cast(BinaryIO, stream)
        else:
            handle.seek(0)
            yield cast(BinaryIO, _HadoopBlocks(handle, "snappy" if how == "snappy" else "lz4_raw"))


class _Inflated:
    """What Hadoop calls deflate: a zlib stream."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle, self._state = handle, zlib.decompressobj()

    def read(self, size: int) -> bytes:
        while not self._state.eof:
            given = self._state.unconsumed_tail or self._handle.read(size)
            if not given:
                raise EOFError
            if inflated := self._state.decompress(given, size):
                return inflated
        return b""


class _HadoopBlocks:
    """Hadoop's framing of snappy and lz4: sizes before blocks, and before their parts."""

    def __init__(self, handle: BinaryIO, codec: str) -> None:
        self._handle, self._codec = handle, pa.Codec(codec)

    def read(self, size: int) -> bytes:
        header = self._handle.read(4)
        if not header:
            return b""
        need, parts = int.from_bytes(header, "big"), b""
        while len(parts) < need:
            given = self._handle.read(int.from_bytes(self._handle.read(4), "big"))
            if not given:
                raise EOFError
            parts += self._codec.decompress(given, min(need - len(parts), 1 << 18), asbytes=True)
        return parts or self.read(size)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn trouble with a file into a sentence that names it."""
    try:
        yield
    except EOFError as error:
        raise InputError(f"Cannot read {path}: unexpected end of the compressed data.") from error
    except UnicodeDecodeError as error:
        sentence = f"Cannot read {path} as {error.encoding}: {error.reason}."
        raise InputError(f"{sentence} Pass another {argument('encoding')}.") from error
    except (OSError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        detail = getattr(error, "strerror", None) or str(error).strip().splitlines()[0]
        raise InputError(f"Cannot read {path}: {detail}.") from error
