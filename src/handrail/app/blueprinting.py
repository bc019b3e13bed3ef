"""Use cases of blueprints: find one by name or file, list them, check them, draw them, write them down.

Loads pydantic, so it needs the extra ``agents``; whoever calls it has made sure that it is there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail import files
from handrail.agents.strategies import strategy_names
from handrail.agents.tools import built_in_tools
from handrail.blueprints.check import problems_of
from handrail.blueprints.checks.known import Known, KnownTool
from handrail.blueprints.forms import digest_of
from handrail.blueprints.graph import mermaid
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Problem
from handrail.blueprints.reading import MAX_BYTES, Form, Reading, read_blueprint
from handrail.blueprints.schema import shipped_schema
from handrail.blueprints.shelf import shipped_names, shipped_text
from handrail.blueprints.svg import svg
from handrail.blueprints.toml import BlueprintError, render_json, render_toml
from handrail.errors import HandrailError, StoreError, UnknownName
from handrail.models.endpoints import endpoint_of
from handrail.models.errors import BadKey
from handrail.models.names import LOCAL, SCRIPTED
from handrail.workspace.discovery import FOLDER, config_folder, discover

Origin: TypeAlias = Literal["file", "yours", "shipped", "workspace"]
Stdin: TypeAlias = Callable[[], bytes]

_EDITORS = frozenset({"Edit", "MultiEdit", "Write"})
_ASKERS = frozenset(
    {"Ask", "ask_user_text", "ask_user_choice", "ask_user_confirm", "edit_document", "present_for_review"}
)
_WRITERS = frozenset(
    {"ContextWrite", "ContextAppend", "ContextDelete", "ChecklistAdd", "ChecklistDone", "ChecklistNote"}
)
_FOLDER = "blueprints"
_SUFFIXES: Mapping[str, Form] = {".toml": "toml", ".json": "json"}


class BlueprintNotFound(HandrailError, LookupError):
    """No blueprint has that name, and no file is there."""

    code = "blueprint_not_found"
    exit_code = 5


class FoundBlueprint(Struct, frozen=True, kw_only=True):
    """A blueprint where it is kept, not read yet. ``path`` is None for one that ships and for standard input."""

    name: str
    origin: Origin
    form: Form
    raw: bytes
    path: str | None = None


class CheckedBlueprint(Struct, frozen=True, kw_only=True):
    """What a check found: ``digest`` names what a run would freeze, None where there is nothing to run."""

    name: str
    path: str | None
    digest: str | None
    stages: int
    points: int
    problems: tuple[Problem, ...]

    def count(self, level: str) -> int:
        """How many problems are of ``level``."""
        return sum(problem.level == level for problem in self.problems)


class BlueprintReport(Struct, frozen=True, kw_only=True):
    """All blueprints that were checked, and how many problems of each level they have together."""

    schema_version: int = 1
    checked: tuple[CheckedBlueprint, ...]
    errors: int
    warnings: int
    notes: int


class BlueprintRow(Struct, frozen=True, kw_only=True):
    """A blueprint that can be run by its name. ``problem`` says why one cannot be; the rest is then empty."""

    name: str
    origin: Origin
    path: str | None
    version: str = ""
    description: str = ""
    stages: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    problem: str | None = None


class BlueprintList(Struct, frozen=True, kw_only=True):
    """Every blueprint that has a name here."""

    schema_version: int = 1
    blueprints: tuple[BlueprintRow, ...]


class BlueprintDrawing(Struct, frozen=True, kw_only=True):
    """A blueprint drawn: the text of a Mermaid chart, or of an SVG picture."""

    schema_version: int = 1
    name: str
    form: Literal["mermaid", "svg"]
    text: str


def find_blueprint(
    reference: str, *, workspace: Path, environment: Mapping[str, str], stdin: Stdin | None = None
) -> FoundBlueprint:
    """The blueprint that ``reference`` names: a file (anything with a ``/`` or a suffix), ``-`` for ``stdin``, a name.

    A name is looked for among the person's own, those that ship, and those of the workspace, in this order: a
    repository cannot put its own in the place of one of another. ``BlueprintNotFound``, ``StoreError``.
    """
    if reference == "-" and stdin is not None:
        raw = stdin()
        form: Form = "json" if raw.lstrip()[:1] == b"{" else "toml"
        return FoundBlueprint(name="-", origin="file", form=form, raw=raw)
    path = Path(reference)
    if os.sep in reference or path.suffix in _SUFFIXES:
        if files.look_at(path) is None:
            raise BlueprintNotFound(f"there is no file {reference}")
        return _read(path, reference, "file")
    for found in _named(workspace, environment):
        if found[0] == reference:
            return _load(*found)
    names = ", ".join(name for name, _, _ in _named(workspace, environment))
    raise BlueprintNotFound(
        f"no blueprint is called {reference!r}", hint=f"there are {names}; a file is named by its path"
    )


def load_blueprint(
    reference: str, *, workspace: Path, environment: Mapping[str, str], stdin: Stdin | None = None
) -> Blueprint:
    """The blueprint to run: found as ``find_blueprint``, ``BlueprintError`` when a check finds errors in it."""
    found = find_blueprint(reference, workspace=workspace, environment=environment, stdin=stdin)
    reading = read_blueprint(found.raw, found.form)
    problems = problems_of(reading, known=known_here(workspace, environment))
    if reading.blueprint is None or any(problem.level == "error" for problem in problems):
        raise BlueprintError(found.path or found.name, problems)
    return reading.blueprint


def check_blueprints(
    references: Sequence[str], *, workspace: Path, environment: Mapping[str, str], stdin: Stdin | None = None
) -> BlueprintReport:
    """Everything that is wrong with the blueprints that ``references`` name; with none, with all of the workspace's.

    Where there are none either, what ships is checked. Raises as ``find_blueprint``.
    """
    known = known_here(workspace, environment)
    own = [name for name, origin, _ in _named(workspace, environment) if origin != "shipped"]
    checked = tuple(
        _checked(find_blueprint(one, workspace=workspace, environment=environment, stdin=stdin), known)
        for one in references or own or shipped_names()
    )
    return BlueprintReport(
        checked=checked,
        errors=sum(one.count("error") for one in checked),
        warnings=sum(one.count("warning") for one in checked),
        notes=sum(one.count("note") for one in checked),
    )


def list_blueprints(*, workspace: Path, environment: Mapping[str, str]) -> BlueprintList:
    """The blueprints that can be named here; a name that is taken twice is listed once, as it would be run."""
    rows: dict[str, BlueprintRow] = {}
    for name, origin, path in _named(workspace, environment):
        if name not in rows:
            rows[name] = _row(_load(name, origin, path))
    return BlueprintList(blueprints=tuple(rows.values()))


def draw_blueprint(
    reference: str,
    form: Literal["mermaid", "svg"],
    *,
    workspace: Path,
    environment: Mapping[str, str],
    stdin: Stdin | None = None,
) -> BlueprintDrawing:
    """The blueprint drawn, errors of sense and all. ``BlueprintError`` for one that has errors of form."""
    found, reading = _opened(reference, workspace, environment, stdin)
    made = _whole(found, reading)
    return BlueprintDrawing(name=made.name, form=form, text=svg(made) if form == "svg" else mermaid(made))


def spell_blueprint(
    reference: str, form: Form, *, workspace: Path, environment: Mapping[str, str], stdin: Stdin | None = None
) -> bytes:
    """The blueprint as TOML or JSON: as it is kept where it is kept so, comments and all, else written anew."""
    found, reading = _opened(reference, workspace, environment, stdin)
    made = _whole(found, reading)
    if form == found.form:
        return found.raw
    return (render_toml(made) if form == "toml" else f"{render_json(made)}\n").encode()


def blueprint_schema() -> str:
    """The JSON Schema of blueprints."""
    return shipped_schema()


def known_here(workspace: Path, environment: Mapping[str, str]) -> Known:
    """What a blueprint can name on this machine: tools, strategies, models. Nothing is started for it."""
    declared = discover(workspace, config=config_folder(environment), environment=environment, is_trusted=False)
    built_in = [
        KnownTool(
            name=tool.name,
            edits=tool.name in _EDITORS,
            asks=tool.name in _ASKERS,
            writes_regions=tool.name in _WRITERS,
        )
        for tool in built_in_tools()
    ]
    own = [KnownTool(name=tool.name) for tool in declared.tools]
    return Known(
        tools=(*built_in, *own),
        strategies=strategy_names(),
        judge_model=lambda name: _judge_model(name, environment),
    )


def _judge_model(
    name: str, environment: Mapping[str, str]
) -> tuple[Literal["unknown-model", "unreachable-model"], str] | None:
    if name == LOCAL:
        told = f"{name!r} needs the extra 'local', which is not installed"
        return None if find_spec("xllamacpp") else ("unreachable-model", told)
    if name.startswith(SCRIPTED):
        is_there = files.look_at(Path(name.removeprefix(SCRIPTED))) is not None
        return None if is_there else ("unreachable-model", f"there is no script {name.removeprefix(SCRIPTED)}")
    try:
        endpoint_of(name, environ=environment)
    except UnknownName as problem:
        return "unknown-model", f"{problem.message}: {problem.hint}"
    except BadKey as problem:
        return "unreachable-model", f"{problem.message}: {problem.hint}"
    return None


# Where blueprints are kept ----------------------------------------------------------------------------------


def _named(workspace: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Origin, Path | None]]:
    """Every name, the first of a name being the one that counts."""
    if (config := config_folder(environment)) is not None:
        yield from ((path.stem, "yours", path) for path in _kept(config / _FOLDER))
    yield from ((name, "shipped", None) for name in shipped_names())
    yield from ((path.stem, "workspace", path) for path in _kept(workspace / FOLDER / _FOLDER))


def _kept(folder: Path) -> list[Path]:
    if files.look_at(folder) is None:
        return []
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    except OSError as problem:
        raise StoreError(f"cannot list {folder}: {problem.strerror}") from problem


def _load(name: str, origin: Origin, path: Path | None) -> FoundBlueprint:
    if path is None:
        return FoundBlueprint(name=name, origin=origin, form="toml", raw=shipped_text(name))
    return _read(path, name, origin)


def _read(path: Path, name: str, origin: Origin) -> FoundBlueprint:
    raw = files.read_bytes(path, MAX_BYTES + 1)
    return FoundBlueprint(name=name, origin=origin, form=_SUFFIXES.get(path.suffix, "toml"), raw=raw, path=str(path))


def _opened(
    reference: str, workspace: Path, environment: Mapping[str, str], stdin: Stdin | None
) -> tuple[FoundBlueprint, Reading]:
    found = find_blueprint(reference, workspace=workspace, environment=environment, stdin=stdin)
    return found, read_blueprint(found.raw, found.form)


def _whole(found: FoundBlueprint, reading: Reading) -> Blueprint:
    if reading.blueprint is None:
        raise BlueprintError(found.path or found.name, problems_of(reading))
    return reading.blueprint


def _checked(found: FoundBlueprint, known: Known) -> CheckedBlueprint:
    reading = read_blueprint(found.raw, found.form)
    made = reading.blueprint or reading.rest
    return CheckedBlueprint(
        name=found.name,
        path=found.path,
        digest=None if reading.blueprint is None else digest_of(reading.blueprint),
        stages=0 if made is None else len(made.stages),
        points=0 if made is None else sum(len(stage.points) for stage in made.stages),
        problems=problems_of(reading, known=known),
    )


def _row(found: FoundBlueprint) -> BlueprintRow:
    reading = read_blueprint(found.raw, found.form)
    made = reading.blueprint
    if made is None:
        told = reading.findings[0].message
        return BlueprintRow(name=found.name, origin=found.origin, path=found.path, problem=told)
    return BlueprintRow(
        name=found.name,
        origin=found.origin,
        path=found.path,
        version=made.version,
        description=made.description,
        stages=tuple(stage.name for stage in made.stages),
        points=tuple(point.name for stage in made.stages for point in stage.points),
    )
