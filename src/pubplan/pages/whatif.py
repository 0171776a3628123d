"""Tables of cases on the page, as commands print them in JSON for several thresholds, capacities or VM types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pubplan.errors import InputError
from pubplan.pages import provision_whatif, select_whatif
from pubplan.pages.frame import Section


def read_what_if(path: Path) -> list[Mapping[str, Any]]:
    """The cases that a file holds.

    Raises:
        InputError: it is not such a table.
    """
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}.") from error
    if (
        isinstance(cases, list)
        and cases
        and any(all(map(is_case, cases)) for is_case in (select_whatif.is_case, provision_whatif.is_case))
    ):
        return cases
    raise InputError(
        f"{path} is not a table of cases: pass plans, workloads, or the JSON of a what-if table of select or provision."
    )


def section(cases: Sequence[Mapping[str, Any]], name: str) -> Section:
    """The section of the family whose cases they are."""
    is_of_select = all(map(select_whatif.is_case, cases))
    return select_whatif.section(cases, name) if is_of_select else provision_whatif.section(cases, name)
