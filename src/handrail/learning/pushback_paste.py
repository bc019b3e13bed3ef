"""Telling what a person typed from what they pasted: terminal output, logs, code, diffs.

A scorer that reads a log as if it were speech finds "error" and "not" everywhere. The shapes here are those of
machines (prompts, timestamps, levels, stack frames, key=value pairs, fences, drawn boxes), not of any one tool.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LINES = 400
_LINE_CHARS = 1000
_PASTED_CHARS = 100_000
_MIN_LONG_LINE = 240

_PROMPT = re.compile(
    r"\s*(?:[❯➜»]\s*\S|[$%#] +\S|>>> ?\S|PS [A-Za-z]:|[\w.-]+@[\w.-]+[:~ ][^?]*[%$#] ?\S|[A-Z]:\\[^>]*>)"
)
_MACHINE = re.compile(
    r"""\s*(?:
      \d{4}-\d\d-\d\d[T ]\d\d:            # a timestamp
    | \[?\d\d:\d\d:\d\d
    | [A-Z][a-z]{2}\s+\d{1,2}\ \d\d:\d\d
    | time=\S+\ level=
    | \[[\w.:/-]+\]\ ?[$\w]?              # a tagged line: [lint:format] …
    | [{}\[\]();]+,?\s*$                  # brackets alone
    | \{\s*"                              # JSON
    | "[\w.-]+"\s*:\s
    | (?:error|fatal|warning|warn|panic|info|debug|trace|note|hint|remote|e)(?:\[\w+\])?!?:\s
    | npm\ ERR!\s
    | (?:ERROR|FATAL|WARN(?:ING)?|INFO|DEBUG|FAIL(?:ED)?|PASS(?:ED)?)\b
    | OK\s*(?:\(|$)
    | (?:---|===|\+\+\+|@@|\*\*\*)\ \S
    | (?:ok|FAIL)\s+\S+\s+[\d.]+m?s
    | exit\ (?:status|code)\ \d
    | Traceback\ \(most | File\ "[^"]+",\ line | at\ \S+\s?\(\S+:\d+
    | \w*(?:Error|Exception)\b\s*[:(]
    | \S+\.\w{1,5}:\d+(?::\d+)?[:\s]      # file:line
    | [│├└┌┐╭╰⏺⎿⏵✗✓✔✖]\s?
    | (?:diff\ --git|index\ [0-9a-f]{7}|commit\ [0-9a-f]{7,})
    )""",
    re.VERBOSE,
)
_PAIRS = re.compile(r"\b[\w.-]{1,40}=\S")
_INDENTED_CODE = re.compile(r"(?: {4}|\t)\s*[^\s\-*•\d]")
_MARK = re.compile(r"[^\w\s.,;:!?'\"’()-]")
_MARK_SHARE = 0.22

_FAILURE = re.compile(
    r"\b(?:error|failed|failure|fail(?:s|ing)?|fatal|traceback|exception|panic|segfault|refused|denied|undefined|"
    r"not found|no such|cannot|can't|could not|unable to|unexpected|invalid|unknown|unresolved|timed out|timeout|"
    r"exit (?:status|code) [1-9]\d*|(?:http|status(?: code)?)[ :]*[45]\d\d)\b|✗|✖|❌",
    re.IGNORECASE,
)
_NO_FAILURE = re.compile(
    r"\b(?:0 (?:errors?|failed|failures?)|no (?:errors?|failures?)|err(?:or)?s?=(?:nil|null|none))\b", re.IGNORECASE
)


class Split(NamedTuple):
    """``typed``: the lines a person wrote. ``pasted``: those a machine wrote. Their order within each is kept."""

    typed: str
    pasted: str

    @property
    def is_failure(self) -> bool:
        """Whether the pasted part reports that something failed."""
        return bool(_FAILURE.search(_NO_FAILURE.sub("", self.pasted[:_PASTED_CHARS])))


def split(words: str) -> Split:
    """``words`` parted line by line, each judged by how it starts; lines after the first ``MAX_LINES`` are left out.

    What follows a shell prompt up to the next blank line is its output, whatever it looks like.
    """
    typed: list[str] = []
    pasted: list[str] = []
    is_fenced = is_output = False
    for line in words.split("\n", MAX_LINES)[:MAX_LINES]:
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            continue
        if not line.strip():
            is_output = False
            typed.append(line)
            continue
        start = line[:_LINE_CHARS]
        is_output = is_output or bool(_PROMPT.match(start))
        (pasted if is_fenced or is_output or _is_machine(start) else typed).append(line)
    return Split("\n".join(typed).strip(), "\n".join(pasted))


def _is_machine(line: str) -> bool:
    if _MACHINE.match(line) or _INDENTED_CODE.match(line):
        return True
    if len(line) < 20:
        return False
    if len(_PAIRS.findall(line)) >= 2 or len(_MARK.findall(line)) > _MARK_SHARE * len(line):
        return True
    return len(line) >= _MIN_LONG_LINE and line.count(" ") * 12 < len(line)
