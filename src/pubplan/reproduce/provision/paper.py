"""What Setty et al. (ICDCS 2014) print about Fig. 2 to 7: sections IV-C to IV-F."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pubplan.reproduce.figures import Values

SPOTIFY, TWITTER = "Spotify shape", "Twitter shape"

UNEXPLAINED = "The difference is unexplained."
"""Under figures that differ from the paper's for unknown reasons."""

SAVED_BY_GSP = {
    (SPOTIFY, "c3.large"): {10: 33.0, 100: 27.6, 1000: 10.9},
    (SPOTIFY, "c3.xlarge"): {10: 32.7, 100: 17.6, 1000: 10.8},
    (TWITTER, "c3.large"): {10: 71.0, 100: 51.4, 1000: 29.1},
    (TWITTER, "c3.xlarge"): {10: 70.0, 100: 51.9, 1000: 20.3},
}
"""Percent of the cost of RSP + FFBP, by shape and VM type, then by threshold."""

VMS_BY_GSP = {(SPOTIFY, "c3.large"): {10: -33.0}}
BANDWIDTH_BY_GSP = {(SPOTIFY, "c3.large"): {10: -22.9}}
VMS_BY_GROUPING = {(TWITTER, "c3.xlarge"): {1000: 0.5}}
BANDWIDTH_BY_GROUPING = {(TWITTER, "c3.xlarge"): {1000: -8.0}}
"""Percent of what it was one step before."""

SAVED_BY_STEP = {
    SPOTIFY: {"b": "about 3.5 %, sometimes -1.6 %", "c": "up to 2.5 %", "d": "up to 10.7 %", "e": "up to 1.2 %"},
    TWITTER: {"b": "a little", "c": "up to 2.4 %", "d": "up to 9.5 %", "e": "up to 0.2 %"},
}
GROUPING = {
    SPOTIFY: "VMs +2 to +4 % and bandwidth -8 to -10 %, on c3.large at tau = 10 and on c3.xlarge throughout",
    TWITTER: "VMs +0.5 % (one VM) and bandwidth -8 %, on c3.xlarge at tau = 1000",
}
SAVED_BY_STEPS_TOGETHER = 5
"""Percent: (b) to (e), at most, on either trace."""

SAVED_ALTOGETHER = {SPOTIFY: 38, TWITTER: 74}
DOLLARS_ALTOGETHER = {SPOTIFY: 2000, TWITTER: 4000}
"""At most, in ten days."""

ABOVE_BOUND = "about 15 % in many cases"
FLEET = {(TWITTER, "c3.xlarge"): {1000: 200}}
"""VMs of GSP + FFBP, from "0.5 % (1 VM)"."""

FIRST_STAGE = {
    SPOTIFY: "In the paper GSP takes at most 2 s more than RSP.",
    TWITTER: "In the paper RSP takes up to 986 s and GSP up to 1471 s, 1.49 times as long.",
}
SECOND_STAGE = {
    SPOTIFY: "in the paper up to 10",
    TWITTER: "in the paper about 1000, or about 90 by its totals (1200 s and 13.7 s at tau = 1000)",
}
BOTH_STAGES = {TWITTER: {"GSP + CBP": {1000: 1484.7}, "RSP + FFBP": {1000: 2186.0}}}
"""Seconds on c3.large."""
WHOLE_SOLUTION = {SPOTIFY: "under 30 s", TWITTER: "about 25 minutes"}


def printed(values: Mapping[int, float] | None, thresholds: Sequence[int]) -> Values:
    """What is printed for these thresholds; nothing if there is nothing for any of them."""
    at_thresholds = tuple((values or {}).get(threshold) for threshold in thresholds)
    return at_thresholds if any(value is not None for value in at_thresholds) else ()
