"""Recomputes plans of ``federate``; shares no code with methods and bounds."""
