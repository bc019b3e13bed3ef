"""Labels of options: when two are the same, which one an answer means, and the error for an answer that means none.

A label matches exactly, or else with dashes and white space folded. Nothing else is folded: case tells labels
apart, and an answer that fits no option is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from handrail.errors import HandrailError

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
"""Hyphen, non-breaking hyphen, figure dash, en and em dash, horizontal bar, minus, and the small and wide forms."""

_SHOWN_OPTIONS = 20
_SHOWN_CHARACTERS = 200


class AnswerRefused(HandrailError, ValueError):
    """An answer does not fit its question; the question stays open.

    ``problems`` holds everything that is wrong with it, ``options`` the labels that would be answers (empty where
    words are asked for).
    """

    code = "answer_refused"
    exit_code = 2

    def __init__(self, problems: Iterable[str], options: Sequence[str] = ()) -> None:
        self.problems = tuple(problems)
        self.options = tuple(options)
        super().__init__("; ".join(self.problems), hint=_listed(self.options) if self.options else None)

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


def _listed(options: Sequence[str]) -> str:
    shown = ", ".join(repr(shortened(option)) for option in options[:_SHOWN_OPTIONS])
    rest = len(options) - _SHOWN_OPTIONS
    return f"the options are: {shown}{f' and {rest} more' if rest > 0 else ''}"


def shortened(text: str, limit: int = _SHOWN_CHARACTERS) -> str:
    """``text``, cut after ``limit`` characters for a message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def normalised(label: str) -> str:
    """``label`` with every dash as ``-``, runs of white space as one space, and none around it."""
    return " ".join(label.translate(_DASHES).split())


def find_label(given: str, labels: Sequence[str]) -> str | None:
    """The label that ``given`` is: the very same, else the one that is the same when folded.

    None where there is none, and where folding leaves several.
    """
    if given in labels:
        return given
    folded = normalised(given)
    fitting = dict.fromkeys(label for label in labels if normalised(label) == folded)
    return next(iter(fitting)) if len(fitting) == 1 else None
