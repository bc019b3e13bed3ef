"""Probes: the same moment gone through with a rule and without it, and what may be concluded from that."""
