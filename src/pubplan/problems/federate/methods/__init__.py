"""The methods of ``federate``, one file each."""
