"""A question to every family, for tests that hold for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles import assign_example, federate_example
from pubplan.problems import family_named
from pubplan.workload import ContentWorkload

OPTIONS = {
    "select": ["--threshold", 4, "--capacity", 14],
    "provision": ["--threshold", 4],
    "overlay": [],
    "assign": ["--boxes", 1, "--max-delay", "0.5", "--load", 1, "--max-load", 1],
    "federate": ["--channels", 2, "--message-bytes", 1000],
}
"""By family, the options that its command takes with the small workload of the tests."""


def is_about_content(request: pytest.FixtureRequest) -> bool:
    """Whether a test is run for a family that plans content workloads."""
    family = _family_of(request)
    return family is not None and family_named(family).kind == "content"


def content_example(request: pytest.FixtureRequest, path: Path) -> ContentWorkload:
    """The worked example of the family that a test is run for."""
    build = federate_example.hub if _family_of(request) == "federate" else assign_example.example
    return build(path)


def _family_of(request: pytest.FixtureRequest) -> str | None:
    parameters = getattr(request.node, "callspec", None)
    return None if parameters is None else parameters.params.get("family")
