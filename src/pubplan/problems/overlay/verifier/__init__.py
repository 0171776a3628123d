"""The independent evaluation of plans of overlay: it shares no code with methods, kernels and bounds."""
