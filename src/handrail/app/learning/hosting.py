"""Use case: what another host's hook is answered before a call and at the end of a turn.

It stands apart from installing because it is a program that a host waits for at every call: it loads little, it fails
open, and whatever becomes of it is on record.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from handrail import __version__, files, jsonio
from handrail.agents.guard import is_inside_hook
from handrail.app.learning.places import find_learning_folder
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.learning.checks import hosts, spec
from handrail.learning.checks.firing import Did, Firing, FiringStore, LastFired, lets_pass
from handrail.learning.checks.force import LET_PASS, InForce, in_force, verdict_on
from handrail.learning.checks.history import has_calls, past_of, words_of
from handrail.learning.checks.hosts import Heard, Host
from handrail.learning.checks.judging import Done, Past, fits, judge_reply
from handrail.learning.rules.scope import Place
from handrail.learning.rules.store import RuleStore
from handrail.transcripts.model import Common

MAX_TRANSCRIPT_BYTES = 64 << 20
"""A longer session is not looked back over: the host waits."""

_EXCERPT_CHARS = 200


def answer(host: Host, data: bytes, environment: Mapping[str, str], clock: Clock) -> bytes:
    """What ``host`` is answered to ``data``; nothing where nothing is against it.

    Never raises: what goes wrong is recorded, where it can be, and the host goes on. Inside a hook of ours nothing is
    judged at all.
    """
    if is_inside_hook(environment):
        return b""
    folder = find_learning_folder(environment)
    if folder is None:
        return b""
    store, now = FiringStore(folder), clock.now()
    told: Heard | None = None
    try:
        told = hosts.heard(host, data)
        said = _judged(told, RuleStore(folder), store, now)
        store.note_last(_last(host, told, now))
    except Exception as problem:  # noqa: BLE001 - a fault of ours, of whatever kind, must not stop another's work
        _record_failure(store, host, told, now, problem)
        return b""
    return said


def _record_failure(store: FiringStore, host: Host, told: Heard | None, now: datetime, problem: Exception) -> None:
    why = f"{type(problem).__name__}: {problem}"[:_EXCERPT_CHARS]
    event, session = ("unknown", "") if told is None else (told.event, told.session)
    try:
        failed = Firing(at=now, host=host, event=event, session=session, did="failed", why=why)
        store.add(lambda _: [failed])
        store.note_last(LastFired(at=now, host=host, event=event, session=session, version=__version__, why=why))
    except OSError:
        # A disk that takes no record takes none of this either; the host goes on all the same.
        return


def _last(host: Host, told: Heard, now: datetime) -> LastFired:
    return LastFired(at=now, host=host, event=told.event, session=told.session, version=__version__)


def _judged(told: Heard, rules: RuleStore, store: FiringStore, now: datetime) -> bytes:
    """The answer, once what came to it is on record."""
    if told.event not in hosts.EVENTS:
        return b""
    root = _root(told.cwd)
    checks, bad = in_force(rules.load().book, Place(repository=root, harness=told.host))
    failed = [_failed(told, now, one.rule, one.reason) for one in bad]
    fired: dict[str, InForce] = {}
    judging = _Judging(told, root)
    for one in checks:
        try:
            if judging.violates(one):
                fired[one.rule] = one
        except (HandrailError, OSError) as problem:
            failed.append(_failed(told, now, one.rule, str(problem)))
    if not failed and not fired:
        return b""

    def rows(before: tuple[Firing, ...]) -> list[Firing]:
        # How often a rule refused already is counted while nobody else can refuse.
        return failed + [_fired(told, one, _did(one, told, before, now), now) for one in fired.values()]

    return _answer(told, fired, store.add(rows))


def _answer(told: Heard, fired: Mapping[str, InForce], rows: tuple[Firing, ...]) -> bytes:
    refusals = [fired[row.rule].refusal for row in rows if row.did == "refused"]
    questions = [fired[row.rule].refusal for row in rows if row.did == "asked"]
    if refusals:
        reason = "; ".join(refusals)
        return hosts.refused(reason) if told.event == hosts.CALL_EVENT else hosts.sent_back(reason)
    return hosts.asked("; ".join(questions)) if questions else b""


def _did(one: InForce, told: Heard, before: tuple[Firing, ...], now: datetime) -> Did:
    """What is done about a check that fires."""
    if not one.is_enforced:
        return "noted"
    if isinstance(one.check, spec.AskBefore):
        return "asked" if hosts.can_ask(told.host) else "noted"
    return "let_pass" if lets_pass(before, told.session, one.rule, now) else "refused"


class _Judging:
    """What was told, held to checks; the session's file is read only where a check has to look back."""

    def __init__(self, told: Heard, root: str | None) -> None:
        self.told = told
        self._root = root
        self._body: Common | None = None
        self._call = Done(told.call, told.tool, told.input)

    def violates(self, one: InForce) -> bool:
        if self.told.event == hosts.REPLY_EVENT:
            return isinstance(one.check, spec.Reply) and judge_reply(one.check, self._reply()) is False
        if isinstance(one.check, spec.AskBefore):
            return fits(one.check.call, self._call)
        return verdict_on(one.check, one.scope, self._call, self._root, self._past) is False

    def _past(self) -> Past:
        return past_of(self._session(), until=self.told.call)

    def _reply(self) -> str:
        if self.told.reply is not None:
            return self.told.reply
        last = next((message for message in reversed(self._session()) if message.role == "assistant"), None)
        return "" if last is None or has_calls(last) else words_of(last)

    def _session(self) -> Common:
        if self._body is None:
            self._body = _read_session(self.told)
        return self._body


def _read_session(told: Heard) -> Common:
    """The conversation so far, as the host's own file has it; ``StoreError`` where it cannot be read."""
    from handrail.harnesses import harness

    if told.transcript is None:
        raise HandrailError("the host names no file of the session")
    with files.OpenFile(Path(told.transcript)) as file:
        if file.size > MAX_TRANSCRIPT_BYTES:
            raise HandrailError("the session is too long to look back over")
        data = b"".join(file.chunks())
    codec = harness(told.host).codec
    return codec.to_common(codec.parse(data)).body


def _root(cwd: str | None) -> str | None:
    from handrail.workspace.repository import repository_of

    return str(repository_of(Path(cwd))) if cwd and "\0" not in cwd and Path(cwd).is_absolute() else None


def _fired(told: Heard, one: InForce, did: Did, now: datetime) -> Firing:
    why = LET_PASS if did == "let_pass" else None
    return Firing(
        at=now,
        host=told.host,
        event=told.event,
        session=told.session,
        did=did,
        rule=one.rule,
        what=_what(told),
        why=why,
    )


def _failed(told: Heard, now: datetime, rule: str, why: str) -> Firing:
    return Firing(at=now, host=told.host, event=told.event, session=told.session, did="failed", rule=rule, why=why)


def _what(told: Heard) -> str:
    """An excerpt of what fired, secrets taken out."""
    from handrail.transcripts.redact import redact

    if told.event == hosts.REPLY_EVENT:
        text = told.reply or ""
    else:
        text = f"{told.tool} {jsonio.encode(told.input).decode('utf-8', 'replace')}"
    return redact(text[: 4 * _EXCERPT_CHARS]).text[:_EXCERPT_CHARS]
