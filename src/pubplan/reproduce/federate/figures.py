"""Fig. 9, Fig. 10 and Table I, and how they compare with what the paper says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pubplan.reproduce.federate.runs import (
    CLIENTS_PER_BROKER,
    CLUSTERING,
    GREEDY,
    METHODS,
    MIXING,
    MOVES,
    NUM_CHANNELS,
    NUM_CLIENTS,
    PAPER_RUNS,
    PROPOSED,
    RANDOM,
    SETTINGS,
    SHARED,
    TITLES,
    Point,
    Setting,
    Times,
)
from pubplan.reproduce.figures import Figure, Line
from pubplan.text import counted

REDUCTION = "cost of random / cost"
BOUND = "no plan is above (bound access)"

PAPER_SECONDS = {RANDOM: 0.9, GREEDY: 91.445, CLUSTERING: 100.235, MIXING: 179.654}
"""Table I."""

PAPER_ORDER = (MIXING, CLUSTERING, GREEDY)
"""From the largest cost reduction ratio on."""

WHY_GREEDY = (
    "A client gets all that others publish in its interval, while a tree carries a message once for all of them: most "
    "of the cost is between clients and brokers, and that is what greedy packing makes least."
)

OTHER_SLIPS = (
    "Slips of the paper: a minimum spanning tree of the brokers with subscribers is not the cheapest tree between them "
    "although prices are metric, as a broker in between can be a hub (routing steiner finds it); Algorithm 1 exchanges "
    "the names of its two sets; Algorithm 2 takes the least ratio of bandwidth to cost where the text wants the "
    "largest; a random attachment is called the worst case, but many are worse.",
    "The worked example (Fig. 3 to 5, costs 525 and 706) is not made again: its link costs and its traffic table are "
    "in a drawing only.",
)


def size_figure(setting: Setting, points: Sequence[Point]) -> Figure:
    """Fig. 9 under one setting: cost reduction ratios over the number of clients."""
    notes = [_setting_note(setting, points), _order_note(setting, points)]
    if setting is SHARED:
        notes += [WHY_GREEDY, _growth_note(points), *OTHER_SLIPS]
    return Figure(
        f"Fig. 9, {setting.name}",
        f"Cost reduction ratio over clients: {setting.title}",
        x="clients",
        x_suffix="",
        x_values=tuple(point.num_clients for point in points),
        y=REDUCTION,
        unit="number",
        lines=_lines(setting, points),
        notes=tuple(notes),
    )


def ratio_figure(setting: Setting, points: Sequence[Point]) -> Figure:
    """Fig. 10 under one setting: cost reduction ratios over the price ratio."""
    notes = [_setting_note(setting, points), _spread_note(setting, points)]
    if setting is SHARED:
        notes.append(
            "The caption of the paper's figure says core-to-access, its text access-to-core; here it is the latter, "
            "and links between brokers are cheap where it is above 1."
        )
    return Figure(
        f"Fig. 10, {setting.name}",
        f"Cost reduction ratio by price ratio, {points[0].num_clients:,} clients: {setting.title}",
        x="access-to-core price ratio",
        x_suffix="",
        x_values=tuple(point.price_ratio for point in points),
        y=REDUCTION,
        unit="number",
        lines=_lines(setting, points),
        notes=tuple(notes),
    )


def _lines(setting: Setting, points: Sequence[Point]) -> tuple[Line, ...]:
    methods = [
        Line(TITLES[method], "CRR", tuple(point.reduction(setting, method) for point in points))
        for method in (*PROPOSED, MOVES)
    ]
    bound = Line(BOUND, "CRR", tuple(point.largest_reduction(setting) for point in points), is_bound=True)
    return (*methods, bound)


def _setting_note(setting: Setting, points: Sequence[Point]) -> str:
    networks = counted(len(points[0].networks[setting.name]), "network")
    return (
        f"Values are means of the cost reduction ratios on {networks}, in the paper on {PAPER_RUNS}; "
        f"{CLIENTS_PER_BROKER} clients per broker, {NUM_CHANNELS} channels (the paper does not say how many)."
    )


def order_of(setting: Setting, point: Point) -> tuple[str, ...]:
    """The methods of the paper from the largest cost reduction ratio on."""
    return tuple(sorted(PROPOSED, key=lambda method: -point.reduction(setting, method)))


def _order_note(setting: Setting, points: Sequence[Point]) -> str:
    largest = points[-1]
    said = " > ".join(TITLES[method] for method in PAPER_ORDER)
    here = " > ".join(
        f"{TITLES[method]} ({largest.reduction(setting, method):.3g})" for method in order_of(setting, largest)
    )
    agreeing = [f"{point.num_clients:,}" for point in points if order_of(setting, point) == PAPER_ORDER]
    where = f"with {', '.join(agreeing)} clients only" if agreeing else "at none of these sizes"
    if len(agreeing) == len(points):
        where = "at all of these sizes"
    return (
        f"The paper: {said}; it prints no numbers. Here with {largest.num_clients:,} clients: {here}. The order of the "
        f"paper comes out {where}."
    )


def _growth_note(points: Sequence[Point]) -> str:
    first, last = points[0], points[-1]
    costs = last.random_cost(SHARED) / first.random_cost(SHARED)
    exponent = math.log(costs) / math.log(last.num_clients / first.num_clients)
    return (
        f"The paper: the cost of random grows linearly with the clients. Here it grows with their number to the "
        f"power of {exponent:.2f}, as every client both adds messages and receives those of others."
    )


def _spread_note(setting: Setting, points: Sequence[Point]) -> str:
    """How far the paper's methods are from each other, from expensive to cheap links between brokers."""
    mixing = ", ".join(f"{point.reduction(setting, MIXING):.3g}" for point in points)
    behind = [
        ", ".join(f"{point.reduction(setting, method) / point.reduction(setting, MIXING):.2f}" for point in points)
        for method in (GREEDY, CLUSTERING)
    ]
    return (
        "The paper: Steiner-tree mixing hardly changes with the ratio, and the other two converge to it as links "
        f"between brokers get cheap. Here, for ratios of {', '.join(point.price_ratio for point in points)}, it has "
        f"{mixing}; greedy packing has {behind[0]} times as much, clustering {behind[1]} times."
    )


def times_table(times: Times) -> Figure:
    """Table I: seconds of planning, under all settings."""
    is_printed = times.num_clients == NUM_CLIENTS
    lines = tuple(
        Line(
            TITLES[method],
            "seconds",
            tuple(times.seconds[setting.name, method] for setting in SETTINGS),
            (PAPER_SECONDS[method], None, None) if is_printed and method in PAPER_SECONDS else (),
        )
        for method in METHODS
    )
    gaps = ", ".join(
        f"{setting.name} {gap:.1%} ({setting.bound})"
        for setting in SETTINGS
        for gap in (times.gaps[setting.name],)
        if gap is not None
    )
    num_brokers = times.num_clients // CLIENTS_PER_BROKER
    return Figure(
        "Table I",
        f"Seconds of planning for {times.num_clients:,} clients, {num_brokers} brokers, {NUM_CHANNELS} channels",
        x="",
        x_suffix="",
        x_values=tuple(setting.name for setting in SETTINGS),
        y="seconds",
        unit="seconds",
        lines=lines,
    ).with_notes(
        "The paper's are of C++ compiled without optimisation, on a processor of its time, for a number of channels "
        "that it does not give.",
        "Seconds here are without reading the workload, bounding, writing and verifying, on one network; the plans "
        "were verified.",
        f"Local moves are within these gaps of what no plan is below: {gaps}.",
    )
