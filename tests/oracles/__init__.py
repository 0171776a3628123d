"""Slow and obvious twins of what pubplan does fast, one file per family."""
