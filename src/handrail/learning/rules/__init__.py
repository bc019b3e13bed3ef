"""Rules: one sentence each, where it counts, what it came from, and how far it has proved itself."""
