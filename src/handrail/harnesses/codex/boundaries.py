"""What keeps messages apart: turns, aborted turns, rollbacks, compactions, and where inherited history ends."""

from __future__ import annotations

from handrail.harnesses.codex.drafts import COMPACTION, NOTES, read_time
from handrail.harnesses.codex.elements import summary_of
from handrail.harnesses.codex.event_kinds import OfTurn, RolledBack, TurnAborted
from handrail.harnesses.codex.gathering import Cut, Gathering
from handrail.harnesses.codex.sources import BURST_S, driver
from handrail.harnesses.codex.wire import Compacted, SessionMeta, TurnContext
from handrail.transcripts.model import Compaction, Interrupt


def session_meta(gathering: Gathering, payload: SessionMeta) -> None:
    """Whose the rows are; a second one right after the first says whose history follows."""
    if gathering.own_id is None:
        gathering.own_id = payload.id or ""
        gathering.driver = gathering.own_driver = driver(payload)
    elif payload.id and payload.id != gathering.own_id and gathering.at == 1:
        gathering.origin = payload.id
        gathering.driver = driver(payload)


def end_burst(gathering: Gathering) -> None:
    """Inherited history ends with the first pause."""
    before, now = read_time(gathering.rows[gathering.at - 1].timestamp), read_time(gathering.row.timestamp)
    if before is not None and now is not None and (now - before).total_seconds() > BURST_S:
        gathering.origin = None
        gathering.driver = gathering.own_driver
        gathering.open = None
        gathering.response = None


def turn_context(gathering: Gathering, payload: TurnContext) -> None:
    gathering.close()
    gathering.model = payload.model
    gathering.reviewer = payload.approvals_reviewer


def turn_start(gathering: Gathering, payload: OfTurn) -> None:
    gathering.close()
    gathering.turns.begin(len(gathering.drafts))


def turn_end(gathering: Gathering, payload: OfTurn) -> None:
    if gathering.echoes:
        gathering.own_echoes()
    gathering.close()
    gathering.turns.end()
    gathering.searches.forget()


def aborted(gathering: Gathering, payload: TurnAborted) -> None:
    """The turn was cut short; the mark of it is an item as well, or else stands here only."""
    if gathering.echoes:
        gathering.save_echoes()
    if gathering.response is not None and gathering.response.usage is None:
        gathering.response.stop_reason = "aborted"
    if payload.reason in (None, "interrupted"):
        draft = gathering.open
        if draft is not None and draft.content and type(draft.content[-1]) is Interrupt:
            gathering.owners[gathering.at] = gathering.newest
        else:
            gathering.deliver(NOTES).content.append(Interrupt())
    turn_end(gathering, payload)


def rolled_back(gathering: Gathering, payload: RolledBack) -> None:
    gathering.close()
    start = gathering.turns.roll_back(payload.num_turns or 0)
    if start is not None and start < len(gathering.drafts):
        gathering.cuts.append(Cut(start, len(gathering.drafts), gathering.at))


def compacted(gathering: Gathering, payload: Compacted) -> None:
    gathering.close()
    draft = gathering.into(gathering.draft(COMPACTION))
    draft.content.append(Compaction(summary_of(payload)))
    gathering.close()
