"""The stages of planning that progress bars and run.json name."""

from __future__ import annotations

ATTACHING = "attaching clients"
"""Choosing brokers for clients; its time is that of the kernels."""

SEARCHING = "moving clients"
"""Improving an attachment step by step."""

ROUTING = "routing channels"
"""Finding the trees along which brokers forward."""
