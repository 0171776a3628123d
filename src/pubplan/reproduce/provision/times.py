"""Fig. 4 to 7 and section IV-E of Setty et al. (ICDCS 2014): seconds of the stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pubplan.reproduce.figures import Figure, Line
from pubplan.reproduce.provision import paper
from pubplan.reproduce.provision.paper import printed
from pubplan.reproduce.provision.runs import JOINT, Runs

STAGES1 = ("RSP", "GSP", "least-traffic", "joint")


def time_figures(first: str, second: str, shape: str, type_label: str, runs: Runs, scale: float) -> tuple[Figure, ...]:
    """Seconds of stage 1, of stage 2, and of both together on one VM type."""
    machine = (
        f"Ours are single runs at scale {scale:g} on this machine, reading included; they grow with the scale. The "
        "paper's are of the whole trace, in C++, on a 1.87 GHz Xeon with 132 GB."
    )
    return (
        _figure(
            first, f"{shape}: seconds of stage 1", runs, _seconds(runs, {each: (each,) for each in STAGES1})
        ).with_notes("", *_first_notes(shape, runs), machine),
        _second(second, shape, type_label, runs),
        _both(shape, type_label, runs, machine, scale),
    )


def _figure(name: str, title: str, runs: Runs, lines: Sequence[Line]) -> Figure:
    return Figure(name, title, "tau", "", runs.thresholds, "seconds", "seconds", tuple(lines))


def _seconds(runs: Runs, stages: Mapping[str, tuple[str, ...]]) -> list[Line]:
    """A line for each name: the seconds of its stages, added up."""
    return [
        Line(name, "seconds", tuple(map(sum, zip(*(runs.seconds[part] for part in parts), strict=True))))
        for name, parts in stages.items()
    ]


def _first_notes(shape: str, runs: Runs) -> Iterator[str]:
    totals = {each: sum(runs.seconds[each]) for each in STAGES1}
    ratios = ", ".join(f"{each} {totals[each] / totals['RSP']:.2f}" for each in STAGES1[1:])
    longer = max(new - old for old, new in zip(runs.seconds["RSP"], runs.seconds["GSP"], strict=True))
    yield f"All thresholds together, as multiples of RSP: {ratios}."
    yield f"GSP takes up to {max(0.0, longer):.2f} s more than RSP here. {paper.FIRST_STAGE[shape]}"


def _second(name: str, shape: str, type_label: str, runs: Runs) -> Figure:
    """Packing what GSP chose, and what joint chose."""
    stages = {
        "FFBP": (f"FFBP {type_label}",),
        "CBP": (f"CBP (bcde) {type_label}",),
        "level": (f"level {type_label} {JOINT} joint",),
    }
    first, custom = (sum(runs.seconds[stages[each][0]]) for each in ("FFBP", "CBP"))
    title = f"{shape}: seconds of stage 2 on {type_label}"
    return _figure(name, title, runs, _seconds(runs, stages)).with_notes(
        "",
        f"CBP is {first / max(custom, 1e-9):.1f} times as fast as FFBP, {paper.SECOND_STAGE[shape]}.",
        "FFBP finds the first VM that can take a pair in a tree, not by trying all; level includes a run of CBP.",
    )


def _both(shape: str, type_label: str, runs: Runs, machine: str, scale: float) -> Figure:
    """The whole solution against the naive one."""
    lines = _seconds(
        runs,
        {
            "GSP + CBP": ("GSP", f"CBP (bcde) {type_label}"),
            "RSP + FFBP": ("RSP", f"RSP's FFBP {type_label}"),
        },
    )
    known = paper.BOTH_STAGES.get(shape, {}) if type_label == "c3.large" else {}
    lines = [Line(line.name, line.what, line.values, printed(known.get(line.name), runs.thresholds)) for line in lines]
    custom, naive = ([value or 0.0 for value in line.values] for line in lines)
    shares = ", ".join(
        f"{new / max(old, 1e-9):.2f} at tau = {tau}"
        for tau, new, old in zip(runs.thresholds, custom, naive, strict=True)
    )
    notes = [f"GSP + CBP takes, as a share of RSP + FFBP: {shares}; in the paper less than 1 in most cases."]
    if known:
        notes[0] = notes[0].removesuffix(".") + ", and 0.68 on Twitter at tau = 1000 (1484.7 s and 2186 s)."
    notes.append(
        f"GSP + CBP takes at most {max(custom):.2f} s at scale {scale:g}; in the paper {paper.WHOLE_SOLUTION[shape]} "
        "for the whole trace."
    )
    title = f"{shape}: seconds of both stages on {type_label}"
    return _figure("Section IV-E", title, runs, lines).with_notes(machine, *notes)
