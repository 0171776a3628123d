"""The independent evaluation of plans of select: it shares no code with methods, kernels and bounds."""
