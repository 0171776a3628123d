"""The methods of overlay: one file each."""
