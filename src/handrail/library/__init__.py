"""All the sessions of this machine, whichever harness wrote them."""

from __future__ import annotations

from handrail.library.catalog import Catalog, Unread, discover
from handrail.library.projects import in_project, project_name
from handrail.library.references import RangeRequest, Reference, parse_reference, resolve_ranges
from handrail.library.sniff import Guess, guess_harness

__all__ = [
    "Catalog",
    "Guess",
    "RangeRequest",
    "Reference",
    "Unread",
    "discover",
    "guess_harness",
    "in_project",
    "parse_reference",
    "project_name",
    "resolve_ranges",
]
