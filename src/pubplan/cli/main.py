"""The command line: commands, and what their failures mean to a shell."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated

import typer

from pubplan import __version__
from pubplan.cli import (
    describe,
    diff,
    explain,
    generate,
    ingest,
    methods,
    overlay,
    provision,
    report,
    reproduce,
    select,
    verify,
)
from pubplan.errors import Infeasible, InputError, PubplanError, StalePlan, VerificationFailed

EXIT_CODES: dict[type[PubplanError], int] = {
    InputError: 2,
    Infeasible: 3,
    VerificationFailed: 4,
    StalePlan: 5,
}
UNEXPECTED = 1

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(generate.app, name="generate")
app.command()(ingest.ingest)
app.command()(describe.describe)
app.command()(select.select)
app.command()(provision.provision)
app.command()(overlay.overlay)
app.command()(verify.verify)
app.command()(explain.explain)
app.command()(diff.diff)
app.command()(report.report)
app.command()(reproduce.reproduce)
app.command()(methods.methods)


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
        return end.code if isinstance(end.code, int) else UNEXPECTED
    except PubplanError as error:
        print(f"pubplan: {error}", file=sys.stderr)
        return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), UNEXPECTED)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        print(f"pubplan: {error.strerror or error}{place}.", file=sys.stderr)
        return EXIT_CODES[InputError]
    except MemoryError:
        print("pubplan: not enough memory for this.", file=sys.stderr)
        return UNEXPECTED
    return 0


def main() -> None:
    """The entry point of the ``pubplan`` command."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(sys.argv[1:]))


def _terminate(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
