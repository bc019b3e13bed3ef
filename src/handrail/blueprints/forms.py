"""A blueprint as plain data and as JSON, both ways, and the digest that names one."""

from __future__ import annotations

import hashlib
from typing import Any

from handrail import jsonio
from handrail.blueprints.model import Blueprint
from handrail.transcripts.model import Json


def to_plain(blueprint: Blueprint) -> dict[str, Json]:
    """``blueprint`` as plain data, without what it leaves at its default; ``Blueprint.model_validate`` reads it."""
    plain: dict[str, Json] = blueprint.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    return plain


def from_plain(plain: Any) -> Blueprint:
    """The blueprint that ``plain`` says; ``pydantic.ValidationError`` with every fault when it says none."""
    return Blueprint.model_validate(plain)


def digest_of(blueprint: Blueprint) -> str:
    """SHA-256, in hex, of the canonical JSON of ``blueprint``.

    Defaults are left out of it: a field that a later version adds changes the digest of no blueprint that leaves
    it alone, so a run goes on across an upgrade. A default is therefore never changed.
    """
    return hashlib.sha256(jsonio.canonical(to_plain(blueprint))).hexdigest()
