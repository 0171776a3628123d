"""The loops of assign, one file per subject."""
