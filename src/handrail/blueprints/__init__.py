"""Blueprints: stages, regions, edges and interaction points as data; declared and checked, never executed here.

What a blueprint is made of can be had from here, loaded when it is first used. What is made of one has a module each:
``check.problems``, ``graph.mermaid``, ``svg.svg``, ``shelf.shipped_blueprint``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail.exports import load

if TYPE_CHECKING:
    from handrail.blueprints.edges import END as END
    from handrail.blueprints.edges.always import Always as Always
    from handrail.blueprints.edges.error import OnError as OnError
    from handrail.blueprints.edges.limit import OnLimit as OnLimit
    from handrail.blueprints.edges.model import ByModel as ByModel
    from handrail.blueprints.edges.output import OnOutput as OnOutput
    from handrail.blueprints.edges.region import OnRegion as OnRegion
    from handrail.blueprints.edges.stuck import OnStuck as OnStuck
    from handrail.blueprints.edges.tool import OnTool as OnTool
    from handrail.blueprints.forms import digest_of as digest_of
    from handrail.blueprints.model import Blueprint as Blueprint
    from handrail.blueprints.model import Bounds as Bounds
    from handrail.blueprints.model import FanOut as FanOut
    from handrail.blueprints.model import Output as Output
    from handrail.blueprints.model import Permissions as Permissions
    from handrail.blueprints.model import Stage as Stage
    from handrail.blueprints.model import Unwatched as Unwatched
    from handrail.blueprints.points import InteractionPoint as InteractionPoint
    from handrail.blueprints.points import InteractionStyle as InteractionStyle
    from handrail.blueprints.regions import Checklist as Checklist
    from handrail.blueprints.regions import Compacting as Compacting
    from handrail.blueprints.regions import Keyed as Keyed
    from handrail.blueprints.regions import Pinned as Pinned
    from handrail.blueprints.regions import Sliding as Sliding
    from handrail.blueprints.toml import BlueprintError as BlueprintError
    from handrail.blueprints.toml import parse_json as parse_json
    from handrail.blueprints.toml import parse_toml as parse_toml
    from handrail.blueprints.toml import render_json as render_json
    from handrail.blueprints.toml import render_toml as render_toml

_HOMES = {
    "edges": "END",
    "edges.always": "Always",
    "edges.error": "OnError",
    "edges.limit": "OnLimit",
    "edges.model": "ByModel",
    "edges.output": "OnOutput",
    "edges.region": "OnRegion",
    "edges.stuck": "OnStuck",
    "edges.tool": "OnTool",
    "forms": "digest_of",
    "model": "Blueprint Bounds FanOut Output Permissions Stage Unwatched",
    "points": "InteractionPoint InteractionStyle",
    "regions": "Checklist Compacting Keyed Pinned Sliding",
    "toml": "BlueprintError parse_json parse_toml render_json render_toml",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    return load(__name__, _HOME_OF, name)
