"""The stages of planning that progress bars and run.json name."""

from __future__ import annotations

ASSIGNING = "assigning clients"
"""Choosing leaves for clients; its time is that of the kernels."""

TIGHTENING = "tightening filters"
"""Making filters smaller once it is known whom they serve."""

REFINING = "refining"
"""Improving an assignment step by step."""
