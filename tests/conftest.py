"""Settings of every test: properties draw the same examples every time, leave nothing on disk and watch no clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
