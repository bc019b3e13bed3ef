"""JSON Schema of what commands print with ``--json``: ``python -m handrail.cli.schemas > docs/cli.schema.json``."""

from __future__ import annotations

import json
from typing import Any

import click
import msgspec

from handrail import app
from handrail.app.learning.checking import CheckList, Compilation, CompilePreview, Switched
from handrail.app.learning.checkup import LoopCheckup
from handrail.app.learning.delivering import SyncReport
from handrail.app.learning.fired import FiredList
from handrail.app.learning.hooks import HookChange, HookRemoval, HookReport
from handrail.app.learning.learning import LearnReport
from handrail.app.learning.lessons import LessonList, LessonView
from handrail.app.learning.looping import AutoReport
from handrail.app.learning.probed import ProbeReport
from handrail.app.learning.proposals import Decided, ProposalList, ProposalView
from handrail.app.learning.reflecting import ReflectReport
from handrail.app.learning.reporting import LoopReport
from handrail.app.learning.rules import LintReport, RuleList, RuleView
from handrail.app.learning.violations import CheckReplay

RESULTS: dict[str, Any] = {
    "handrail": app.Overview,
    "handrail blueprint check": app.BlueprintReport,
    "handrail blueprint graph": app.BlueprintDrawing,
    "handrail blueprint list": app.BlueprintList,
    "handrail ls": app.SessionList,
    "handrail show": app.Shown,
    "handrail moments": app.MomentList,
    "handrail follow": app.FollowEvent,
    "handrail stats": app.Stats,
    "handrail moments mark": app.Marked,
    "handrail crop": app.Written,
    "handrail convert": app.Written,
    "handrail export": app.Written,
    "handrail doctor": app.DoctorReport,
    "handrail doctor --loop": LoopCheckup,
    "handrail repair": app.Repaired,
    "handrail run": app.RunEvent,
    "handrail ps": app.RunList,
    "handrail watch": app.WatchEvent,
    "handrail asks": app.AskList,
    "handrail answer": app.Answered,
    "handrail steer": app.Sent,
    "handrail pause": app.Sent,
    "handrail resume": app.Sent,
    "handrail cancel": app.Sent,
    "handrail fork": app.Forked,
    "handrail context": app.Context,
    "handrail serve": app.Served,
    "handrail worker": app.Served,
    "handrail run --detach": app.Detached,
    "handrail replay": app.Replayed,
    "handrail demo": app.Demo,
    "handrail reflect": ReflectReport,
    "handrail lessons": LessonList,
    "handrail lessons list": LessonList,
    "handrail lessons show": LessonView,
    "handrail lessons edit": LessonView,
    "handrail lessons drop": LessonView,
    "handrail lessons restore": LessonView,
    "handrail learn": LearnReport,
    "handrail learn --auto": AutoReport,
    "handrail probe": ProbeReport,
    "handrail sync": SyncReport,
    "handrail report": LoopReport,
    "handrail proposals": ProposalList,
    "handrail proposals list": ProposalList,
    "handrail proposals show": ProposalView,
    "handrail proposals accept": Decided,
    "handrail proposals reject": Decided,
    "handrail rules": RuleList,
    "handrail rules list": RuleList,
    "handrail rules show": RuleView,
    "handrail rules add": RuleView,
    "handrail rules edit": RuleView,
    "handrail rules accept": RuleView,
    "handrail rules reject": RuleView,
    "handrail rules scope": RuleView,
    "handrail rules retire": RuleView,
    "handrail rules restore": RuleView,
    "handrail rules lint": LintReport,
    "handrail checks list": CheckList,
    "handrail checks compile": Compilation,
    "handrail checks compile --dry-run": CompilePreview,
    "handrail checks set": Compilation,
    "handrail checks remove": Switched,
    "handrail checks shadow": Switched,
    "handrail checks on": Switched,
    "handrail checks off": Switched,
    "handrail checks run": CheckReplay,
    "handrail checks fired": FiredList,
    "handrail hook install": HookChange,
    "handrail hook remove": HookRemoval,
    "handrail hook doctor": HookReport,
}


def render_schemas() -> str:
    """One document: the schema of each command under ``commands``, their parts under ``$defs``."""
    roots, parts = msgspec.json.schema_components(tuple(RESULTS.values()), ref_template="#/$defs/{name}")
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What handrail prints with --json",
        "commands": dict(zip(RESULTS, roots, strict=True)),
        "$defs": parts,
    }
    return json.dumps(_without_prose(document), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _without_prose(schema: Any) -> Any:
    """``schema`` without its descriptions, so that a better docstring is no change of what is promised."""
    if isinstance(schema, list):
        return [_without_prose(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may be called "description"; its value is a schema then, and not a text.
    kept = ((key, value) for key, value in schema.items() if key != "description" or not isinstance(value, str))
    return {key: _without_prose(value) for key, value in kept}


if __name__ == "__main__":
    click.echo(render_schemas(), nl=False)
