"""Proposals: what is to be done with the rules, shown to the owner before it is done."""
