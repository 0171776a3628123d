"""Fig. 2 and 3 of Setty et al. (ICDCS 2014): cost, VMs and bandwidth of every step, and how they change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pubplan.problems.provision.catalogue import MICROS
from pubplan.reproduce.figures import Figure, Line, Unit, Values
from pubplan.reproduce.provision import paper
from pubplan.reproduce.provision.paper import SPOTIFY, TWITTER, printed
from pubplan.reproduce.provision.runs import (
    BASELINE,
    BASELINE_BY_TOPIC,
    BOUND,
    CUSTOM,
    GREEDY,
    GREEDY_BY_TOPIC,
    JOINT,
    METHODS,
    ORDERS,
    PAPER_BOUND,
    SHUFFLED_BASELINE,
    STEPS,
    Runs,
    Setup,
)
from pubplan.workload import DEFAULT_MESSAGE_BYTES

CHECKED = {
    SPOTIFY: (
        "Checked with seed 0: which of equally good topics GSP takes moves this by at most 1 point, the order of pairs "
        "and of interests by at most 1.5 points each, and scale 1 instead of 0.02 by at most 1.6. The difference is "
        "unexplained; the trace is not public. The paper's VM types differ by 10 points at tau = 100, ours by less "
        "than 1."
    ),
    TWITTER: (
        "Checked with seed 0: savings grow with the scale, on c3.large from 62.4, 38.1 and 13.2 % at 0.004 through "
        "67.6, 45.9 and 15.7 % at 0.02 to 71.5, 49.6 and 17.8 % at 0.1, which explains most at tau = 10 and 100. With "
        "interests in random order RSP costs more, and at 0.02 GSP saves 70.9, 47.1 and 17.2 %; taking the smallest or "
        "the first of equally good topics, it saves no more, and as little as 7.1 % at tau = 1000. What is left there "
        "is unexplained; the paper's VM types differ by 9 points there, ours by less than 1."
    ),
}
"""What was tried to explain why GSP saves more or less than in the paper."""


def fleet_figures(name: str, shape: str, type_label: str, runs: Runs, setup: Setup, scale: float) -> list[Figure]:
    """Cost, VMs and bandwidth of every method, what each step saves and changes, and what the order of pairs does."""

    def figure(title: str, y: str, unit: Unit, lines: Sequence[Line]) -> Figure:
        title = f"{shape}, {type_label}: {title}"
        return Figure(name, title, "tau", "", runs.thresholds, y, unit, tuple(lines))

    def lines(methods: Sequence[str], what: str, unit: float, values: str) -> list[Line]:
        rows = {method: getattr(runs, values)(type_label, method) for method in methods}
        return [Line(method, what, tuple(value / unit for value in row)) for method, row in rows.items()]

    bounds = [
        Line(
            bound, "no plan is below", tuple(value / MICROS for value in runs.bounds[type_label, bound]), is_bound=True
        )
        for bound in (PAPER_BOUND, BOUND)
    ]
    dollars = "dollars for ten days"
    return [
        figure("cost", dollars, "dollars", [*lines(METHODS, "cost", MICROS, "costs"), *bounds]).with_notes(
            "", *_cost_notes(type_label, runs), *_size_notes(shape, type_label, runs, setup, scale)
        ),
        figure("VMs", "VMs", "VMs", lines(METHODS, "VMs", 1, "vms")),
        figure("bandwidth", "GB in ten days", "GB", lines(METHODS, "in and out", 1e9, "traffic")),
        figure("saved by each step", "% of the cost before", "percent", _saved(shape, type_label, runs)).with_notes(
            CHECKED[shape], *_step_notes(shape, type_label, runs)
        ),
        figure(
            "VMs and bandwidth by step", "% more than before", "percent", _changes(shape, type_label, runs)
        ).with_notes(paper.UNEXPLAINED, *_change_notes(shape, type_label, runs)),
        figure("cost by order of pairs", dollars, "dollars", lines(ORDERS, "cost", MICROS, "costs")).with_notes(
            "", *_order_notes(type_label, runs)
        ),
    ]


def together(name: str, shape: str, labels: Sequence[str], runs: Runs, share: float) -> list[Figure]:
    """Everything against the naive solution, for every VM type, in percent and in dollars."""
    percents, dollars = [], []
    for type_label in labels:
        before = runs.costs(type_label, BASELINE)
        for method in (CUSTOM, JOINT):
            after = runs.costs(type_label, method)
            saved = tuple((old - new) / MICROS for old, new in zip(before, after, strict=True))
            percents.append(Line(f"{method}, {type_label}", "saved", saved_percent(before, after)))
            dollars.append(Line(f"{method}, {type_label}", "saved", saved))
    most, ours, most_dollars = (
        max((value for line in lines if line.name.startswith(method) for value in line.values if value), default=0.0)
        for lines, method in ((percents, CUSTOM), (percents, JOINT), (dollars, CUSTOM))
    )
    by_topic = max(
        value or 0.0
        for type_label in labels
        for value in saved_percent(runs.costs(type_label, BASELINE_BY_TOPIC), runs.costs(type_label, CUSTOM))
    )
    asked, asked_dollars = paper.SAVED_ALTOGETHER[shape], paper.DOLLARS_ALTOGETHER[shape]
    shares = (
        f"{CUSTOM} saves up to {most:.1f} % of {BASELINE} here, and up to {by_topic:.1f} % of {BASELINE_BY_TOPIC}; in "
        f"the paper, which leaves the order of the pairs open, up to {asked} %. {JOINT} saves up to {ours:.1f} %."
    )
    amounts = (
        f"{CUSTOM} saves up to ${most_dollars:,.0f} here, with messages of {100 * share:.0f} % of the size that would "
        f"make up for the scale; in the paper ${asked_dollars:,}. If that is its {asked} %, its {BASELINE} costs "
        f"${100 * asked_dollars / asked:,.0f}; here {_cost_of_most(labels, runs)}. Dollars follow the peak factor, "
        "which the paper does not give."
    )

    def figure(title: str, y: str, unit: Unit, lines: Sequence[Line], note: str) -> Figure:
        return Figure(name, f"{shape}: {title}", "tau", "", runs.thresholds, y, unit, tuple(lines), (note,))

    return [
        figure("saved altogether", f"% of {BASELINE}", "percent", percents, shares),
        figure("dollars saved altogether", "dollars in ten days", "dollars", dollars, amounts),
    ]


def _cost_of_most(labels: Sequence[str], runs: Runs) -> str:
    """What the baseline costs of which the paper's method saves the largest share, and where that is."""
    cases = [
        (1 - new / old, old, threshold, type_label)
        for type_label in labels
        for threshold, old, new in zip(
            runs.thresholds, runs.costs(type_label, BASELINE), runs.costs(type_label, CUSTOM), strict=True
        )
        if old
    ]
    if not cases:
        return "nothing"
    share, cost, threshold, type_label = max(cases)
    return f"it costs ${cost / MICROS:,.0f} where {100 * share:.1f} % are saved, on {type_label} at tau = {threshold}"


def _cost_notes(type_label: str, runs: Runs) -> Iterator[str]:
    custom = runs.costs(type_label, CUSTOM)
    above_paper = _above(custom, runs.bounds[type_label, PAPER_BOUND])
    yield (
        f"{CUSTOM} is {in_range(above_paper)} above {PAPER_BOUND}, {paper.ABOVE_BOUND} in the paper, and "
        f"{in_range(_above(custom, runs.bounds[type_label, BOUND]))} above our bound: the rest is what {PAPER_BOUND} "
        "leaves out, incoming streams and topics that bring more than the threshold."
    )
    above = _above(runs.costs(type_label, JOINT), runs.bounds[type_label, BOUND])
    yield f"{JOINT} is {in_range(above, 3)} above our bound."


def _size_notes(shape: str, type_label: str, runs: Runs, setup: Setup, scale: float) -> Iterator[str]:
    """How large fleets are, and what the scale does to them."""
    size = (
        f"VMs are sized for {setup.peak_factor} times the mean traffic (the peak factor): in ten days one c3.large "
        "carries more than the whole Spotify trace, and the paper does not say how it came to larger fleets."
    )
    fleets = dict(zip(runs.thresholds, runs.vms(type_label, GREEDY), strict=True))
    for threshold, expected in paper.FLEET.get((shape, type_label), {}).items():
        if threshold in fleets:
            size += (
                f" At tau = {threshold} it calls one VM 0.5 % of those of {GREEDY}, so they are about {expected}; here "
                f"they are {fleets[threshold]}."
            )
    yield size
    if scale < 1:
        factor = setup.message_bytes / DEFAULT_MESSAGE_BYTES
        yield (
            f"Messages have {setup.message_bytes:,} bytes instead of {DEFAULT_MESSAGE_BYTES}, "
            f"{100 * factor * scale:.0f} % of what would make up for the scale. The stream of a topic takes "
            f"{factor:.0f} times the share of a VM that it takes at scale 1, so packing is another problem. For "
            "comparison, on the Spotify shape at scale 1 (seed 0) (c) saves -1.4 to 0.0 % and (d) 5.2 to 7.7 %, and "
            "(b) takes 4.5 to 7.2 % more VMs than first fit by topic."
        )


def _saved(shape: str, type_label: str, runs: Runs) -> list[Line]:
    """How much cheaper each step is than the one before, and all of stage 2 than first fit."""
    lines = []
    for before, after in [*pairwise([BASELINE, GREEDY, *STEPS.values(), JOINT]), (GREEDY, CUSTOM)]:
        is_first = (before, after) == (BASELINE, GREEDY)
        known = printed(paper.SAVED_BY_GSP.get((shape, type_label)) if is_first else None, runs.thresholds)
        values = saved_percent(runs.costs(type_label, before), runs.costs(type_label, after))
        lines.append(Line(after, f"against {before}", values, known))
    return lines


def _step_notes(shape: str, type_label: str, runs: Runs) -> Iterator[str]:
    for (before, after), step in zip(pairwise([GREEDY, *STEPS.values()]), "bcde", strict=True):
        values = saved_percent(runs.costs(type_label, before), runs.costs(type_label, after))
        other = ""
        if step == "b":
            by_topic = saved_percent(runs.costs(type_label, GREEDY_BY_TOPIC), runs.costs(type_label, after))
            other = f", {in_range(by_topic)} of {GREEDY_BY_TOPIC}"
        yield f"Step ({step}) saves {in_range(values)} here{other}; {paper.SAVED_BY_STEP[shape][step]} in the paper."
    costs = [runs.costs(type_label, method) for method in (GREEDY, GREEDY_BY_TOPIC, CUSTOM)]
    baseline = runs.costs(type_label, BASELINE)
    points = [100 * (old - new) / base for old, new, base in zip(costs[0], costs[2], baseline, strict=True) if base]
    yield (
        f"(b) to (e) together save {in_range(saved_percent(costs[0], costs[2]))} here, which is {in_range(points)} of "
        f"{BASELINE}, and {in_range(saved_percent(costs[1], costs[2]))} of {GREEDY_BY_TOPIC}; in the paper up to "
        f"{paper.SAVED_BY_STEPS_TOGETHER} %, as much as lies between the 33 and 38 % of {BASELINE} that it saves on "
        "Spotify without and with them."
    )


def _changes(shape: str, type_label: str, runs: Runs) -> list[Line]:
    """How VMs and bandwidth change from step to step, in percent."""
    key = (shape, type_label)
    known = {
        GREEDY: (paper.VMS_BY_GSP.get(key), paper.BANDWIDTH_BY_GSP.get(key)),
        STEPS["b"]: (paper.VMS_BY_GROUPING.get(key), paper.BANDWIDTH_BY_GROUPING.get(key)),
    }
    lines = []
    for before, after in pairwise([BASELINE, GREEDY, *STEPS.values()]):
        for what, number, values in (("VMs", 0, runs.vms), ("bandwidth", 1, runs.traffic)):
            changes = more_percent(values(type_label, before), values(type_label, after))
            paper_values = printed(known.get(after, (None, None))[number], runs.thresholds)
            lines.append(Line(after, f"{what} against {before}", changes, paper_values))
    return lines


def _change_notes(shape: str, type_label: str, runs: Runs) -> Iterator[str]:
    def changed(before: str, after: str) -> str:
        vms = more_percent(runs.vms(type_label, before), runs.vms(type_label, after))
        traffic = more_percent(runs.traffic(type_label, before), runs.traffic(type_label, after))
        return f"VMs by {in_range(vms)} and bandwidth by {in_range(traffic)}"

    grouped, sorted_, distributed = STEPS["b"], STEPS["bc"], STEPS["bcd"]
    yield (
        f"(b) changes {changed(GREEDY, grouped)}; against {GREEDY_BY_TOPIC} {changed(GREEDY_BY_TOPIC, grouped)}; in "
        f"the paper {paper.GROUPING[shape]}. By subscriber the pairs of a topic are scattered over VMs, by topic they "
        "fill one VM after the other. The paper does not say in which order its pairs came: unexplained."
    )
    yield (
        f"(c) changes {changed(grouped, sorted_)}; in the paper it takes more VMs and slightly less bandwidth in some "
        "cases."
    )
    yield (
        f"(d) changes {changed(sorted_, distributed)}; in the paper it is mainly VMs that it saves, and bandwidth "
        "stays the same or rises slightly."
    )


def _order_notes(type_label: str, runs: Runs) -> Iterator[str]:
    greedy, by_topic = (runs.costs(type_label, method) for method in (GREEDY, GREEDY_BY_TOPIC))
    pairs = (
        ("with pairs by subscriber", BASELINE, greedy),
        ("with pairs by topic", BASELINE_BY_TOPIC, by_topic),
        ("if RSP takes interests at random", SHUFFLED_BASELINE, greedy),
    )
    shares = (f"{in_range(saved_percent(runs.costs(type_label, old), new))} {when}" for when, old, new in pairs)
    yield f"GSP saves {'; '.join(shares)}."
    yield (
        f"The order of pairs alone makes {GREEDY} {in_range(more_percent(by_topic, greedy))} more expensive than by "
        "topic; the paper takes pairs in no particular sequence."
    )


def saved_percent(before: Sequence[int], after: Sequence[int]) -> Values:
    return tuple(100 * (1 - new / old) if old else None for old, new in zip(before, after, strict=True))


def more_percent(before: Sequence[int], after: Sequence[int]) -> Values:
    return tuple(100 * (new / old - 1) if old else None for old, new in zip(before, after, strict=True))


def _above(costs: Sequence[int], bounds: Sequence[int]) -> list[float]:
    return [100 * (cost / bound - 1) if bound else 0.0 for cost, bound in zip(costs, bounds, strict=True)]


def in_range(percents: Sequence[float | None], decimals: int = 1) -> str:
    """The least and the most of some percentages as text."""
    known = [value for value in percents if value is not None] or [0.0]
    # Adding 0 takes the sign off a rounded zero.
    low, high = (f"{round(value, decimals) + 0.0:.{decimals}f}" for value in (min(known), max(known)))
    return f"{low} %" if low == high else f"{low} to {high} %"
