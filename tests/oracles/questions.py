"""A question to every family, for tests that hold for all of them."""

from __future__ import annotations

import pytest

from pubplan.problems import family_named

OPTIONS = {
    "select": ["--threshold", 4, "--capacity", 14],
    "provision": ["--threshold", 4],
    "overlay": [],
    "assign": ["--boxes", 1, "--max-delay", "0.5", "--load", 1, "--max-load", 1],
}
"""By family, the options that its command takes with the small workload of the tests."""


def is_about_content(request: pytest.FixtureRequest) -> bool:
    """Whether a test is run for a family that plans content workloads."""
    parameters = getattr(request.node, "callspec", None)
    family = None if parameters is None else parameters.params.get("family")
    return family is not None and family_named(family).kind == "content"
