"""Writes docs/python.md from the signatures and docstrings of the public names. Run by ``make docs``."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pubplan
from pubplan import api, errors, planning, workload
from pubplan.problems import FAMILIES

PAGE = Path(__file__).parents[1] / "docs" / "python.md"

EXAMPLE = """import pubplan

workload = pubplan.build_workload(
    "workload",
    rates={"chess": 2, "news": 3, "sport": 5},
    interests={"ann": ["news"], "bob": ["news", "sport"], "cat": ["news", "sport"], "dan": ["chess"]},
    replace=True,
)
problem = pubplan.select.Problem(workload, capacity=9, threshold=3)
result = pubplan.select.solve(problem, out="plan", replace=True)
plan = result.plan
"""
"""What the examples of all docstrings begin with."""

FILES = {
    "rates.csv": "topic,rate\nnews,3\nsport,5\n",
    "subscriptions.csv": "subscriber,topic\nann,news\nbob,news\nbob,sport\n",
    "clients.csv": "client,site,price_low,price_high\nann,oslo,0,2\nbob,rome,8,10\n",
    "brokers.csv": "broker\nnorth\n",
}
"""The files that the examples read."""

LEAD = f"""# Python

<!-- Written by 'make docs' from the docstrings; change those. -->

What commands do is done by functions: `pubplan.ingest`, `describe`, `explain`, `diff`, `report` and `export` beside the
`solve` and `verify` of every family. Plans and workloads are passed as values or as the paths of their directories:
`AnyPlan` is a `Plan`, a `Result` or a path, `AnyWorkload` a `Workload` or a path. Spark starts when it is needed, and
is stopped by the function that started it.

All examples begin with this: news costs 3 x 3 deliveries, as much as may be spent, and satisfies everybody but dan.

```python
{EXAMPLE}```

Those that read files read these:

```csv rates.csv
{FILES["rates.csv"]}```

```csv subscriptions.csv
{FILES["subscriptions.csv"]}```

```csv clients.csv
{FILES["clients.csv"]}```

```csv brokers.csv
{FILES["brokers.csv"]}```
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "Workloads": (
        "build_workload",
        "workload_from_tables",
        "ingest",
        "build_content_workload",
        "ingest_content",
        "read_workload",
        "describe",
    ),
    "Plans": ("read_plan", "explain", "diff", "export", "report"),
    "Spark": ("spark_session",),
}
"""The functions of ``pubplan`` itself, in the order of the page."""

SHARED = ("solve", "verify")
"""What every family has, described once."""

UNLISTED = ("Request",)
"""Names of families whose docstrings are the help of commands; docs/reference.md has the options."""

VALUES: tuple[type, ...] = (
    workload.TopicWorkload,
    workload.TopicDescription,
    workload.ContentWorkload,
    workload.ContentDescription,
    workload.Client,
    workload.Broker,
    workload.Space,
    workload.Attribute,
    workload.Distribution,
    workload.Window,
    planning.Plan,
    planning.Result,
    planning.Verdict,
    planning.Explanation,
    planning.Diff,
    planning.TableDiff,
    api.Page,
    api.ExportedFile,
    errors.Reason,
    errors.Violation,
)
"""What functions return."""

ERRORS: tuple[type, ...] = (
    errors.PubplanError,
    errors.InputError,
    errors.NotApplicable,
    errors.Infeasible,
    errors.VerificationFailed,
    errors.StalePlan,
    errors.EngineError,
)

_SECTION = re.compile(r"(Args|Attributes|Raises|Returns):")
_TITLES = {"Args": "Arguments", "Attributes": "Attributes", "Raises": "Raises", "Returns": "Returns"}


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    return re.sub(r"\n{3,}", "\n\n", LEAD + "\n".join(_lines())).rstrip() + "\n"


def documented() -> dict[str, Any]:
    """Every function and class with an entry of its own and an example, by its public name."""
    named = {f"pubplan.{name}": getattr(pubplan, name) for names in GROUPS.values() for name in names}
    for module in ("generate", *FAMILIES):
        package = getattr(pubplan, module)
        for name in package.__all__:
            value = getattr(package, name)
            is_repeated = name in SHARED and module != FAMILIES[0]
            if callable(value) and name not in UNLISTED and not is_repeated:
                named[f"pubplan.{module}.{name}"] = value
    return named


def examples(names: dict[str, Any]) -> Iterator[doctest.DocTest]:
    """The examples of all docstrings on the page, each with ``names``."""
    parser = doctest.DocTestParser()
    values = {value.__name__: value for value in VALUES}
    for title, value in {**documented(), **values, "Plan.decisions": planning.Plan.decisions}.items():
        yield parser.get_doctest(inspect.getdoc(value) or "", dict(names), title, None, None)


def _lines() -> Iterator[str]:
    entries = documented()
    for title, names in GROUPS.items():
        yield from ("", f"## {title}", "")
        for name in names:
            yield from _entry(f"pubplan.{name}", entries.pop(f"pubplan.{name}"))
    for module in (*FAMILIES, "generate"):
        yield from ("", f"## pubplan.{module}", "", _plain(inspect.getdoc(getattr(pubplan, module)) or ""), "")
        constants = [name for name in getattr(pubplan, module).__all__ if name.isupper() and name != "FAMILY"]
        if constants:
            yield from ("Constants: " + ", ".join(_constant(module, name) for name in constants) + ".", "")
        for name in [name for name in entries if name.startswith(f"pubplan.{module}.")]:
            yield from _entry(name, entries.pop(name))
    yield from ("", "## Values", "")
    for value in VALUES:
        yield from _entry(value.__name__, value, with_members=True)
    yield from (
        "",
        "## Errors",
        "",
        "They are in `pubplan.errors`. Messages name arguments of these functions.",
        "",
    )
    yield from ("| error | means |", "|---|---|")
    yield from (f"| `{error.__name__}` | {_plain((error.__doc__ or '').splitlines()[0])} |" for error in ERRORS)


def _constant(module: str, name: str) -> str:
    return f"`{name}` = `{getattr(getattr(pubplan, module), name)!r}`"


def _entry(name: str, value: Any, *, with_members: bool = False) -> Iterator[str]:
    yield from ("", f"### {name}", "", "```text", signature(name, value), "```", "")
    yield from _documentation(inspect.getdoc(value) or "")
    if with_members:
        yield from _members(value)


def signature(name: str, value: Callable[..., Any]) -> str:
    """A call with all arguments, on one line or with a line for each."""
    shown, has_star = [], False
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in ("self", "keeper"):  # the latter keeps a temporary directory alive
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
            has_star = True
        prefix = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        shown.append(f"{prefix}{parameter.name}: {_type(parameter.annotation)}{_default(parameter)}")
    answer = "" if inspect.isclass(value) else f" -> {_type(inspect.signature(value).return_annotation)}"
    line = f"{name}({', '.join(shown)}){answer}"
    if len(line) <= 110:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in shown), f"){answer}"])


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return {"P": "Problem", "W": "Workload"}.get(text, text)


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return ""
    made = repr(parameter.default)
    return " = …" if made.startswith("<") else f" = {made}"


def _documentation(text: str) -> Iterator[str]:
    """A docstring as Markdown: paragraphs, lists of arguments and exceptions, and the example."""
    lines = iter([*text.splitlines(), ""])
    for line in lines:
        section = _SECTION.fullmatch(line)
        if section is not None:
            yield from ("", f"{_TITLES[section[1]]}:", "")
            yield from _items(lines, is_list=section[1] != "Returns")
        elif line.startswith(">>>"):
            yield from ("```pycon", line)
            for shown in lines:
                if not shown:
                    break
                yield shown
            yield from ("```", "")
        else:
            yield _plain(line)


def _items(lines: Iterator[str], *, is_list: bool) -> Iterator[str]:
    """The indented lines of a section, each entry as an item; ends with the empty line after them."""
    for line in lines:
        if not line:
            break
        begins = re.fullmatch(r"    ([\w.]+): (.*)", line) if is_list else None
        yield f"- `{begins[1]}`: {_plain(begins[2])}" if begins else f"{'  ' if is_list else ''}{_plain(line.strip())}"
    yield ""


def _members(value: type) -> Iterator[str]:
    """The documented methods and properties of a class, a line each."""
    rows = []
    for name, member in inspect.getmembers(value):
        is_property = isinstance(member, (property, cached_property))
        is_shown = is_property or inspect.isroutine(member)
        if name.startswith("_") or not is_shown or not inspect.getdoc(member):
            continue
        call = name if is_property else signature(name, member)
        rows.append(f"- `{_one_line(call)}`: {_plain((inspect.getdoc(member) or '').splitlines()[0])}")
    if rows:
        yield from ("", *rows, "")


def _one_line(call: str) -> str:
    return re.sub(r",?\n *", " ", call).replace("( ", "(")


def _plain(text: str) -> str:
    """Roles and double backquotes of docstrings as Markdown has them."""
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")


if __name__ == "__main__":
    main()
