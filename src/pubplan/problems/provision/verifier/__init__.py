"""The independent evaluation of plans of provision: it shares no code with methods, kernels and bounds."""
