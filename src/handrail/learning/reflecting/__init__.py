"""Reflection: what one moment may teach, found by one isolated call of a model and judged by code."""
