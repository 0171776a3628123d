"""Compiled inner loops of ``federate``, by subject."""
