"""The methods of select: one file each."""
