"""Pinned digests: what is generated and what is decided stays the same, whatever is moved or renamed in the code.

A change here is a change of format or meaning: it belongs in the changelog, marked where it changes plans.
"""

from __future__ import annotations

import pytest

import pubplan
from pubplan.files import digest_value
from pubplan.generate import (
    content_adversarial,
    content_exchange,
    content_feeds,
    content_hotspots,
    content_newsgroups,
    generate,
    spotify,
    twitter,
    zipf,
)
from pubplan.planning import Plan
from pubplan.workload import Workload

WORKLOADS = {
    "spotify": "9da69fe7244324bd5e5bb52862264235dd04af79fbc99617c579e901510b9faa",
    "twitter": "c11152684e05f4989411da284236919218a0f0ef9e1f9cdda1bd926653cba26e",
    "zipf": "4471e8c7a9eb47da580cf83cae75fdb1694b372a8b31536877e1dbaec0b745ec",
    "content-newsgroups": "cf2c0c27dc5d19b4c5491acd4e6c8870d0c896e6712d6b50e69984b8dde194bf",
    "content-feeds": "63baae77de6b2cd131f4273ead8a2e43674b3e29fafee2561fd7e36f7b18cab4",
    "content-hotspots": "ec66c8ad58658116e63c7b3e04d1dcc0a766381f226facba4272ecb5349bf9be",
    "content-adversarial": "7c55865ae93716bbc26c3dec2e59e460bbf8de3b44da7766d818aebfcf050af7",
    "content-exchange": "8425f257e647def2f83f320db1cdff583af5f572305939d1a0079b65997bf8e4",
    "content-exchange in two dimensions": "5a59b96365415b7e9d2c7dd783e00abd9ef0a570c2209b1964581502a10ff2e1",
}
PLANS = {
    "select": "1f7ef188108b17300c9c11a45413d41f0ec46756f94e84a9bab223e5e30192e2",
    "provision": "e1bd1b5567cdcb1276bddf47a34a71d7afa2b587c21394904b6d7f8215981cf8",
    "overlay": "f589be36082584e8d20996b1edc7147f77940e7bad228c0ecce40fcd0088cf30",
}
DECISIONS = {
    "select": "990a1f59b3e5ca89d2a93c4b12569afcb8cf1626c7c53ba47943a0a3a92e8eeb",
    "provision": "e9e01f9841aaff3cc92d7a0158f1f12febde926173a95d88b2b28f19fa19442f",
    "overlay": "4ac9065c4aeb94b72d2f71284b1fcf161d5053b99047280ae7dfe7905bd9b933",
}


@pytest.fixture(scope="module")
def workloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Workload]:
    shapes = {
        "spotify": spotify(0.002),
        "twitter": twitter(0.001),
        "zipf": zipf(300, 60),
        "content-newsgroups": content_newsgroups(3000, 30, skew="low", broad="high", levels=2, num_sites=200),
        "content-feeds": content_feeds(3000, 20),
        "content-hotspots": content_hotspots(3000, 20, num_sites=200),
        "content-adversarial": content_adversarial(24, 3),
        "content-exchange": content_exchange(3000, 20, price_ratio="0.05", niche="2%"),
        "content-exchange in two dimensions": content_exchange(500, 8, 3, dimensions=2, groups=40, num_sites=60),
    }
    return {name: generate(shape, tmp_path_factory.mktemp(name) / "workload") for name, shape in shapes.items()}


def test_generated_workloads_stay(workloads: dict[str, Workload]) -> None:
    """Shapes, seeds, tables and manifests give the digests that they gave before."""
    assert {name: workload.digest for name, workload in workloads.items()} == WORKLOADS


@pytest.mark.parametrize("family", PLANS)
def test_default_plans_stay(workloads: dict[str, Workload], family: str) -> None:
    """The default method of every family decides as before, and its plan says the same of it."""
    if family == "select":
        result = pubplan.select.solve(pubplan.select.Problem(workloads["spotify"], "10%", 27))
    elif family == "provision":
        result = pubplan.provision.solve(pubplan.provision.Problem(workloads["twitter"], ["c3.large"], threshold=10))
    else:
        result = pubplan.overlay.solve(pubplan.overlay.Problem(workloads["zipf"]))
    assert decisions_digest(result.plan) == DECISIONS[family]
    assert result.plan.digest == PLANS[family]


def decisions_digest(plan: Plan) -> str:
    """What was decided, apart from what is said about it."""
    return digest_value(
        {name: digest for name, digest in plan.table_digests().items() if name.startswith("decisions/")}
    )
