"""Methods of assign, one file each."""
