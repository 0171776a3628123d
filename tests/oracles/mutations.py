"""Every small change to a plan on disk: each key, column, row and file, under hashes that fit the change."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pubplan.files import file_sha256
from pubplan.planning import Exact, Family, Plan, Problem, gap, read_plan, tightest

VALUES = (0, 1, -1, 2**31 - 1, 2**63 - 1, 10**39, 10**400, math.inf, 0.5, None, "text", "", [], {}, True, False)
"""What any value of a JSON file is replaced by."""

NUMBERS = (0, 1, -1, 7, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
"""What numbers of a table are replaced by, where they fit its column."""

OTHER_TYPES = (pa.string(), pa.float64(), pa.int64(), pa.int32(), pa.bool_(), pa.list_(pa.int64()))


@dataclass(frozen=True)
class Mutation:
    """A change: which file, where in it, to what; ``files`` are the new contents of files, None where one is gone."""

    file: str
    where: str
    to: str
    files: dict[str, bytes | None]

    @property
    def name(self) -> str:
        return f"{self.file}:{self.where}={self.to}"


def mutations_of(path: Path) -> Iterator[Mutation]:
    """All small changes to the plan at ``path``, in a fixed order."""
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        name = str(file.relative_to(path))
        if name == "run.json":
            continue
        if name.endswith(".json"):
            yield from _json_mutations(name, json.loads(file.read_text()))
        else:
            yield from _table_mutations(name, pq.read_table(file))
        if name != "plan.json":
            yield from _file_mutations(name, file.read_bytes())
    for name in ("notes.txt", "decisions/plan.json", "certificate/run.json", "decisions/more.parquet"):
        yield Mutation(name, "file", "added", {name: b"{}"})


def claims_of(path: Path, family: Family, problem: Problem) -> Iterator[Mutation]:
    """Changes that keep a plan consistent: another method, or a bound that is tighter, looser or not claimed."""
    record = json.loads((path / "plan.json").read_text())
    for method in family.methods.values():
        parameters = {**problem.to_parameters(), **asdict(method.parameters())}
        changed = {**record, "method": method.name, "parameters": parameters}
        if method.name != record["method"]:
            yield Mutation("plan.json", "method", method.name, {"plan.json": _text(changed).encode()})
    plan = read_plan(path)
    for name in record["bounds"]:
        bounds = {other: plan.certificate(other).bound for other in record["bounds"]}
        file, certificate = f"certificate/{name}.json", json.loads((path / f"certificate/{name}.json").read_text())
        sign = 1 if record["sense"] == "min" else -1
        for to, by in (("tighter", sign), ("looser", -sign)):
            bound = Exact(bounds[name].value + by, bounds[name].scale)
            files = {file: _text({**certificate, "bound": bound.to_dict()}).encode()}
            files["plan.json"] = _text(_with_bounds(record, {**bounds, name: bound})).encode()
            yield Mutation(file, "bound", to, files)
        del bounds[name]
        gone = [other for other in record["files"] if other.startswith((file, f"certificate/{name}-"))]
        kept = {other: sha256 for other, sha256 in record["files"].items() if other not in gone}
        text = _text(_with_bounds({**record, "files": kept}, bounds)).encode()
        yield Mutation(file, "bound", "not claimed", {**dict.fromkeys(gone), "plan.json": text})


def _with_bounds(record: dict[str, Any], bounds: dict[str, Exact]) -> dict[str, Any]:
    """What a plan says that has these bounds."""
    rounded = Exact.rounded_up if record["sense"] == "max" else Exact.rounded_down
    best, exact = tightest(bounds, record["sense"]), Exact(**record["exact"])
    return {
        **record,
        "bounds": {name: rounded(bound) for name, bound in bounds.items()},
        "bound": None if best is None else rounded(best),
        "gap": gap(exact, best),
    }


def sealed(path: Path) -> None:
    """Make the hashes and the digest of the plan at ``path`` fit its files, as far as it can be read."""
    with suppress(Exception):  # whatever is wrong with it is for verify to say
        record = json.loads((path / "plan.json").read_text(), object_pairs_hook=_each_once)
        names = [str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()]
        listed = [name for name in record["files"] if name in names]
        listed += [name for name in names if name not in listed and name not in ("plan.json", "run.json")]
        record["files"] = {name: file_sha256(path / name) for name in listed}
        with suppress(Exception):
            record["digest"] = Plan(path, record).content_digest()
        (path / "plan.json").write_text(_text(record))


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a repeated key would be lost")
    return dict(pairs)


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=True).replace("Infinity", "1e999")


def _json_mutations(file: str, content: dict[str, Any]) -> Iterator[Mutation]:
    for keys in _paths(content):
        if keys[0] in ("digest", "files"):
            continue
        where = ".".join(map(str, keys))
        for value in VALUES:
            changed = _replaced(content, keys, lambda old, value=value: value)
            if _text(changed) != _text(content):
                shown = "10^400" if value == 10**400 else _text(value)
                yield Mutation(file, where, shown, {file: _text(changed).encode()})
        for shown, change in (
            ("one more", lambda old: old + 1),
            ("one less", lambda old: old - 1),
            ("turned around", lambda old: old[::-1]),
            ("twice", lambda old: old + old),
            ("with another key", lambda old: {**old, "more": 1}),
        ):
            with suppress(TypeError):
                changed = _replaced(content, keys, change)
                if changed != content and not isinstance(_at(content, keys), bool):
                    yield Mutation(file, where, shown, {file: _text(changed).encode()})
        yield Mutation(file, where, "dropped", {file: _text(_dropped(content, keys)).encode()})
    for key, value in content.items():
        twice = _text(content)[:-1] + f", {json.dumps(key)}: {_text(value)}}}"
        yield Mutation(file, key, "repeated key", {file: twice.encode()})


def _paths(value: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values inside a JSON value."""
    if keys:
        yield keys
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from _paths(below, (*keys, key))


def _at(value: Any, keys: tuple[Any, ...]) -> Any:
    for key in keys:
        value = value[key]
    return value


def _replaced(value: Any, keys: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not keys:
        return change(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[keys[0]] = _replaced(value[keys[0]], keys[1:], change)
    return copy


def _dropped(value: Any, keys: tuple[Any, ...]) -> Any:
    def without(container: Any) -> Any:
        copy = dict(container) if isinstance(container, dict) else list(container)
        del copy[keys[-1]]
        return copy

    return _replaced(value, keys[:-1], without)


def _file_mutations(file: str, content: bytes) -> Iterator[Mutation]:
    yield Mutation(file, "file", "gone", {file: None})
    yield Mutation(file, "file", "empty", {file: b""})
    yield Mutation(file, "file", "cut", {file: content[: len(content) // 2]})
    yield Mutation(file, "file", "other bytes", {file: bytes(255 - byte for byte in content)})


def _table_mutations(file: str, table: pa.Table) -> Iterator[Mutation]:
    for where, to, changed in (*_row_changes(table), *_column_changes(table), *_value_changes(table)):
        if not changed.equals(table) or not changed.schema.equals(table.schema):
            sink = pa.BufferOutputStream()
            pq.write_table(changed, sink, store_schema=False)
            yield Mutation(file, where, to, {file: sink.getvalue().to_pybytes()})


def _row_changes(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    rows = list(range(table.num_rows))
    orders = {"none": [], "first dropped": rows[1:], "last dropped": rows[:-1], "first twice": [*rows[:1], *rows]}
    orders |= {"turned around": rows[::-1], "last twice": [*rows, *rows[-1:]], "first last": [*rows[1:], *rows[:1]]}
    for to, order in orders.items():
        yield "rows", to, table.take(pa.array(order, pa.int64()))


def _column_changes(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    for number, field in enumerate(table.schema):
        yield field.name, "column dropped", table.remove_column(number)
        yield (
            field.name,
            "column renamed",
            table.rename_columns([*table.column_names[:number], "other", *table.column_names[number + 1 :]]),
        )
        for kind in OTHER_TYPES:
            filler = {pa.string(): "1", pa.float64(): 1.5, pa.bool_(): True}.get(kind, 1)
            values = [[1]] * table.num_rows if pa.types.is_list(kind) else [filler] * table.num_rows
            if kind != field.type:
                yield field.name, f"as {kind}", table.set_column(number, field.name, pa.array(values, kind))
        nullable = pa.field(field.name, field.type)
        nulls = [None, *table[field.name].to_pylist()[1:]][: table.num_rows]
        yield field.name, "a null", table.set_column(number, nullable, pa.array(nulls, field.type))
    yield "columns", "one more", table.append_column("more", pa.array([1] * table.num_rows, pa.int64()))
    yield "columns", "turned around", table.select(table.column_names[::-1])


def _value_changes(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    for number, field in enumerate(table.schema):
        values = table[field.name].to_pylist()
        for row in sorted({0, len(values) // 2, len(values) - 1}) if values else ():
            for to, value in _other_values(values[row], field.type):
                changed = [*values[:row], value, *values[row + 1 :]]
                with suppress(pa.ArrowException, OverflowError):
                    yield field.name, to, table.set_column(number, field, pa.array(changed, field.type))
        for to, every in (("all 0", 0), ("all -1", -1), ("all empty", "")):
            with suppress(pa.ArrowException, TypeError):
                yield field.name, to, table.set_column(number, field, pa.array([every] * len(values), field.type))
        yield field.name, "values turned around", table.set_column(number, field, pa.array(values[::-1], field.type))


def _other_values(value: Any, kind: pa.DataType) -> Iterator[tuple[str, Any]]:
    if pa.types.is_list(kind):
        yield from (("emptied", []), ("longer", [*value, 0]), ("turned around", value[::-1]), ("shorter", value[1:]))
        if value:
            yield from (
                (f"element {to}", [other, *value[1:]]) for to, other in _other_values(value[0], kind.value_type)
            )
    elif pa.types.is_boolean(kind):
        yield "not", not value
    elif pa.types.is_string(kind):
        yield from (("text", "text"), ("longer", value + "x"), ("emptied", ""))
    elif pa.types.is_floating(kind):
        yield from ((str(other), other) for other in (0.0, -1.0, value + 1, value - 1, math.nan, math.inf, 1e300))
    else:
        yield from (("one more", value + 1), ("one less", value - 1))
        yield from ((str(other), other) for other in NUMBERS)
