"""The options that commands share, spelt once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer


def whole_number(text: str) -> int:
    """A whole number as people write it: ``4000``, ``4,000``, ``4_000`` or ``4k``."""
    from pubplan.quantities import plain_number

    with suppress(ValueError):
        return int(plain_number(str(text), commas=True))
    raise typer.BadParameter(f"a whole number such as 4000, 4,000 or 4k is expected, not '{text}'.")


def scale_number(text: str) -> float:
    """A share of what there is at scale 1: ``0.01`` or ``1%``."""
    from pubplan.quantities import share_fraction, share_text

    share = share_text(str(text))
    with suppress(ValueError):
        return float(text) if share is None else float(share_fraction(share))
    raise typer.BadParameter(f"a share such as 0.01 or 1% is expected, not '{text}'.")


Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write; must not exist yet.")]
PlanOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Where to write the plan; must not exist yet. Default: the plan is not kept."
    ),
]
Raw = Annotated[
    Path | None,
    typer.Option("--raw", metavar="DIR", help="Also write the raw trace for 'pubplan ingest'."),
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite what is at --out.")]
Seed = Annotated[int, typer.Option("--seed", parser=whole_number, metavar="N", help="Seed of every random choice.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Json = Annotated[bool, typer.Option("--json", help="Answer with JSON on stdout.")]
Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Run on this Spark master; 'local[*]' is Spark embedded in this process."
    ),
]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A Spark setting; repeatable.")]
SetParameter = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, see 'pubplan methods'; repeatable."),
]
ParameterFile = Annotated[
    Path | None,
    typer.Option("--parameters", metavar="FILE", help="TOML file; its table named like the command fills in options."),
]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Write the plan without checking it, and say so in it.")]
Check = Annotated[bool, typer.Option("--check", help="Recompute the workload's digests before using it.")]

WorkloadPath = Annotated[Path, typer.Argument(metavar="WORKLOAD", help="A workload directory.")]
WorkloadOption = Annotated[
    Path | None,
    typer.Option("--workload", metavar="DIR", help="The workload it was made for, if it is no longer where it was."),
]
PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan directory.")]
