"""``python -m handrail``."""

from __future__ import annotations

from handrail.cli import main

main()
