"""Pinned digests: what is generated and what is decided stays the same, whatever is moved or renamed in the code.

A change here is a change of format or meaning: it belongs in the changelog, marked where it changes plans.
"""

from __future__ import annotations

import pytest

import pubplan
from pubplan.engine import digest_value
from pubplan.generate import generate, spotify, twitter, zipf
from pubplan.planning import Plan
from pubplan.workload import Workload

WORKLOADS = {
    "spotify": "9da69fe7244324bd5e5bb52862264235dd04af79fbc99617c579e901510b9faa",
    "twitter": "c11152684e05f4989411da284236919218a0f0ef9e1f9cdda1bd926653cba26e",
    "zipf": "4471e8c7a9eb47da580cf83cae75fdb1694b372a8b31536877e1dbaec0b745ec",
}
PLANS = {
    "select": "f1ca5da14d57f9b77c20fa9e2d57bddd2d44acd7e4147ffde543345ddb394263",
    "provision": "3447e7e907bba3327a8ef26ce01761de831eb44c3c0910e65e63a412bb4b015b",
    "overlay": "9aed4812cbf5c1f4aab70cd8facd03b928129b58a00871aa237bf1baedf667c6",
}
DECISIONS = {
    "select": "990a1f59b3e5ca89d2a93c4b12569afcb8cf1626c7c53ba47943a0a3a92e8eeb",
    "provision": "e9e01f9841aaff3cc92d7a0158f1f12febde926173a95d88b2b28f19fa19442f",
    "overlay": "4ac9065c4aeb94b72d2f71284b1fcf161d5053b99047280ae7dfe7905bd9b933",
}


@pytest.fixture(scope="module")
def workloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Workload]:
    shapes = {"spotify": spotify(0.002), "twitter": twitter(0.001), "zipf": zipf(300, 60)}
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
