"""Checks: what of a rule can be checked, as a declarative spec, over past sessions and in runs."""
