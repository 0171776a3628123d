"""How many VMs of which type satisfy everybody, what they cost, and which pair goes where."""
