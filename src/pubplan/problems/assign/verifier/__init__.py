"""The independent evaluation of plans of assign: it shares no code with methods, kernels and bounds."""
