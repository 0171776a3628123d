"""The loops of overlay, one file per subject."""
