"""A workload on the page: its distributions on logarithmic scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubplan.pages.axes import PLAIN_SHARE, SHORT_NUMBER, log_ticks
from pubplan.pages.frame import Chart, Entry, Section, Table
from pubplan.text import counted
from pubplan.workload import Description, Distribution, Relation, TopicDescription, Workload, quantile_sentence

TABLE_ROWS = 12


def section(workload: Workload, description: Description) -> Section:
    """The numbers and charts of a workload, as its kind has them."""
    return SECTIONS[workload.kind](workload.path.name, description)


def topic_section(name: str, description: TopicDescription) -> Section:
    """The numbers of a topic workload with four charts (Appendix D of Setty et al., ICDCS 2014)."""
    counts, totals, window = description.counts, description.totals, description.window
    return Section(
        f"Workload {name}",
        [
            f"{counted(counts['subscribers'], 'subscriber')} asked for {counted(counts['topics'], 'topic')}, in "
            f"{counted(counts['pairs'], 'interest')}; serving everything takes {totals['cost']:,} deliveries per "
            "window."
        ],
        figures={
            "topics": f"{counts['topics']:,}",
            "subscribers": f"{counts['subscribers']:,}",
            "interests": f"{counts['pairs']:,}",
            "deliveries per window": f"{totals['cost']:,}",
        },
        charts=[
            ccdf(
                "Subscribers per topic, topics per subscriber",
                "The share of topics with at least that many subscribers, and of subscribers with at least that many "
                "topics.",
                {
                    "subscribers per topic": description.subscribers_per_topic,
                    "topics per subscriber": description.topics_per_subscriber,
                },
            ),
            ccdf(
                "How much is published and received",
                "The share of topics that publish, and of subscribers that would receive, at least that many events "
                "per window.",
                {"events per topic": description.rates, "events per subscriber": description.received},
            ),
            relation(
                "Rate against popularity",
                "The mean rate of topics by their number of subscribers.",
                description.rate_by_popularity,
                ("subscribers per topic", "mean events per topic"),
            ),
            relation(
                "Subscription cardinality against topics per subscriber",
                "The mean share of all events that a subscriber would receive, by its number of topics.",
                description.cardinality,
                ("topics per subscriber", "% of all events"),
            ),
        ],
        facts={
            "window": f"{window['start']} to {window['end']}" if window["start"] else "without time",
            "events per window": f"{totals['rate']:,}",
            "most popular 1 % of topics": f"{100 * description.top_share:.1f} % of the interests",
            "subscribers per topic": quantile_sentence(description.subscribers_per_topic),
            "topics per subscriber": quantile_sentence(description.topics_per_subscriber),
            "events per topic": quantile_sentence(description.rates),
            "events per subscriber": quantile_sentence(description.received),
            "mean subscription cardinality": f"{description.mean_cardinality:.3g} % of all events",
        },
    )


def _content_section(name: str, description: Any) -> Section:
    from pubplan.pages.content import content_section  # draws with what is below

    return content_section(name, description)


SECTIONS: dict[str, Callable[[str, Any], Section]] = {"topic": topic_section, "content": _content_section}


def ccdf(title: str, caption: str, lines: dict[str, Distribution]) -> Chart:
    points: list[dict[str, Any]] = [
        {"line": name, "value": value, "share": share}
        for name, distribution in lines.items()
        for value, share in zip(distribution.values, distribution.shares, strict=True)
        if value > 0 and share > 0
    ]
    picked = points[:: max(1, len(points) // TABLE_ROWS)]
    rows = [[point["line"], f"{point['value']:,}", f"{100 * point['share']:.4g} %"] for point in picked]
    spec = _spec(points, ("value", "at least"), ("share", "share of all", PLAIN_SHARE))
    legend = [Entry(name, number) for number, name in enumerate(lines)]
    return Chart(title, caption, spec, Table(["line", "at least", "share"], rows), legend)


def relation(title: str, caption: str, means: Relation, axes: tuple[str, str]) -> Chart:
    points: list[dict[str, Any]] = [
        {"line": axes[1], "value": value, "mean": mean, "number": number}
        for value, mean, number in zip(means.values, means.means, means.numbers, strict=True)
        if value > 0 and mean > 0
    ]
    picked = points[:: max(1, len(points) // TABLE_ROWS)]
    rows = [[f"{point['value']:,}", f"{point['mean']:,.4g}", f"{point['number']:,}"] for point in picked]
    spec = _spec(points, ("value", axes[0]), ("mean", axes[1], SHORT_NUMBER))
    return Chart(title, caption, spec, Table([*axes, "how many"], rows))


def _spec(points: list[dict[str, Any]], x: tuple[str, str], y: tuple[str, str, str]) -> dict[str, Any]:
    """Lines on logarithmic axes, values under the pointer; axes as field, title (and how numbers are written)."""
    import altair as alt

    ticks = {
        name: log_ticks(min(point[name] for point in points), max(point[name] for point in points))
        if points
        else [1, 10]
        for name in (x[0], y[0])
    }
    scales = {name: alt.Scale(type="log", domain=[marks[0], marks[-1]], nice=False) for name, marks in ticks.items()}
    across = alt.Axis(labelExpr=SHORT_NUMBER, values=ticks[x[0]])
    encoded = {
        "x": alt.X(f"{x[0]}:Q", scale=scales[x[0]], title=x[1], axis=across),
        "y": alt.Y(f"{y[0]}:Q", scale=scales[y[0]], title=y[1], axis=alt.Axis(labelExpr=y[2], values=ticks[y[0]])),
        "color": alt.Color(
            "line:N", scale=alt.Scale(domain=list(dict.fromkeys(point["line"] for point in points))), legend=None
        ),
    }
    tooltip = [alt.Tooltip("line:N"), alt.Tooltip(f"{x[0]}:Q", format=","), alt.Tooltip(f"{y[0]}:Q", format=".3~g")]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.5)
    spec: dict[str, Any] = chart.encode(**encoded, tooltip=tooltip).properties(width="container", height=260).to_dict()
    spec.pop("config", None)
    return spec
