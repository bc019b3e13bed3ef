"""Taking secrets and personal marks out of text that is about to leave the machine.

A table of rules, each with what it finds and what it leaves in its place; the kind of thing that stood there is kept,
so that the text stays readable. Redacting twice changes nothing more. It errs towards taking out: what is lost here is
a word in a report, what is missed is somebody's key. A mark that nothing else begins with counts in the middle of a
word too. Every rule is bounded, so that a text takes no longer than its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple


class Redacted(NamedTuple):
    """``text`` without what was found, and how often each kind of thing was."""

    text: str
    found: dict[str, int]


class _Rule(NamedTuple):
    """``secret`` is the group of ``pattern`` that is taken out (0: the whole match)."""

    kind: str
    pattern: re.Pattern[str]
    secret: int = 0


def _rule(kind: str, pattern: str, secret: int = 0) -> _Rule:
    return _Rule(kind, re.compile(pattern, re.VERBOSE), secret)


_PEM_KIND = r"(?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?"
_SECRET_NAME = (
    r"(?:[\w.-]{0,40}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|"
    r"client[_-]?secret|auth[_-]?key|encryption[_-]?key|credential|connection[_-]?string)[\w.-]{0,40})"
)

_RULES = (
    _rule(
        "private key", rf"-----BEGIN\ {_PEM_KIND}-----.*?(?:-----END\ {_PEM_KIND}-----|\Z)".replace(".*?", r"[\s\S]*?")
    ),
    _rule("cloud key", r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}\b"),
    _rule("cloud key", r"AIza[\w-]{35}(?![\w-])"),
    _rule("cloud key", r"\bya29\.[\w-]{20,}"),
    _rule("model key", r"(?:\bsk-|sk-(?:ant|proj|or|svcacct)-)[\w-]{20,}"),
    _rule("model key", r"\b(?:hf_|r8_|gsk_|pplx-|xai-)[A-Za-z0-9]{20,}"),
    _rule(
        "forge token", r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|\bgl[a-z]{2,6}-[\w-]{20,})"
    ),
    _rule("package token", r"(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dckr_pat_[\w-]{20,}|rubygems_[a-f0-9]{40,})"),
    _rule("chat token", r"xox[abeoprs]-[\w-]{10,}|\bhttps://hooks\.slack\.com/services/[\w/]{20,}"),
    _rule("chat token", r"\b\d{8,10}:AA[\w-]{30,}|\b[MN][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}"),
    _rule("payment key", r"\b(?:sk|rk|pk|whsec)_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}"),
    _rule("mail key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[a-f0-9]{32}\b"),
    _rule("token", r"\beyJ[\w-]{8,4000}\.[\w-]{8,}(?:\.[\w-]*)?"),
    _rule("token", r"(?i:\b(?:bearer|basic|token))\ +([A-Za-z0-9][\w.~+/=-]{15,})", 1),
    _rule("token", r"(?i:\b(?:x-api-key|api-key|cookie|set-cookie|authorization)\s*:\s*)([^\s\[][^\r\n\"']{7,})", 1),
    _rule("password", r"\b[A-Za-z][\w+.-]{0,20}://[^\s:/@\"']{0,100}:([^\s:/@\[\"']{1,300})@", 1),
    _rule("password", rf"(?i:\b{_SECRET_NAME}[\"']?\s*(?:=|:|=>|:=)\s*)[\"'`]?([^\s\"'`\[,;{{}}()<>]{{4,}})", 1),
    _rule("password", rf"(?i:--{_SECRET_NAME}\s+)[\"']?([^\s\"'\[-][^\s\"']{{3,}})", 1),
    _rule("mail address", r"\b[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9][\w-]{0,62}\.){1,8}[A-Za-z]{2,24}\b"),
    _rule("account", r"(?:/(?:Users|home)/|(?i:\b[a-z]:\\+users\\+))([^\s/\\\"'<>|:\[]+)", 1),
    _rule("address", r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"),
    _rule("phone number", r"(?<![\w.+-])\+\d{1,3}[\ .-]?\(?\d{2,4}\)?(?:[\ .-]?\d{2,4}){2,3}(?![\w-])"),
)


def redact(text: str) -> Redacted:
    """``text`` with every secret and personal mark replaced by ``[redacted: its kind]``."""
    found: Counter[str] = Counter()
    for rule in _RULES:
        text = rule.pattern.sub(_taking_out(rule, found), text)
    return Redacted(text, dict(found))


def _taking_out(rule: _Rule, found: Counter[str]) -> Callable[[re.Match[str]], str]:
    def replacement(match: re.Match[str]) -> str:
        found[rule.kind] += 1
        start, end = match.span(rule.secret)
        whole, offset = match.group(), match.start()
        return f"{whole[: start - offset]}[redacted: {rule.kind}]{whole[end - offset :]}"

    return replacement
