"""The JSON Schema of a blueprint, made from the model: for editors, and for programs that write blueprints.

It ships as ``blueprint.schema.json`` beside this module: ``python -m handrail.blueprints.schema`` prints it.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from typing import Any

from handrail.blueprints.edges import ALWAYS, edge_kinds
from handrail.blueprints.model import Blueprint

SHIPPED = "blueprint.schema.json"


def json_schema() -> dict[str, Any]:
    """The schema of what ``parse_toml`` and ``parse_json`` read (JSON Schema 2020-12)."""
    made = Blueprint.model_json_schema()
    for name, kind in edge_kinds().items():
        part = made["$defs"].get(kind.__name__)
        if name != ALWAYS and part is not None:
            # The kind has a default in Python, and must be said in a file.
            part["required"] = sorted({*part.get("required", ()), "when"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "A Handrail blueprint"}


def render_schema() -> str:
    """The schema as it ships."""
    return json.dumps(json_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def shipped_schema() -> str:
    """The schema that is installed, without loading the model."""
    return resources.files(__package__ or "handrail.blueprints").joinpath(SHIPPED).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(render_schema())
