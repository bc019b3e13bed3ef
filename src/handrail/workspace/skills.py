"""Skills: folders with a ``SKILL.md`` that an agent reads when it needs them."""

from __future__ import annotations

from msgspec import Struct

from handrail.workspace.frontmatter import split_frontmatter


class Skill(Struct, frozen=True, kw_only=True):
    """A skill: its name, when to use it, its text, and the file it came from."""

    name: str
    description: str
    text: str
    path: str
    is_trusted: bool = True


def parse_skill(text: str, *, folder: str, path: str, is_trusted: bool) -> Skill:
    """The skill in a ``SKILL.md``; without a ``name`` in its head it is called like its folder."""
    head, rest = split_frontmatter(text)
    return Skill(
        name=head.get("name") or folder,
        description=head.get("description", ""),
        text=rest.strip(),
        path=path,
        is_trusted=is_trusted,
    )
