"""The question: every subscriber must be satisfied. How many VMs of which type, and which of them carries which pair,
at the least cost?

Symbols: topic t publishes rate(t) events per window, a stream of stream(t) = rate(t) x message size bytes. Subscriber v
needs tau_v events, the threshold or everything it asked for if that is less; a pair (t, v) that is placed brings it
rate(t). A VM that carries pairs of t receives t's stream once and sends it once per pair. What a VM receives and sends
in a window, times the peak factor, must not exceed what its line carries in that time, less the head-room.

The cost of a plan is that of its VMs over the window, of all bytes received and of all bytes sent, in micro-dollars,
each term rounded up once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Integral
from typing import Any

from pubplan.arguments import argument
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Sense, decimal_text
from pubplan.problems.provision.catalogue import MICROS, VmType, find_vm_types
from pubplan.problems.provision.instance import Instance
from pubplan.quantities import share_fraction, share_hint, share_text
from pubplan.workload import TOPIC, Threshold, TopicWorkload, checked_threshold, require_kind

DEFAULT_VM_TYPE = "aws-us-east-1/c7g.large"
"""A small VM of the newest catalogue that comes with pubplan."""

MAX_LIMIT = 2**60
"""More bytes than any VM has to carry."""

Number = int | float | str


@dataclass(frozen=True)
class Problem:
    """Satisfy every subscriber at the least cost.

    A problem is made without reading any table; ``instance`` reads what is asked of it, and ``check`` refuses what
    cannot be planned.

    Args:
        vm_types: VM types or their names; the fleet is of one of them, the one that comes cheapest.
        threshold: events per window that satisfy a subscriber; ``"all"`` is everything that it asked for, None takes
            the workload's ``threshold`` column.
        peak_factor: peak to mean traffic, at least 1: how much more than on average a VM must be able to carry.
        headroom: the share of a VM's line to leave free, such as ``"20%"``.
        window_seconds: how long the window of the rates is; None takes what the workload says.
        message_bytes: the size of all messages; None takes the size that the workload has for each topic.
        rate_factor: multiplies all rates, rounded up: what if traffic grows?
        budget: dollars that the plan may cost; None is no limit.

    Raises:
        InputError: a value is out of range, or the window is not known.
        Infeasible: there is no VM type, or none can carry anything.

    >>> hour = pubplan.provision.Problem(workload, ["aws-us-east-1/c7g.large"], threshold=3, window_seconds=3600)
    >>> pubplan.provision.solve(hour)
    Result(provision by joint+level, 0.072501 US dollars per window, bound 0.072501, gap 0.00 %)
    """

    workload: TopicWorkload
    vm_types: Sequence[VmType | str] = (DEFAULT_VM_TYPE,)
    threshold: Threshold = None
    peak_factor: Number = 1
    headroom: str = "0%"
    window_seconds: Number | None = None
    message_bytes: int | None = None
    rate_factor: Number = 1
    budget: Number | None = None
    instance: Instance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind(self.workload, TOPIC, "provision")
        if self.workload.counts.subscribers >= 2**32:
            raise InputError(f"provision counts fewer than 2^32 subscribers, not {self.workload.counts.subscribers}.")
        object.__setattr__(self, "threshold", checked_threshold(self.workload, self.threshold))
        for name, least in (("peak_factor", 1), ("rate_factor", 0)):
            object.__setattr__(self, name, decimal_text(name, getattr(self, name), Fraction(least)))
        object.__setattr__(self, "headroom", _share(self.headroom))
        if self.window_seconds is None:
            given = self.workload.manifest.window
            if given.seconds is None:
                raise InputError(
                    f"{self.workload.path} does not say how long its window is: pass {argument('window_seconds')}."
                )
            object.__setattr__(self, "window_seconds", given.seconds)
        window = decimal_text("window_seconds", self.window_seconds, Fraction(0))
        object.__setattr__(self, "window_seconds", window)
        if self.seconds == 0:
            raise InputError(f"{argument('window_seconds')} must be longer than 0 seconds.")
        if self.message_bytes is not None:
            object.__setattr__(self, "message_bytes", _whole_bytes(self.message_bytes))
        if self.budget is not None:
            object.__setattr__(self, "budget", decimal_text("budget", self.budget, Fraction(0)))
        object.__setattr__(self, "vm_types", _looked_up(self.vm_types))
        self._check_limits()
        instance = Instance(self.workload, self.threshold, str(self.rate_factor), self.message_bytes)
        object.__setattr__(self, "instance", instance)

    def _check_limits(self) -> None:
        if any(self.limit(vm_type) > 0 for vm_type in self.types):
            return
        raise Infeasible(
            "No VM type can carry anything.",
            [cannot_carry(vm_type) for vm_type in self.types],
        )

    @property
    def sense(self) -> Sense:
        return "min"

    @property
    def unit(self) -> str:
        return "US dollars per window"

    @property
    def scale(self) -> int:
        """Costs are integers in micro-dollars."""
        return MICROS

    @property
    def types(self) -> tuple[VmType, ...]:
        """The VM types that may be used."""
        return tuple(vm_type for vm_type in self.vm_types if isinstance(vm_type, VmType))

    @property
    def budget_micros(self) -> int | None:
        """The budget in micro-dollars."""
        return None if self.budget is None else int(Fraction(str(self.budget)) * MICROS)

    @property
    def seconds(self) -> Fraction:
        """The length of the window."""
        return Fraction(str(self.window_seconds))

    def limit(self, vm_type: VmType) -> int:
        """Bytes that a VM may receive and send in a window of mean traffic; at most MAX_LIMIT."""
        share = (1 - Fraction(self.headroom.rstrip("%")) / 100) / Fraction(str(self.peak_factor))
        return min(MAX_LIMIT, int(Fraction(vm_type.bits_per_second, 8) * self.seconds * share))

    def of_types(self, vm_types: Sequence[VmType]) -> Problem:
        """The same question with other VM types; both share one instance."""
        other = replace(self, vm_types=tuple(vm_types))
        object.__setattr__(other, "instance", self.instance)
        return other

    def check(self) -> None:
        """Read what the question needs, and refuse what cannot be planned.

        Raises:
            InputError: rates or traffic are more than can be counted.
        """
        self.instance.check()

    def to_parameters(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "vm_types": [vm_type.to_dict() for vm_type in self.types],
            "peak_factor": self.peak_factor,
            "headroom": self.headroom,
            "window_seconds": self.window_seconds,
            "message_bytes": self.message_bytes,
            "rate_factor": self.rate_factor,
            "budget": self.budget,
        }


def cannot_carry(vm_type: VmType) -> Reason:
    """Why a VM type whose VMs carry less than a byte per window cannot be used."""
    return Reason("bytes per window", 1, 0, vm_type.name, f"a VM of type {vm_type.name} can carry nothing")


def _looked_up(vm_types: Sequence[VmType | str]) -> tuple[VmType, ...]:
    """The VM types, with names looked up in the catalogues that come with pubplan."""
    if isinstance(vm_types, str):
        raise InputError(f"vm_types is a list of VM types, not {vm_types!r}.")
    types = [vm_type if isinstance(vm_type, VmType) else find_vm_types([vm_type])[0] for vm_type in vm_types]
    names = [vm_type.name for vm_type in types]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"VM type '{repeated[0]}' is given twice.")
    if not types:
        raise Infeasible("There is no VM type to rent.", [Reason("VM types", 1, 0, "", "no VM type is given")])
    return tuple(types)


def _share(value: object) -> str:
    share = share_text(value)
    if share is None or share_fraction(share) >= 1:
        raise InputError(
            f"{argument('headroom')} is a share below 100% such as 20%, not {str(value)[:40]!r}.{share_hint(value)}"
        )
    return share


def _whole_bytes(value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < 2**31:
        raise InputError(f"{argument('message_bytes')} is a whole number of bytes below 2^31, not {value!r}.")
    return int(value)
