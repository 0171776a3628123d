"""The stages that methods announce: a plan's ``run.json`` keeps their seconds under these names."""

from __future__ import annotations

LINKING = "linking nodes"
CLOSING_RINGS = "closing rings"
CONQUERING = "conquering parts"
COMBINING = "combining parts"
REPAIRING = "repairing degrees"
SPANNING = "spanning topics"
COMPARING = "comparing nodes"

CHOOSING_LINKS = (CONQUERING, COMBINING, REPAIRING, LINKING, CLOSING_RINGS)
"""The stages in which methods choose links."""
