"""``provision``: the cheapest fleet that satisfies every subscriber (MCSS).

V. Setty, R. Vitenberg, G. Kreitz, G. Urdaneta, M. van Steen: Cost-Effective Resource Allocation for Deploying Pub/Sub
on Cloud. ICDCS 2014, doi 10.1109/ICDCS.2014.63.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubplan.lazy import loader

if TYPE_CHECKING:
    from pubplan.problems.provision.catalogue import VmType as VmType
    from pubplan.problems.provision.catalogue import all_vm_types as all_vm_types
    from pubplan.problems.provision.catalogue import find_vm_types as find_vm_types
    from pubplan.problems.provision.family import FAMILY as FAMILY
    from pubplan.problems.provision.family import solve as solve
    from pubplan.problems.provision.family import verify as verify
    from pubplan.problems.provision.plan import PLACEMENTS as PLACEMENTS
    from pubplan.problems.provision.plan import SPLITS as SPLITS
    from pubplan.problems.provision.plan import TYPES as TYPES
    from pubplan.problems.provision.plan import VMS as VMS
    from pubplan.problems.provision.problem import DEFAULT_VM_TYPE as DEFAULT_VM_TYPE
    from pubplan.problems.provision.problem import Problem as Problem
    from pubplan.problems.provision.request import Request as Request
    from pubplan.problems.provision.whatif import Case as Case
    from pubplan.problems.provision.whatif import what_if as what_if

_NAMES = {
    "family": ("FAMILY", "solve", "verify"),
    "plan": (
        "PLACEMENTS",
        "SPLITS",
        "TYPES",
        "VMS",
    ),
    "problem": (
        "DEFAULT_VM_TYPE",
        "Problem",
    ),
    "request": ("Request",),
    "catalogue": (
        "VmType",
        "all_vm_types",
        "find_vm_types",
    ),
    "whatif": ("Case", "what_if"),
}
if not TYPE_CHECKING:  # or mypy would believe that every name exists
    __getattr__ = loader(__name__, _NAMES)

__all__ = [
    "DEFAULT_VM_TYPE",
    "FAMILY",
    "PLACEMENTS",
    "SPLITS",
    "TYPES",
    "VMS",
    "Case",
    "Problem",
    "Request",
    "VmType",
    "all_vm_types",
    "find_vm_types",
    "solve",
    "verify",
    "what_if",
]


def __dir__() -> list[str]:
    return __all__
