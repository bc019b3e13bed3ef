"""What is wrong with a rollout, in words that tell its user what it costs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.harnesses.codex.ledger import Entry, Ledger
from handrail.harnesses.codex.outlook import Outlook
from handrail.harnesses.families.examining import empty_findings, wound_findings
from handrail.harnesses.families.pictures import MAX_REQUEST_BYTES
from handrail.transcripts.repair import Diagnosis, Finding, Remedy, Severity, counted, limited

BULK_BYTES = 10_000_000
"""So much history repeated by compactions makes a rollout slow to open (reports begin far above)."""

_DAMAGE, _NOTE = Severity.DAMAGE, Severity.NOTE


def diagnose(ledger: Ledger) -> Diagnosis:
    """The diagnosis of the rollout behind ``ledger``."""
    outlook = Outlook(ledger)
    everything = [index for index in range(len(ledger.entries)) if index not in outlook.copies]
    turns, _ = outlook.turns(everything)
    lost, _ = outlook.turns(outlook.lost)
    findings = [
        *empty_findings(ledger.examiner.size, outlook.known, "Codex"),
        *wound_findings(ledger.examiner.wounds),
        *ledger.examiner.notes,
        *_age_findings(outlook),
        *_header_findings(outlook),
        *_copy_findings(outlook),
        *_pair_findings(outlook),
        *_lost_findings(outlook),
        *_rewinds(ledger),
        *_bulk_findings(ledger),
        *_image_findings(ledger),
    ]
    return Diagnosis(
        session=next((entry.session for entry in ledger.entries if entry.session), "") or "",
        records=len(ledger.entries),
        turns=turns,
        shown=turns - lost,
        findings=limited(findings),
        agents=frozenset(ledger.agents),
    )


def _found(
    code: str, severity: Severity, entries: Sequence[Entry], message: str, remedy: Remedy = Remedy.REPAIR
) -> Finding:
    start, end = entries[0].start, entries[-1].end
    return Finding(
        code=code, severity=severity, start=start, end=end, message=message, remedy=remedy, count=len(entries)
    )


def _age_findings(outlook: Outlook) -> Iterator[Finding]:
    if outlook.ledger.is_bare and outlook.known:
        message = "written before September 2025: today's Codex neither lists nor opens it"
        yield _found("old_format", _NOTE, outlook.ledger.entries[:1], message, Remedy.NONE)


def _header_findings(outlook: Outlook) -> Iterator[Finding]:
    if outlook.lacks_header:
        message = "no record says which session this is: Codex does not list or open it"
        yield _found("missing_header", _DAMAGE, outlook.ledger.entries[:1], message)


def _copy_findings(outlook: Outlook) -> Iterator[Finding]:
    entries = outlook.ledger.entries
    run: list[int] = []
    for index in [*sorted(outlook.copies), -1]:
        if run and index != run[-1] + 1:
            yield _copied([entries[at] for at in run])
            run = []
        run.append(index)


def _copied(run: list[Entry]) -> Finding:
    if len(run) == 1:
        return _found("duplicate_row", _DAMAGE, run, "a row stands twice: what it says is sent and counted twice")
    message = f"{counted(len(run), 'row')} of earlier history stand here again: they are sent and counted twice"
    return _found("history_again", _DAMAGE, run, message)


def _pair_findings(outlook: Outlook) -> Iterator[Finding]:
    entries, pairing = outlook.ledger.entries, outlook.pairing
    for call in pairing.unanswered:
        if any(entry.type == "compacted" for entry in entries[call.row :]):
            message = f"call {call.id} has no output; a compaction replaced it, so no request holds it"
            yield _found("unanswered_call", _NOTE, [entries[call.row]], message)
        else:
            message = f"call {call.id} has no output: requests that hold it are refused (400)"
            yield _found("unanswered_call", _DAMAGE, [entries[call.row]], message)
    for output in pairing.orphans:
        message = f"an output of call {output.id}, which is nowhere in the file: requests with it are refused (400)"
        yield _found("orphan_result", _DAMAGE, [entries[output.row]], message)
    for call in (*pairing.copies, *pairing.renamed_calls):
        message = f"call id {call.id} is used more than once: requests are refused (400)"
        yield _found("duplicate_call", _DAMAGE, [entries[call.row]], message)
    for output in (*pairing.doubles, *pairing.extra):
        message = f"call {output.id} is answered more than once: requests are refused (400)"
        yield _found("double_answer", _DAMAGE, [entries[output.row]], message)


def _lost_findings(outlook: Outlook) -> Iterator[Finding]:
    turns, prompts = outlook.turns(outlook.lost)
    if turns:
        entries = [outlook.ledger.entries[index] for index in outlook.lost]
        message = f"{counted(turns, 'turn')} lost on resume, {prompts:,} of them typed by a person"
        yield _found("lost_on_resume", _DAMAGE, entries, message)


def _rewinds(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.entries:
        if entry.undone:
            message = f"somebody went back and left {counted(entry.undone, 'turn')}"
            yield _found("rewind", _NOTE, [entry], message, Remedy.NONE)


def _bulk_findings(ledger: Ledger) -> Iterator[Finding]:
    holders = [entry for entry in ledger.entries if entry.bulk]
    repeated = sum(entry.bulk for entry in holders[:-1])
    if repeated > BULK_BYTES:
        message = (
            f"{counted(len(holders), 'compaction')} hold {repeated / 1e6:.0f} MB of history of which the last counts"
        )
        yield _found("compaction_bulk", _NOTE, holders, message, Remedy.NONE)


def _image_findings(ledger: Ledger) -> Iterator[Finding]:
    holders = [entry for entry in ledger.entries if entry.images]
    for entry in holders:
        for image in entry.images:
            if image.picture.is_too_large:
                message = f"an image of {image.picture.shown} is too large: requests that hold it are refused"
                yield _found("image_too_large", _DAMAGE, [entry], message, Remedy.IMAGES)
    total = sum(image.picture.encoded for entry in holders for image in entry.images)
    if total > MAX_REQUEST_BYTES:
        number = sum(len(entry.images) for entry in holders)
        message = f"{counted(number, 'image')} are {total / 1e6:.0f} MB in every request: it is refused as too large"
        yield _found("images_too_many", _DAMAGE, holders, message, Remedy.IMAGES)
