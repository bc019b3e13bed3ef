"""Use cases of learning: from moments to rules, from rules to runs, and what became of it."""
