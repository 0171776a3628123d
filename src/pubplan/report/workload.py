"""A workload on the page: its distributions on logarithmic scales."""

from __future__ import annotations

from typing import Any

from pubplan.pipeline.describe import Description, Distribution, Relation
from pubplan.report.frame import Chart, Section, Table

TABLE_ROWS = 12


def section(name: str, found: Description) -> Section:
    """The numbers of a workload with four charts (Appendix D of Setty et al., ICDCS 2014)."""
    counts, totals = found.counts, found.totals
    return Section(
        f"Workload {name}",
        figures={
            "topics": f"{counts['topics']:,}",
            "subscribers": f"{counts['subscribers']:,}",
            "interests": f"{counts['pairs']:,}",
            "deliveries per window": f"{totals['cost']:,}",
        },
        charts=[
            ccdf(
                "How many have at least so many",
                "Followers and followings: the share of topics with at least that many subscribers, and of subscribers "
                "with at least that many topics.",
                {"subscribers per topic": found.followers, "topics per subscriber": found.followings},
            ),
            ccdf(
                "How much is published and received",
                "The share of topics that publish, and of subscribers that would receive, at least that many events "
                "per window.",
                {"events per topic": found.rates, "events per subscriber": found.received},
            ),
            relation(
                "Rate against popularity",
                "The mean rate of topics by their number of subscribers.",
                found.rate_by_popularity,
                ("subscribers per topic", "mean events per topic"),
            ),
            relation(
                "Subscription cardinality against followings",
                "The mean share of all events that a subscriber would receive, by its number of topics.",
                found.cardinality,
                ("topics per subscriber", "% of all events"),
            ),
        ],
        facts={
            "window": f"{found.window['start']} to {found.window['end']}" if found.window["start"] else "without time",
            "events per window": f"{totals['rate']:,}",
            "most popular 1 % of topics": f"{100 * found.top_share:.1f} % of the interests",
            "mean subscription cardinality": f"{found.mean_cardinality:.3g} % of all events",
        },
    )


def ccdf(title: str, caption: str, lines: dict[str, Distribution]) -> Chart:
    points: list[dict[str, Any]] = [
        {"what": what, "value": value, "share": share}
        for what, distribution in lines.items()
        for value, share in zip(distribution.values, distribution.shares, strict=True)
    ]
    picked = points[:: max(1, len(points) // TABLE_ROWS)]
    rows = [[point["what"], f"{point['value']:,}", f"{100 * point['share']:.4g} %"] for point in picked]
    spec = _spec(points, ("value", "at least"), ("share", "share of all", ".1~e"))
    return Chart(title, caption, spec, Table(["", "at least", "share"], rows))


def relation(title: str, caption: str, found: Relation, axes: tuple[str, str]) -> Chart:
    points: list[dict[str, Any]] = [
        {"what": axes[1], "value": value, "mean": mean, "number": counted}
        for value, mean, counted in zip(found.values, found.means, found.numbers, strict=True)
        if value > 0 and mean > 0
    ]
    picked = points[:: max(1, len(points) // TABLE_ROWS)]
    rows = [[f"{point['value']:,}", f"{point['mean']:,.4g}", f"{point['number']:,}"] for point in picked]
    spec = _spec(points, ("value", axes[0]), ("mean", axes[1], "~g"))
    return Chart(title, caption, spec, Table([*axes, "how many"], rows))


def _spec(points: list[dict[str, Any]], x: tuple[str, str], y: tuple[str, str, str]) -> dict[str, Any]:
    """Lines on logarithmic axes, values under the pointer; axes as field, title (and number format)."""
    import altair as alt

    logarithmic = alt.Scale(type="log")
    encoded = {
        "x": alt.X(f"{x[0]}:Q", scale=logarithmic, title=x[1], axis=alt.Axis(format="~s", tickCount=6)),
        "y": alt.Y(f"{y[0]}:Q", scale=logarithmic, title=y[1], axis=alt.Axis(format=y[2], tickCount=6)),
        "color": alt.Color("what:N", legend=alt.Legend(title=None, columns=1)),
    }
    tooltip = [alt.Tooltip("what:N"), alt.Tooltip(f"{x[0]}:Q", format=","), alt.Tooltip(f"{y[0]}:Q", format=".3~g")]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.5)
    spec: dict[str, Any] = chart.encode(**encoded, tooltip=tooltip).properties(width="container", height=260).to_dict()
    spec.pop("config", None)
    return spec
