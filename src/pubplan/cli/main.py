"""The command line: commands, and what their failures mean to a shell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from pubplan import __version__
from pubplan.cli import (
    catalogues,
    describe,
    diff,
    display,
    explain,
    export,
    generate,
    ingest,
    methods,
    report,
    reproduce,
    verify,
)
from pubplan.cli import compile as compilation
from pubplan.cli.failures import fail, fail_interrupted, fail_usage
from pubplan.cli.guide import SUMMARIES, Command, examples_of
from pubplan.cli.interruption import INTERRUPTED, exit_code, listen, sentence
from pubplan.cli.plan import plan_command
from pubplan.errors import PubplanError
from pubplan.problems import FAMILIES

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(generate.app, name="generate", short_help=SUMMARIES["generate"])

COMMANDS: Mapping[str, Callable[..., None]] = {
    "ingest": ingest.ingest,
    "describe": describe.describe,
    **{family: plan_command(family) for family in FAMILIES},
    "show": display.show,
    "verify": verify.verify,
    "explain": explain.explain_command(),
    "diff": diff.diff,
    "export": export.export,
    "report": report.report,
    "reproduce": reproduce.reproduce,
    "methods": methods.methods,
    "catalogues": catalogues.catalogues,
    "compile": compilation.compile_kernels,
}
for name, command in COMMANDS.items():
    app.command(name, cls=Command, short_help=SUMMARIES.get(name), epilog=examples_of(name))(command)


def _version(asked: bool) -> None:
    if asked:
        print(f"pubplan {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Plan publish/subscribe deployments: answers with a bound, a gap and a verdict."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        typer.main.get_command(app)(args=list(arguments), prog_name="pubplan")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            return fail_interrupted(sentence(), exit_code(), arguments)
        return fail_usage(end, arguments)
    except (PubplanError, OSError, MemoryError) as error:
        return fail(error, arguments)
    return 0


def main() -> None:
    """The entry point of the ``pubplan`` command."""
    listen()
    sys.exit(run(sys.argv[1:]))
