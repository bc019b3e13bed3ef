"""What is wrong with a Claude Code file, in words that tell its user what it costs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.harnesses.claude_code.ledger import Entry, Ledger
from handrail.harnesses.claude_code.line import OtherLine
from handrail.harnesses.claude_code.outlook import Outlook
from handrail.harnesses.claude_code.wire import KNOWN_KINDS
from handrail.harnesses.families.examining import empty_findings, wound_findings
from handrail.harnesses.families.pictures import MAX_REQUEST_BYTES
from handrail.transcripts.repair import Diagnosis, Finding, Remedy, Severity, counted, limited

_DAMAGE, _NOTE = Severity.DAMAGE, Severity.NOTE


def diagnose(ledger: Ledger) -> Diagnosis:
    """The diagnosis of the file behind ``ledger``."""
    outlook = Outlook(ledger)
    live = outlook.turns(outlook.wanted)
    lost = outlook.turns(outlook.lost(outlook.resumed))
    talk = sum(entry.row.is_talk for entry in ledger.entries)
    known = sum(entry.row.type in KNOWN_KINDS for entry in ledger.entries)
    findings = [
        *empty_findings(ledger.examiner.size, known, "Claude Code"),
        *wound_findings(ledger.examiner.wounds),
        *ledger.examiner.notes,
        *_id_findings(outlook),
        *_pair_findings(outlook),
        *_line_findings(outlook),
        *_tail_findings(outlook),
        *_image_findings(ledger),
        *_summary_findings(ledger),
    ]
    return Diagnosis(
        session=next((entry.session for entry in reversed(ledger.entries) if entry.session and talk), "") or "",
        records=len(ledger.entries),
        turns=live.count,
        shown=live.count - lost.count,
        findings=limited(findings),
        agents=frozenset(ledger.agents),
        told=frozenset(ledger.told),
    )


def _found(
    code: str,
    severity: Severity,
    entries: Sequence[Entry],
    message: str,
    remedy: Remedy = Remedy.REPAIR,
    branch: str | None = None,
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        start=entries[0].start,
        end=entries[-1].end,
        message=message,
        remedy=remedy,
        count=len(entries),
        branch=branch,
    )


def _id_findings(outlook: Outlook) -> Iterator[Finding]:
    entries = outlook.ledger.entries
    for run in _runs(outlook, sorted(outlook.view.copies)):
        rows = [entries[index] for index in run]
        if len(run) == 1:
            yield _found("duplicate_row", _DAMAGE, rows, "a row stands twice with the same id: readers count it twice")
        else:
            message = f"{counted(len(run), 'row')} of earlier history stand here again with the same ids"
            yield _found("history_again", _DAMAGE, rows, f"{message}: the file grows and its tree closes on itself")
    for index in outlook.view.renamed:
        message = "another row has the same id and says something else: one of the two is lost on resume"
        yield _found("duplicate_uuid", _DAMAGE, [entries[index]], message)


def _runs(outlook: Outlook, indices: Sequence[int]) -> Iterator[list[int]]:
    """``indices`` in stretches between which no other row with an id stands."""
    run: list[int] = []
    rows = outlook.ledger.rows
    for index in indices:
        if run and any(rows[at].uuid is not None for at in range(run[-1] + 1, index)):
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def _pair_findings(outlook: Outlook) -> Iterator[Finding]:
    entries, pairing = outlook.ledger.entries, outlook.pairing
    for call in pairing.unanswered:
        if _is_compacted(outlook, call.row):
            message = f"call {call.id} has no result; a compaction replaced it, so no request holds it"
            yield _found("unanswered_call", _NOTE, [entries[call.row]], message)
        else:
            message = f"call {call.id} has no result: requests that hold it are refused (400)"
            yield _found("unanswered_call", _DAMAGE, [entries[call.row]], message)
    for result in pairing.orphans:
        message = f"a result of call {result.id}, which is nowhere in the file: requests that hold it are refused (400)"
        yield _found("orphan_result", _DAMAGE, [entries[result.row]], message)
    for call in (*pairing.copies, *pairing.renamed_calls):
        message = f"call id {call.id} is used more than once: requests are refused (400)"
        yield _found("duplicate_call", _DAMAGE, [entries[call.row]], message)
    for result in (*pairing.doubles, *pairing.extra):
        message = f"call {result.id} is answered more than once: requests are refused (400)"
        yield _found("double_answer", _DAMAGE, [entries[result.row]], message)


def _is_compacted(outlook: Outlook, index: int) -> bool:
    rows = outlook.ledger.rows
    return any(rows[at].subtype == "compact_boundary" for at in range(index + 1, len(rows)))


def _line_findings(outlook: Outlook) -> Iterator[Finding]:
    entries, rows = outlook.ledger.entries, outlook.ledger.rows
    lost = outlook.lost(outlook.resumed)
    breaks = set(outlook.resumed.walk)
    known = {row.uuid for row in rows}
    for index, row in enumerate(rows):
        if row.parentUuid is None or row.parentUuid in known or outlook.view.is_gone(index):
            continue
        is_costly = bool(lost) and index in breaks
        message = "the parent of a row was never written: a resume ends here" if is_costly else _DANGLING
        yield _found("dangling_parent", _DAMAGE if is_costly else _NOTE, [entries[index]], message)
    for index in outlook.view.cycles:
        message = "rows are each other's parents: a reader that follows them never ends"
        yield _found("parent_cycle", _DAMAGE, [entries[index]], message)
    for other in outlook.stranded:
        yield _other(outlook, other, "stranded_turns", _DAMAGE, Remedy.REPAIR)
    for other in outlook.left:
        yield _other(outlook, other, "rewind", _NOTE, Remedy.BRANCH)
    if lost:
        yield from _lost_findings(outlook, lost)


_DANGLING = "the parent of a row was never written; nothing is lost by it"


def _other(outlook: Outlook, other: OtherLine, code: str, severity: Severity, remedy: Remedy) -> Finding:
    entries = outlook.ledger.entries
    turns = outlook.turns(other.rows)
    who = f"{counted(turns.count, 'turn')} ({turns.persons:,} typed by a person)"
    branch = next(outlook.ledger.rows[index].uuid for index in other.rows if outlook.is_turn(index))
    message = f"somebody went back and left {who}"
    if code != "rewind":
        message = f"off the main line though nobody went back: {who}; what came after was hung on an older row"
    return _found(code, severity, [entries[index] for index in other.rows], message, remedy, branch)


def _lost_findings(outlook: Outlook, lost: list[int]) -> Iterator[Finding]:
    entries = outlook.ledger.entries
    turns = outlook.turns(lost)
    message = f"{counted(turns.count, 'turn')} lost on resume, {turns.persons:,} of them typed by a person"
    yield _found("lost_on_resume", _DAMAGE, [entries[index] for index in lost], message)
    leaf = outlook.resumed.leaf
    said = max(
        (index for index in outlook.lines.live if index in outlook.wanted and outlook.is_turn(index)), default=-1
    )
    if leaf is not None and said >= 0 and said not in outlook.resumed.walk and outlook.ledger.examiner.stops_at is None:
        message = "the last row of the file hangs on an older line, so a resume takes that for the session"
        yield _found("stale_leaf", _DAMAGE, [entries[leaf]], message)


def _tail_findings(outlook: Outlook) -> Iterator[Finding]:
    if outlook.view.dead:
        rows = [outlook.ledger.entries[index] for index in sorted(outlook.view.dead)]
        message = "the session ends in a reply without a token that no model gave: a resume may end at once"
        yield _found("dead_tail", _DAMAGE, rows, message)


def _image_findings(ledger: Ledger) -> Iterator[Finding]:
    total = 0
    holders: list[Entry] = []
    for entry in ledger.entries:
        for image in entry.images:
            total += image.picture.encoded
            if image.picture.is_too_large:
                message = f"an image of {image.picture.shown} is too large: requests that hold it are refused"
                yield _found("image_too_large", _DAMAGE, [entry], message, Remedy.IMAGES)
        if entry.images:
            holders.append(entry)
    if total > MAX_REQUEST_BYTES:
        number = sum(len(entry.images) for entry in holders)
        message = f"{counted(number, 'image')} are {total / 1e6:.0f} MB in every request: it is refused as too large"
        yield _found("images_too_many", _DAMAGE, holders, message, Remedy.IMAGES)


def _summary_findings(ledger: Ledger) -> Iterator[Finding]:
    known = {entry.row.uuid for entry in ledger.entries}
    for entry in ledger.entries:
        if entry.row.type == "summary" and entry.leaf is not None and entry.leaf not in known:
            message = "a summary names a leaf of another session: it is no title of this one"
            yield _found("foreign_summary", _NOTE, [entry], message, Remedy.NONE)
