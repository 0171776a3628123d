"""A small content workload that the tests of this folder open, copy and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubplan.workload import Broker, Client, ContentWorkload, build_content_workload, unit_space

CLIENTS = {
    "zoe": Client("oslo", [(0, 4), (1, 3)]),
    "ann": Client("rome", [(2, 6), (0, 1)]),
    "bob": Client("oslo", [(9, 10), (4, 5)]),
}
BROKERS = {"hub": Broker(latency=5), "north": Broker("hub", 7, share=2), "south": Broker("hub", 11, share=1)}
LATENCIES = {"oslo": {"hub": 1, "north": 2, "south": 30}, "rome": {"hub": 3, "north": 20, "south": 4}}


@pytest.fixture
def tiny(tmp_path: Path) -> ContentWorkload:
    return build_content_workload(tmp_path / "tiny", unit_space(10, 5), CLIENTS, BROKERS, LATENCIES)
