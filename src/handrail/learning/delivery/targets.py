"""The instruction files of other tools: where each stands in a repository, and how much its tool reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from handrail.errors import HandrailError, StoreError
from handrail.learning.delivery.managed import Wanted, with_block
from handrail.learning.rules.block import in_order
from handrail.learning.rules.model import Axis, Rule


class Target(Struct, frozen=True, kw_only=True):
    """One kind of file. ``path`` is relative to the repository, ``reads`` the harnesses that read it.

    ``limit`` is how many bytes its tool takes at most (None: no limit is known), ``source`` where that stands.
    ``head`` is what a file of ours begins with where it is ours alone.
    """

    name: str
    path: str
    reads: tuple[str, ...]
    limit: int | None = None
    source: str = ""
    head: str = ""


_CURSOR = "---\ndescription: Rules from corrections, kept by Handrail\nalwaysApply: true\n---\n\n"
_SKILL = "---\nname: corrections\ndescription: How the person wants work done here. Read before changing it.\n---\n\n"

TARGETS = (
    Target(
        name="agents",
        path="AGENTS.md",
        reads=("codex", "opencode", "cursor", "handrail"),
        limit=32 * 1024,
        source="Codex reads at most project_doc_max_bytes of it, 32 KiB unless set otherwise",
    ),
    Target(
        name="claude",
        path="CLAUDE.md",
        reads=("claude_code",),
        limit=40_000,
        source="Claude Code warns of a file above 40,000 characters",
    ),
    Target(name="gemini", path="GEMINI.md", reads=("gemini_cli",)),
    Target(name="copilot", path=".github/copilot-instructions.md", reads=("copilot_cli",)),
    Target(name="cursor", path=".cursor/rules/handrail.mdc", reads=("cursor",), head=_CURSOR),
    Target(name="skill", path=".claude/skills/corrections/SKILL.md", reads=("claude_code",), head=_SKILL),
)


class TooLarge(HandrailError, ValueError):
    """The file would be larger than its tool reads; what it already reads would be cut."""

    code = "too_large"
    exit_code = 2


class Planned(Struct, frozen=True, kw_only=True):
    """What one file is and would be. ``before`` None: it is not there; ``after`` None: it would be taken away."""

    target: str
    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after


def target_named(name: str) -> Target:
    """The target of that name; ``ValueError`` lists them."""
    found = next((target for target in TARGETS if target.name == name), None)
    if found is None:
        raise ValueError(f"no target is called {name!r}; there are {', '.join(one.name for one in TARGETS)}")
    return found


def rules_in(book: Iterable[Rule], repository: str, target: Target) -> tuple[Rule, ...]:
    """The rules that go into the file of ``target`` in ``repository``: those that ride, and count there for a tool that
    reads it; the owner's own before others, active before on trial.

    Whether the tools a rule is about are there is not known of another harness, so it does not decide.
    """
    return tuple(
        rule
        for rule in in_order(book)
        if _holds(rule.scope.repositories, (repository,))
        and _holds(rule.scope.harnesses, target.reads)
        and not rule.scope.is_dark
    )


def _holds(axis: Axis, values: Iterable[str]) -> bool:
    return axis is None or not set(axis).isdisjoint(values)


def place_of(repository: Path, target: Target) -> Path:
    """Where the file really stands: links are followed, and must not lead out of the repository (``StoreError``)."""
    root = repository.resolve()
    path = (root / target.path).resolve()
    if not path.is_relative_to(root):
        raise StoreError(f"{target.path} leads out of the repository", hint="sync the place it leads to instead")
    return path


def planned(target: Target, path: Path, before: bytes | None, lines: Sequence[Wanted]) -> Planned:
    """What the file would be with ``lines`` in it. A file that held nothing but our block is taken away with it.

    ``BlockFault`` for torn marks, ``TooLarge`` for more than its tool reads.
    """
    head = target.head.encode()
    after = with_block(head if before is None and lines else before or b"", lines)
    if not lines and after in (b"", head):
        return Planned(target=target.name, path=path, before=before, after=None)
    if target.limit is not None and lines and len(after) > target.limit:
        raise TooLarge(
            f"{target.path} would have {len(after)} bytes; {target.source}", hint="retire rules, or shorten the file"
        )
    return Planned(target=target.name, path=path, before=before, after=after)
