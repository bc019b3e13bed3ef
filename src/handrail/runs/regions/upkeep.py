"""What is to be done about the regions of a stage before its model is asked again: room made, older parts summed up."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from handrail.blueprints.model import conversation_of
from handrail.blueprints.regions import Compacting, Region
from handrail.runs.regions.cascade import relieved
from handrail.runs.regions.contents import Contents, is_conversation
from handrail.runs.regions.size import Size
from handrail.runs.regions.summing import Due, conversation_due, due, summary_of
from handrail.runs.regions.view import View
from handrail.transcripts.model import Message, Taint


class Upkeep(Struct, frozen=True, kw_only=True):
    """``changed`` are regions that lose entries to make room, with all they hold then; ``dues`` the summaries to ask
    for, each of what its region holds after that.
    """

    changed: Contents = {}
    dues: tuple[Due, ...] = ()


def upkeep_of(
    visible: Sequence[Region],
    contents: Contents,
    messages: Sequence[Message],
    view: View,
    size: Size,
    taint: Taint,
    *,
    stage_from: int = 0,
    passed_over: frozenset[str] = frozenset(),
) -> Upkeep:
    """The upkeep of ``visible`` regions, of which ``view`` is what the model would see now.

    ``messages`` are the conversation, ``stage_from`` the one that the stage began with, ``taint`` what had entered it.
    ``passed_over`` are regions that could not be summed up
    as they are: they are not tried again until they are written.
    """
    relief = relieved(visible, contents, size, view.claimed_tokens)
    after = {**contents, **relief.changed}
    dues: list[Due | None] = []
    for region in visible:
        if region.name in passed_over or is_conversation(region):
            continue
        held = after.get(region.name, ())
        found = due(region, held, size)
        if found is None and region.name in relief.to_sum and isinstance(region, Compacting):
            found = summary_of(region, held, size)
        dues.append(found)
    conversation = conversation_of(visible)
    if conversation is not None and conversation.name not in passed_over:
        dues.append(conversation_due(conversation, after, messages, size, taint, stage_from=stage_from))
    return Upkeep(changed=relief.changed, dues=tuple(one for one in dues if one is not None))
