"""Delivery: how rules reach the next run, ours or another tool's, and how the owner's hand in their files is read."""
