"""Runs that outlive their process: SQL journals, the questions that wait for people, stages, workers."""
