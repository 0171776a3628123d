"""A small workload, and copies of it to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pubplan.workload import TopicWorkload, Workload

RATES = {"news": 3, "sport": 5, "art": 0, "ünïcode": 2}
INTERESTS = {"bob": ["sport", "news"], "ann": ["news"], "zoe": [], "carl": ["ünïcode", "art", "news"]}


@pytest.fixture
def tiny(make_workload) -> TopicWorkload:
    return make_workload(RATES, INTERESTS)


def copy_of(workload: Workload, tmp_path: Path) -> Path:
    return Path(shutil.copytree(workload.path, tmp_path / "copy"))
