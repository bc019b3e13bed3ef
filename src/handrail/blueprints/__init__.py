"""Blueprints: stages, regions, edges and interaction points as data; declared and checked, never executed here."""
