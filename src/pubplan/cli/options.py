"""The options that commands share, spelt once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write; must not exist yet.")]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite what is at --out.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Json = Annotated[bool, typer.Option("--json", help="Answer with JSON on stdout.")]
Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Run on this Spark master; 'local[*]' is Spark embedded in this process."
    ),
]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A Spark setting; repeatable.")]
MethodName = Annotated[str | None, typer.Option("--method", help="See 'pubplan methods'.")]
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
PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan directory.")]
