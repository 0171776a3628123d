"""What the help adds to the docstrings: a line per command for the list of them, and examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

SUMMARIES: Mapping[str, str] = {
    "generate": "Write a synthetic workload.",
    "ingest": "Make a workload of raw tables.",
    "describe": "Describe a workload in numbers.",
    "select": "Which topics to serve within a capacity?",
    "provision": "Which VMs satisfy all at the least cost?",
    "overlay": "Which links connect every topic?",
    "assign": "Which broker serves which content subscriber?",
    "federate": "Who attaches where, and how do brokers route?",
    "show": "Say once more what a plan says.",
    "verify": "Recompute a plan and compare it with what it says.",
    "explain": "Why does a plan decide as it does?",
    "diff": "What changes from one plan to another?",
    "export": "Write a plan's decisions as CSV, JSON or Parquet.",
    "report": "Write plans and workloads as one HTML page.",
    "reproduce": "Make the figures of a paper again.",
    "methods": "List methods, their guarantees and parameters.",
    "catalogues": "List VM types and their prices.",
    "compile": "Compile all kernels ahead of their first use.",
}
"""What a command is for, short enough for one line of a terminal of 80 columns."""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "ingest": (
        "pubplan ingest --events plays.csv --subscriptions fans.csv --out workload",
        "pubplan ingest --clients c.csv --brokers b.csv --attribute price --out workload",
        "pubplan ingest --events plays.csv --subscriptions fans.csv --max-rejected 1% --out workload",
    ),
    "describe": ("pubplan describe workload",),
    "select": (
        "pubplan select workload --threshold 27 --capacity 10% --out plan",
        "pubplan select workload --threshold all --capacity '64 Mbit/s' --out plan",
        "pubplan select workload --threshold 27 --satisfy 60%",
        "pubplan select workload --threshold 10,100,all --capacity 5%,10%",
    ),
    "provision": (
        "pubplan provision workload --threshold 10 --headroom 20% --out fleet",
        "pubplan provision workload --threshold 10,100 --vm-type 'aws-us-east-1/*'",
    ),
    "overlay": ("pubplan overlay workload --out links", "pubplan overlay workload --time-limit 60s"),
    "assign": (
        "pubplan assign clients --max-delay 0.3 --out assigned",
        "pubplan assign clients --max-delay 0.3 --load 1.2 --max-load 1.5 --method gr-star",
    ),
    "federate": (
        "pubplan federate exchange --channels 50 --out federation",
        "pubplan federate exchange --channels 10x5 --cut traffic --routing steiner --message-bytes 500",
    ),
    "show": ("pubplan show plan",),
    "verify": ("pubplan verify plan", "pubplan verify plan --workload moved --replan"),
    "explain": ("pubplan explain plan --topic album-17", "pubplan explain fleet --vm 0"),
    "diff": ("pubplan diff plan smaller --all",),
    "export": (
        "pubplan export plan --table served",
        "pubplan export fleet --table placements --out placements.parquet",
    ),
    "report": ("pubplan report plan workload --out page.html",),
    "reproduce": ("pubplan reproduce select --scale 0.01 --out figures",),
    "methods": ("pubplan methods select",),
    "catalogues": ("pubplan catalogues --catalogue mine.toml",),
    "compile": ("pubplan compile",),
}


def examples_of(command: str) -> str | None:
    """The end of a command's help; lines stay as they are."""
    lines = EXAMPLES.get(command)
    if lines is None:
        return None
    title = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])


class Command(TyperCommand):
    """A command whose usage names its arguments plainly: ``pubplan show [OPTIONS] PLAN``.

    An option that only other commands have is refused with their names, not with what is spelt alike.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", None)
            owners = _owners(ctx, option)
            if owners:
                vars(error).update(
                    message=f"No such option of {ctx.command_path}: {option} belongs to {owners}.", possibilities=None
                )
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def _owners(ctx: Any, option: str | None) -> str:
    """The commands that have an option, in a phrase; nothing where none has it."""
    commands = ctx.parent.command.commands if option is not None and ctx.parent is not None else {}
    names = [name for name, command in commands.items() if any(option in each.opts for each in command.params)]
    quoted = [f"'pubplan {name}'" for name in names]
    return " and ".join(part for part in (", ".join(quoted[:-1]), *quoted[-1:]) if part)
