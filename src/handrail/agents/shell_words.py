"""What a shell command line runs, as far as can be told without being a shell."""

from __future__ import annotations

import re

_OPERATORS = frozenset(";&|\n()")
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)\s+")


_EVALUATED = re.compile(r"`|\$[({\w@*#?!-]|[<>]\(|<<|\b(?:eval|source)\b")


def is_evaluated(command: str) -> bool:
    """Whether the same line may run something else each time: it substitutes, expands, or reads what it runs.

    Quotes are not looked at, so a line that only shows such signs counts as well.
    """
    return _EVALUATED.search(command) is not None


def simple_commands(command: str) -> tuple[tuple[str, ...], bool]:
    """``(commands, is_plain)``: the simple commands of a line, in order, and whether nothing else can hide in it.

    Cut at ``;``, ``&``, ``|``, brackets and line ends outside quotes. A line is plain when it has no substitution,
    redirection, here-document or line continuation and its quotes are closed: then the commands are all it runs.
    """
    found: list[str] = []
    start = at = 0
    quote: str | None = None
    is_plain = True
    while at < len(command):
        char = command[at]
        if char == "\\" and quote != "'":
            is_plain = is_plain and command[at + 1 : at + 2] not in {"\n", ""}
            at += 2
            continue
        if char in "'\"":
            quote = _quote_after(quote, char)
        elif _hides(command[at : at + 2], quote):
            is_plain = False
        elif quote is None and char in _OPERATORS:
            found.append(command[start:at])
            start = at + 1
        at += 1
    found.append(command[start:])
    return tuple(part for raw in found if (part := raw.strip())), is_plain and quote is None


def _hides(two: str, quote: str | None) -> bool:
    """Whether the shell does more here than run a simple command: ``two`` is this character and the next."""
    if quote is None and two[0] in "<>":
        return True
    return quote != "'" and (two[0] == "`" or two in {"$(", "${", "$'", '$"'})


def _quote_after(quote: str | None, char: str) -> str | None:
    """The quote that is open after ``char``, a quotation mark, when ``quote`` was open before."""
    if quote is None:
        return char
    return None if quote == char else quote


def without_assignments(command: str) -> str:
    """``command`` without the ``NAME=value`` words in front of it."""
    while found := _ASSIGNMENT.match(command):
        command = command[found.end() :]
    return command
