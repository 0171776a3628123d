"""The methods of provision: one file each."""
