"""The envelopes in which Claude Code keeps what a person did at its prompt: slash commands, ``!`` commands, output.

Each is a whole text made of tagged sections. Reading and writing stand side by side here, so that one is the
other's inverse.
"""

from __future__ import annotations

import re

from handrail.transcripts.model import Command

_COMMAND_TAGS = ("<command-name>", "<command-message>")
_SECTION = re.compile(r"\s*<(command-name|command-message)>(.*?)</\1>", re.DOTALL)
_ARGS = re.compile(r"\s*<command-args>(.*)</command-args>\s*\Z", re.DOTALL)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNKNOWN = re.compile(r"\s*<([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?:\s[^<>]*)?>.*</\1>\s*\Z", re.DOTALL)


def parse_command(text: str) -> Command | None:
    """The slash command that ``text`` wholly is, or None. The arguments end at the last close tag."""
    if not text.lstrip().startswith(_COMMAND_TAGS):
        return None
    name = None
    at = 0
    while (section := _SECTION.match(text, at)) is not None:
        if section[1] == "command-name":
            name = section[2].strip()
        at = section.end()
    args = _ARGS.match(text, at)
    if not name or (args is None and text[at:].strip()):
        return None
    return Command(name if name.startswith("/") else "/" + name, (args[1] or None) if args else None)


def render_command(command: Command) -> str:
    """``command`` as Claude Code writes it."""
    name = command.command
    sections = f"<command-name>{name}</command-name>\n<command-message>{name.removeprefix('/')}</command-message>"
    return f"{sections}\n<command-args>{command.args or ''}</command-args>"


def parse_section(text: str, tag: str) -> str | None:
    """What stands in ``<tag>…</tag>`` when that is the whole of ``text``, else None."""
    opens, closes = f"<{tag}>", f"</{tag}>"
    whole = text.strip()
    if not whole.startswith(opens) or not whole.endswith(closes) or len(whole) < len(opens) + len(closes):
        return None
    return whole[len(opens) : -len(closes)]


def render_section(text: str, tag: str) -> str:
    """``text`` in ``<tag>…</tag>``."""
    return f"<{tag}>{text}</{tag}>"


def parse_shell_output(text: str) -> str | None:
    """What a ``!`` command printed, its errors on lines of their own after it; None when ``text`` is no such thing."""
    inside = parse_section(text, "bash-stdout") if text.rstrip().endswith("</bash-stdout>") else None
    if inside is not None:
        return inside
    if not text.startswith("<bash-stdout>") or not text.rstrip().endswith("</bash-stderr>"):
        return None
    out, between, errors = text.rstrip().removeprefix("<bash-stdout>").rpartition("</bash-stdout><bash-stderr>")
    if not between:
        return None
    errors = errors.removesuffix("</bash-stderr>")
    return f"{out}\n{errors}" if out and errors else out or errors


def render_shell_output(text: str) -> str:
    """The row that ``parse_shell_output`` reads back as ``text``."""
    return f"<bash-stdout>{text}</bash-stdout><bash-stderr></bash-stderr>"


def without_ansi(text: str) -> str:
    """``text`` without terminal escapes (CSI, OSC and the two-character ones)."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def is_envelope(text: str) -> bool:
    """Whether ``text`` is wholly one tagged section of some name: the shape of harness text, whatever it says."""
    return text.lstrip().startswith("<") and _UNKNOWN.match(text) is not None
