"""A blueprint as TOML and as JSON text, both ways: what is written is read back as the same blueprint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import tomli_w

from handrail import jsonio
from handrail.blueprints.check import problems_of
from handrail.blueprints.forms import to_plain
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Problem
from handrail.blueprints.reading import Form, read_blueprint
from handrail.errors import HandrailError

_LAST = ("regions", "stages", "points", "edges")
"""The lists of tables, which are written after everything else of their table, in this order."""

_SHOWN = 5


class BlueprintError(HandrailError, ValueError):
    """A text is no blueprint, or one with errors; ``problems`` holds all that is wrong, warnings and notes too."""

    code = "blueprint"
    exit_code = 3

    def __init__(self, what: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [problem for problem in self.problems if problem.level == "error"]
        listed = "; ".join(_sentence(problem) for problem in errors[:_SHOWN])
        rest = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
        super().__init__(f"{what} cannot be run: {listed}{rest}", hint="handrail blueprint check tells everything")


class NoToml(HandrailError, ValueError):
    """A blueprint holds what TOML has no spelling for: a null within a JSON value."""

    code = "no_toml"


def _sentence(problem: Problem) -> str:
    line = "" if problem.line is None else f"line {problem.line}: "
    return f"{line}{problem.path or 'the file'}: {problem.message}"


def parse_toml(text: str | bytes, *, name: str = "the blueprint") -> Blueprint:
    """The blueprint in a TOML text; ``BlueprintError`` when its form is wrong. Whether it makes sense ``check`` says.

    ``name`` is what an error calls the text.
    """
    return _parsed(text, "toml", name)


def parse_json(text: str | bytes, *, name: str = "the blueprint") -> Blueprint:
    """The blueprint in a JSON text; as ``parse_toml``."""
    return _parsed(text, "json", name)


def _parsed(text: str | bytes, form: Form, name: str) -> Blueprint:
    reading = read_blueprint(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, form)
    if reading.blueprint is None:
        raise BlueprintError(name, problems_of(reading))
    return reading.blueprint


def render_json(blueprint: Blueprint) -> str:
    """``blueprint`` as one line of JSON."""
    return jsonio.encode(to_plain(blueprint)).decode()


def render_toml(blueprint: Blueprint) -> str:
    """``blueprint`` as TOML: texts of several lines as such, lists of tables last. ``NoToml`` for what has no spelling.

    A ``\\r`` has none in a text of several lines, so where there is one all texts are written in one line.
    """
    plain = _in_order(to_plain(blueprint))
    if None in _values(plain):
        raise NoToml("TOML has no null, and there is one within a schema or a test", hint="write it as JSON")
    has_returns = any(isinstance(value, str) and "\r" in value for value in _values(plain))
    return tomli_w.dumps(plain, multiline_strings=not has_returns)


def _in_order(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: _LAST.index(key) if key in _LAST else -1)
    return {key: _in_order(value[key]) for key in keys}


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner)
    else:
        yield value
