"""The one error tree of Handrail.

    HandrailError                      code, message, hint, exit_code, is_retryable
    ├── TranscriptError                a session cannot be used as asked      (ValueError)
    │   ├── CropError                  a family, one class a reason           (transcripts.spans)
    │   ├── MalformedSession           native data or a reference is not what it should be
    │   ├── UnconvertibleSession       the target cannot take it
    │   └── UnsafeId                   an id that must not become a path
    ├── UnknownName                    no harness, tool, … of that name       (LookupError)
    │   └── UnknownHarness
    ├── SessionNotFound                no session answers to a reference      (LookupError)
    ├── MomentNotFound                 no moment has an id                    (LookupError)
    ├── JudgeFailed                    a judge cannot be started
    ├── AmbiguousSession               several do                             (LookupError)
    ├── StoreError                     a file or store could not be read or written (OSError)
    ├── JournalError                   an append or a fold was refused        (journal)
    ├── PathRefused                    outside of a workspace, or protected   (workspace.confined, PermissionError)
    ├── WorkspaceError                 a tools, hooks, … file does not fit    (workspace.declared, ValueError)
    ├── ToolError                      what a tool answers with an error      (agents.tool)
    ├── RegionRefused                  a context region does not take a change (agents.regions, ValueError)
    ├── SeedFailed                     a region cannot begin as it declares  (runs.regions.seeding, ValueError)
    ├── Cancelled                      work was given up when told to         (agents.cancellation)
    ├── NothingToRun                   no task, and no run to go on with      (app.running)
    ├── Unusable                       a rule or strategy cannot be had as written (app.outfitting, ValueError)
    ├── BlueprintNotFound              no blueprint of that name, no such file (app.blueprinting, LookupError)
    ├── BlueprintError                 a file is no blueprint, or has errors  (blueprints.toml, ValueError)
    ├── AnswerRefused                  an answer does not fit its question    (blueprints.labels, ValueError)
    ├── AnswerForbidden                whoever answered may not               (runs.desk, PermissionError)
    ├── NotACheck                      a spec that no check can be made of    (learning.checks.spec)
    ├── Unchangeable                   settings that are not to be touched   (learning.checks.settings_json, ValueError)
    ├── ModelError                     a request to a model gave no reply     (models.errors)
    └── MissingExtra                   an optional dependency is not installed (ImportError)

Each class carries a stable ``code`` for machines, a ``hint`` for people and the exit code the command line
ends with. The builtin that a caller would catch by instinct is a base too. Expected ends (a refusal, a bound)
are values, never errors.
"""

from __future__ import annotations


class HandrailError(Exception):
    """Base of every error Handrail raises on purpose.

    ``code`` is stable across releases, ``exit_code`` is what the command line ends with, ``hint`` says what to
    do next (or is None). ``is_retryable``: the same may succeed in a while, with nothing changed.
    """

    code: str = "error"
    exit_code: int = 1
    is_retryable: bool = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class HandrailWarning(UserWarning):
    """Base of what Handrail warns of: something is wrong, and costs no more than the warning says."""


class TranscriptError(HandrailError, ValueError):
    """A session, or a part of one, cannot be used as asked."""

    code = "transcript"


class MalformedSession(TranscriptError):
    """Native data, or a reference into it, is not what its format says."""

    code = "malformed"


class UnconvertibleSession(TranscriptError):
    """The target harness cannot take this session at all."""

    code = "unconvertible"


class UnsafeId(TranscriptError):
    """An id that must not be made into a path (empty, dots, separators, control characters)."""

    code = "unsafe_id"


class UnknownName(HandrailError, LookupError):
    """Nothing is registered under that name."""

    code = "unknown_name"
    exit_code = 2


class UnknownHarness(UnknownName):
    """No harness has that name or alias."""

    code = "unknown_harness"


class SessionNotFound(HandrailError, LookupError):
    """No session answers to that reference."""

    code = "not_found"
    exit_code = 5


class MomentNotFound(HandrailError, LookupError):
    """No moment has that id."""

    code = "moment_not_found"
    exit_code = 5


class JudgeFailed(HandrailError):
    """A judge that was asked for cannot be started."""

    code = "judge"


class AmbiguousSession(HandrailError, LookupError):
    """More than one session answers to that reference."""

    code = "ambiguous"
    exit_code = 5


class StoreError(HandrailError, OSError):
    """A file or store could not be read or written."""

    code = "store"
    exit_code = 4


class JournalError(HandrailError):
    """A journal refused an append, or its events do not fold."""

    code = "journal"


class MissingExtra(HandrailError, ImportError):
    """A command needs an optional dependency that is not installed."""

    code = "missing_extra"
