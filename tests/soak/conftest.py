"""A browser for the tests that look at pages."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    """Chromium through Playwright; a missing browser skips and says so, or fails where one is required."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    executable = os.environ.get("PUBPLAN_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        message = "No Chromium on this machine: install it, or point PUBPLAN_BROWSER at one."
        if os.environ.get("PUBPLAN_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield started
        started.close()
