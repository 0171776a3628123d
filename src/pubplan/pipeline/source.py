"""What a raw table is: where it lies, which of its columns mean what, and how its text is written."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pubplan.arguments import argument
from pubplan.errors import InputError, unknown_name

Kind = Literal[
    "events",
    "rates",
    "subscriptions",
    "follows",
    "clients",
    "brokers",
    "sites",
    "latencies",
    "prices",
    "links",
    "messages",
]
Role = Literal["id", "time", "count", "number"]

MAX_COORDINATES = 8
COORDINATES = tuple(f"x_{axis}" for axis in range(MAX_COORDINATES))
"""The columns that say where sites and brokers are; how many of them there are is up to the source."""

ROLES: dict[str, Role] = {
    "topic": "id",
    "subscriber": "id",
    "follower": "id",
    "followee": "id",
    "event": "id",
    "timestamp": "time",
    "size": "count",
    "rate": "count",
    "cost": "count",
    "weight": "count",
    "threshold": "count",
    "client": "id",
    "site": "id",
    "broker": "id",
    "parent": "id",
    "allowed": "id",
    "latency": "number",
    "limit": "number",
    "share": "count",
    "capacity": "count",
    "count": "count",
    "other": "id",
    "price": "number",
    **dict.fromkeys(COORDINATES, "number"),
}
"""What each column is: a name, a moment, a whole number, or any number."""

REQUIRED: dict[Kind, tuple[str, ...]] = {
    "events": ("topic", "timestamp"),
    "rates": ("topic", "rate"),
    "subscriptions": ("subscriber", "topic"),
    "follows": ("follower", "followee"),
    "clients": ("client", "site"),
    "brokers": ("broker",),
    "sites": ("site", COORDINATES[0]),
    "latencies": ("site", "broker", "latency"),
    "prices": ("site", "broker", "price"),
    "links": ("broker", "other", "price"),
    "messages": (),
}
OPTIONAL: dict[Kind, tuple[str, ...]] = {
    "events": ("size", "event"),
    "rates": ("size", "cost"),
    "subscriptions": ("weight", "threshold"),
    "follows": (),
    "clients": ("limit", "allowed", "weight"),
    "brokers": ("parent", "latency", "share", "capacity", *COORDINATES),
    "sites": COORDINATES[1:],
    "latencies": (),
    "prices": (),
    "links": (),
    "messages": ("client", "count"),
}
LISTS = {("subscriptions", "topic"), ("clients", "allowed")}
"""Columns, by kind of source, that may hold a list in every row."""
TEXT_FORMATS = ("csv", "tsv", "copy", "json")
"""Formats whose records pubplan cuts out of text by itself."""
TABLE_FORMATS = ("parquet", "orc")
FILE_FORMATS = (*TEXT_FORMATS, *TABLE_FORMATS)

_TEXT_OPTIONS = ("delimiter", "sep", "quote", "escape", "header", "encoding", "charset", "multiline")
_IGNORED_OPTIONS = ("enforceschema", "recursivefilelookup")


@dataclass(frozen=True)
class TextFormat:
    r"""How records and fields are written in text.

    Args:
        delimiter: between fields.
        quote: around fields that hold delimiters; None where quotes are letters like others.
        escape: before a quote inside quotes; None where quotes are doubled.
        has_header: whether files begin with column names.
        encoding: None is UTF-8, or what a byte order mark says.
        multiline: whether quoted fields may hold line breaks.
        has_backslashes: whether ``\t``, ``\n``, ``\\`` and ``\N`` stand for tab, line break, backslash and null.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    has_header: bool = True
    encoding: str | None = None
    multiline: bool = False
    has_backslashes: bool = False

    def __post_init__(self) -> None:
        for name, value in (("delimiter", self.delimiter), ("quote", self.quote), ("escape", self.escape)):
            if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n"):
                raise InputError(f"{argument(name)} is one ASCII character, not '{value}'.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise InputError(
                    f"There is no text encoding '{self.encoding}'; try utf-8, utf-16 or latin-1."
                ) from error


@dataclass(frozen=True)
class Source:
    """One raw table.

    Args:
        kind: what its rows are.
        path: a file, a directory, a glob, or what the format's connector takes.
        format: parquet, orc, csv, tsv, copy (PostgreSQL's COPY), json, or a Spark format; None goes by file names.
        columns: from our column names to those of the table; an empty name leaves an optional column out. Keys inside
            JSON objects are joined by dots; columns of files without a header are ``_c0``, ``_c1`` and so on.
        options: for Spark's reader; those of text files may also be given here, by Spark's names.
        has_header: whether CSV and TSV files begin with column names; without, columns come in our order.
        delimiter: between the fields of CSV; a comma, or a tab in TSV, unless given.
        quote: around the fields of CSV; "none" where quotes are letters like others, as in TSV.
        escape: what stands before a quote inside a quoted field; without one, quotes are doubled.
        encoding: of text; UTF-8, or what a byte order mark says, unless given.
        multiline: whether quoted fields of CSV may hold line breaks.
        extra: further columns that the source must have, such as those of attributes, and what they are.
    """

    kind: Kind
    path: str
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    has_header: bool = True
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    multiline: bool = False
    extra: Mapping[str, Role] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.columns:
            if name not in self.all_columns:
                raise InputError(unknown_name(f"column of {self.kind}", name, self.all_columns))
        for name in self.required:
            if self.columns.get(name, name) == "":
                raise InputError(f"The column {name} of {self.kind} cannot be left out.")
        self.text_format("csv")

    @property
    def is_local(self) -> bool:
        """Whether pubplan reads the files itself; addresses and tables of connectors are read through Spark."""
        is_address = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", self.path) is not None
        return not is_address and (self.format is None or self.format in FILE_FORMATS)

    @property
    def wanted(self) -> dict[str, str]:
        """From our columns to the names the table should have for them; columns left out are absent."""
        # Without a name for it, no column is the event id.
        names = {name: self.columns.get(name, "" if name == "event" else name) for name in self.all_columns}
        return {name: theirs for name, theirs in names.items() if theirs}

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Our columns in the order of files without a header."""
        return (*self.required, *OPTIONAL[self.kind])

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that cannot be left out."""
        return (*REQUIRED[self.kind], *self.extra)

    def role(self, name: str) -> Role:
        """What one of our columns is."""
        return self.extra.get(name) or ROLES[name]

    def text_format(self, name: str) -> TextFormat:
        """How the text of a file of format ``name`` is written."""
        given = {key.lower(): value for key, value in self.options.items() if key.lower() in _TEXT_OPTIONS}
        is_tabbed = name in ("tsv", "copy")
        quote = self.quote if self.quote is not None else given.get("quote", "none" if is_tabbed else '"')
        escape = self.escape or given.get("escape") or None
        delimiter = self.delimiter or given.get("delimiter") or given.get("sep") or ("\t" if is_tabbed else ",")
        header = given.get("header")
        return TextFormat(
            delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter),
            quote=None if quote in ("none", "") else quote,
            escape=None if escape == quote else escape,
            has_header=self.has_header if header is None else header.lower() == "true",
            encoding=self.encoding or given.get("encoding") or given.get("charset"),
            multiline=name != "json" and (self.multiline or given.get("multiline", "").lower() == "true"),
            has_backslashes=name == "copy",
        )

    def spark_options(self) -> dict[str, str]:
        """What is left for Spark's reader once the options of text are taken out."""
        return {key: value for key, value in self.options.items() if key.lower() not in _TEXT_OPTIONS}

    def check_local_options(self) -> None:
        """Refuse options that only Spark's reader understands, for files it does not read."""
        for key in self.options:
            if key.lower() not in (*_TEXT_OPTIONS, *_IGNORED_OPTIONS):
                raise InputError(
                    f"{self.path} is read without Spark's reader: " + unknown_name("reader option", key, _TEXT_OPTIONS)
                )


def missing_column(source: Source, path: object, name: str, theirs: str, listed: list[str]) -> InputError:
    """The sentence for a column that a file does not have, with the option that would help."""
    sentence = (
        f"{path} has no column '{theirs}', expected for the {name} of {source.kind}. "
        f"It has: {', '.join(listed) or 'none'}. "
    )
    alike = [column for column in listed if column.strip().lower() == theirs.strip().lower()]
    only = listed[0] if len(listed) == 1 else ""
    split = next((mark for mark in ";\t|," if theirs in [part.strip('" ') for part in only.split(mark)]), None)
    if alike:
        return InputError(f"{sentence}Pass {argument('columns', {source.kind: {name: alike[0]}})}.")
    if split is not None and only != theirs:
        return InputError(f"{sentence}Pass {argument('delimiter', split)}.")
    if "\0" in "".join(listed):
        return InputError(f"{sentence}The file looks like UTF-16: pass {argument('encoding', 'utf-16le')} or utf-16be.")
    if any(re.fullmatch(r"[0-9.:TZ +-]+", column) for column in listed if column):
        return InputError(f"{sentence}If the file begins with data, pass {argument('header', False)}.")
    return InputError(f"{sentence}Name another one with {argument('columns', {source.kind: {name: '…'}})}.")
