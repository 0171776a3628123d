"""The question: everybody must be satisfied. How many VMs of which type, and which pair goes where, at the least cost?

Symbols: topic t publishes rate(t) events per window, a stream of stream(t) = rate(t) x message size bytes. Subscriber v
needs tau_v events, the threshold or everything it asked for if that is less; a pair (t, v) that is placed brings it
rate(t). A VM that carries pairs of t receives t's stream once and sends it once per pair. What a VM receives and sends
in a window, times the peak factor, must not exceed what its line carries in that time, less the head-room.

The cost of a plan is that of its VMs over the window, of all bytes received and of all bytes sent, in micro-dollars,
each term rounded up once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from pubplan.engine import exact_dot
from pubplan.errors import Infeasible, InputError, Reason
from pubplan.planning import Sense
from pubplan.problems.provision.catalogue import MICROS, VmType, find_vm_types
from pubplan.workload import Int64Array, RowReader, Workload, checked_threshold

DEFAULT_VM_TYPE = "paper-2013/c3.large"
MAX_TRAFFIC = 2**55
"""Traffic per window stays below this, so that sums and small multiples of it fit 64 bits."""
MAX_LIMIT = 2**60
"""More than any VM has to carry."""

Number = int | float | str


@dataclass(frozen=True)
class Problem:
    """Satisfy every subscriber at the least cost.

    Args:
        vm_types: VM types or their names; the fleet is of one of them, the one that comes cheapest.
        threshold: events per window that satisfy a subscriber; None takes the workload's ``threshold`` column.
        peak_factor: peak to mean traffic, at least 1: how much more than on average a VM must be able to carry.
        headroom: the share of a VM's line to leave free, such as ``"20%"``.
        window_seconds: how long the window of the rates is; None takes what the workload says.
        message_bytes: the size of all messages; None takes each topic's own.
        rate_factor: multiplies all rates, rounded up: what if traffic grows?
        budget: dollars that the plan may cost; None is no limit.

    Raises:
        InputError: a value is out of range, or the window is not known.
        Infeasible: there is no VM type, or none can carry anything.
    """

    workload: Workload
    vm_types: Sequence[VmType | str] = (DEFAULT_VM_TYPE,)
    threshold: int | None = None
    peak_factor: Number = 1
    headroom: str = "0%"
    window_seconds: Number | None = None
    message_bytes: int | None = None
    rate_factor: Number = 1
    budget: Number | None = None

    def __post_init__(self) -> None:
        if self.workload.kind != "topic":
            raise InputError(
                f"provision plans topic workloads; {self.workload.path} is a {self.workload.kind} workload."
            )
        if self.workload.counts.subscribers >= 2**32:
            raise InputError(f"provision counts fewer than 2^32 subscribers, not {self.workload.counts.subscribers}.")
        object.__setattr__(self, "threshold", checked_threshold(self.workload, self.threshold))
        for name, least in (("peak_factor", 1), ("rate_factor", 0)):
            object.__setattr__(self, name, _decimal(name, getattr(self, name), Fraction(least)))
        object.__setattr__(self, "headroom", _share(self.headroom))
        if self.window_seconds is None:
            window = self.workload.manifest.window
            if window.seconds is None:
                raise InputError(f"{self.workload.path} does not say how long its window is: pass --window.")
            object.__setattr__(self, "window_seconds", window.seconds)
        object.__setattr__(self, "window_seconds", _decimal("window_seconds", self.window_seconds, Fraction(0)))
        if self.seconds == 0:
            raise InputError("The window must be longer than 0 seconds.")
        if self.message_bytes is not None:
            object.__setattr__(self, "message_bytes", _whole_bytes(self.message_bytes))
        if self.budget is not None:
            object.__setattr__(self, "budget", _decimal("budget", self.budget, Fraction(0)))
        object.__setattr__(self, "vm_types", _found(self.vm_types))
        self._check_limits()
        self._check_traffic()

    def _check_limits(self) -> None:
        if any(self.limit(vm_type) > 0 for vm_type in self.types):
            return
        raise Infeasible(
            "No VM type can carry anything.",
            [Reason("bytes per window", 1, self.limit(vm_type), vm_type.name) for vm_type in self.types],
        )

    def _check_traffic(self) -> None:
        subscribers = self.workload.topic_array("subscribers")
        deliveries = exact_dot(self.rates, subscribers)
        incoming = exact_dot(self.rates, self.sizes)
        most = max(deliveries, incoming)
        if most < MAX_TRAFFIC:
            most = exact_dot(self.rates * subscribers, self.sizes) + incoming
        if most >= MAX_TRAFFIC:
            raise InputError(f"Serving everything takes {most} bytes or events per window; provision counts to 2^55.")

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
        """Bytes that a VM may receive and send in a window of mean traffic; never more than anybody could want."""
        share = (1 - Fraction(self.headroom.rstrip("%")) / 100) / Fraction(str(self.peak_factor))
        return min(MAX_LIMIT, int(Fraction(vm_type.bits_per_second, 8) * self.seconds * share))

    @cached_property
    def rates(self) -> Int64Array:
        """Events per window, by topic."""
        rates = self.workload.topic_array("rate")
        factor = Fraction(str(self.rate_factor))
        if factor == 1:
            return rates
        if len(rates) and int(rates.max()) * factor.numerator > 2**62:
            raise InputError(f"Rates times {self.rate_factor} do not fit 64 bits.")
        scaled: Int64Array = -(-(rates * factor.numerator) // factor.denominator)
        return scaled

    @cached_property
    def sizes(self) -> Int64Array:
        """Bytes per message, by topic."""
        if self.message_bytes is None:
            return self.workload.topic_array("message_bytes")
        return np.full(self.workload.counts.topics, self.message_bytes, dtype=np.int64)

    @cached_property
    def size(self) -> int | None:
        """The size of all messages, if they have the same; it is what makes covers a matter of events alone."""
        sizes = self.sizes[self.rates > 0]
        if not len(sizes):
            return 1
        smallest = int(sizes.min())
        return smallest if smallest > 0 and smallest == int(sizes.max()) else None

    @cached_property
    def streams(self) -> Int64Array:
        """Bytes per window, by topic."""
        return self.rates * self.sizes

    def usable(self, limit: int) -> Int64Array:
        """The rates of topics that fit a VM with one subscriber, stream and all; 0 for those that do not."""
        return np.where(2 * self.streams <= limit, self.rates, 0)

    def num_usable(self, limit: int) -> int:
        """How many topics fit a VM; limits for which they are as many have the same ones."""
        return int(np.count_nonzero(2 * self.streams <= limit))

    @cached_property
    def remembered(self) -> dict[Any, object]:
        """What passes over the subscribers have found, by what it depends on."""
        return {}

    def of_types(self, vm_types: Sequence[VmType]) -> Problem:
        """The same question with other VM types, which shares what does not depend on them."""
        other = replace(self, vm_types=tuple(vm_types))
        for name in ("rates", "sizes", "size", "streams", "remembered"):
            vars(other)[name] = getattr(self, name)
        return other

    def rows(self) -> RowReader:
        """Reads the subscribers of one block at a time, here or in a task."""
        return RowReader(self.workload, self.rates, self.threshold, has_weights=False)

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

    @classmethod
    def restore(cls, workload: Workload, parameters: Mapping[str, Any]) -> Problem:
        """The problem that a plan's parameters describe."""
        names = ("threshold", "peak_factor", "headroom", "window_seconds", "message_bytes", "rate_factor", "budget")
        vm_types = [VmType.from_dict(vm_type) for vm_type in parameters["vm_types"]]
        return cls(workload, vm_types, **{name: parameters[name] for name in names})


def _found(vm_types: Sequence[VmType | str]) -> tuple[VmType, ...]:
    """The VM types, with names looked up in the catalogues that come with pubplan."""
    if isinstance(vm_types, str):
        raise InputError(f"vm_types is a list of VM types, not {vm_types!r}.")
    found = [vm_type if isinstance(vm_type, VmType) else find_vm_types([vm_type])[0] for vm_type in vm_types]
    names = [vm_type.name for vm_type in found]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"VM type '{repeated[0]}' is given twice.")
    if not found:
        raise Infeasible("There is no VM type to rent.", [Reason("VM types", 1, 0)])
    return tuple(found)


def _decimal(name: str, value: object, least: Fraction) -> str:
    """A number as decimal text, which is exact and goes into JSON."""
    text = str(value).strip() if isinstance(value, (str, int, float)) and value is not True else ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        text = str(int(value))
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text):
        raise InputError(f"{name} is a number such as 2 or 1.5, not {str(value)[:40]!r}.")
    if Fraction(text) < least:
        raise InputError(f"{name} must be at least {least}, not {text}.")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _share(value: object) -> str:
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,9})?)\s*%", value.strip()) if isinstance(value, str) else None
    if match is None:
        text = str(value).strip()
        is_share = re.fullmatch(r"0?\.[0-9]{1,9}", text) and float(text) > 0
        hint = f" Did you mean '{float(text) * 100:g}%'?" if is_share else ""
        raise InputError(f"The head-room is a share below 100% such as 20%, not {str(value)[:40]!r}.{hint}")
    return f"{match[1]}%"


def _whole_bytes(value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < 2**31:
        raise InputError(f"The message size is a whole number of bytes below 2^31, not {value!r}.")
    return int(value)
