"""The compiled inner loops of select, by subject."""
