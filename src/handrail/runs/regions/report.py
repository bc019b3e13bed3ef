"""What a model sees, by region: how much each may hold, how much it does, and what share of the window that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from handrail.blueprints.model import conversation_of
from handrail.blueprints.regions import CONVERSATION, Region, Sliding
from handrail.runs.regions.blocks import in_order, render_body, shown, tokens_of
from handrail.runs.regions.contents import Contents, is_conversation, taint_of
from handrail.runs.regions.size import Size
from handrail.runs.regions.turns import message_bytes
from handrail.runs.regions.view import UNBOUNDED, View, conversation_budget, render_regions
from handrail.transcripts.model import Taint


class RegionReport(Struct, frozen=True, kw_only=True):
    """One region. ``share`` is of the window, from 0 to 1, None where no window is known.

    ``items`` counts entries, or turns of a conversation; ``hidden_items`` are turns it leaves out. A region that is
    not ``is_visible`` keeps what it holds and costs nothing. ``is_over`` says that it holds more than its budget,
    which it can where the window became smaller. ``text`` is what is read of it, where that was asked for.
    """

    name: str
    kind: str
    title: str | None
    volatility: str
    budget_tokens: int | None
    tokens: int
    share: float | None
    items: int
    hidden_items: int = 0
    is_visible: bool = True
    is_over: bool = False
    is_read_only: bool = False
    taint: Taint = Taint()
    text: str | None = None


class ContextReport(Struct, frozen=True, kw_only=True):
    """What is sent with the next request, in tokens as estimated with ``bytes_per_token``.

    ``instructions_tokens`` are those of the instructions without the regions. ``used_tokens`` is all of it, tools
    apart; ``free_tokens`` and the shares are None where the window is not known. ``reported_tokens`` is what the
    provider counted for the last response, where it did. Regions stand in the order in which they are sent, hidden
    ones after them.
    """

    window_tokens: int | None
    used_tokens: int
    free_tokens: int | None
    instructions_tokens: int
    bytes_per_token: float
    regions: tuple[RegionReport, ...]
    reported_tokens: int | None = None
    stage: str | None = None


def report_of(
    declared: Sequence[Region],
    visible: Iterable[str],
    contents: Contents,
    view: View,
    size: Size,
    *,
    locked: frozenset[str] = frozenset(),
    reported_tokens: int | None = None,
    stage: str | None = None,
    with_text: bool = False,
) -> ContextReport:
    """The report of ``view``, which was made of the ``visible`` ones among ``declared`` and of their ``contents``.

    ``locked`` are regions with an approved document. A conversation that no region declares is reported like one.
    """
    names = set(visible)
    seen = [region for region in declared if region.name in names and not is_conversation(region)]
    hidden = [region for region in declared if region.name not in names and not is_conversation(region)]
    conversation = conversation_of(declared)
    rows = [_region(region, contents, size, locked, with_text=with_text) for region in in_order(seen)]
    rows.append(_conversation(conversation, contents, view, size))
    rows += [_region(region, contents, size, locked, with_text=with_text, is_visible=False) for region in hidden]
    used = size.estimate.of_bytes(view.sent_bytes)
    own = size.estimate.of(view.instructions) - size.estimate.of(render_regions(seen, contents))
    return ContextReport(
        window_tokens=size.window,
        used_tokens=used,
        free_tokens=None if size.window is None else max(size.window - used, 0),
        instructions_tokens=max(own, 0),
        bytes_per_token=size.estimate.bytes_per_token,
        regions=tuple(rows),
        reported_tokens=reported_tokens,
        stage=stage,
    )


def _region(
    region: Region,
    contents: Contents,
    size: Size,
    locked: frozenset[str],
    *,
    with_text: bool,
    is_visible: bool = True,
) -> RegionReport:
    entries = contents.get(region.name, ())
    tokens, budget = tokens_of(region, entries, size.estimate), region.budget_tokens(size.window)
    return RegionReport(
        name=region.name,
        kind=region.kind,
        title=region.title,
        volatility=region.volatility.value,
        budget_tokens=budget,
        tokens=tokens,
        share=_share(tokens, size) if is_visible else None,
        items=len(shown(region, entries)),
        is_visible=is_visible,
        is_over=tokens > budget,
        is_read_only=region.is_read_only or region.name in locked,
        taint=taint_of(entries),
        text=render_body(region, entries) if with_text else None,
    )


def _conversation(region: Sliding | None, contents: Contents, view: View, size: Size) -> RegionReport:
    tokens = sum(size.estimate.of_bytes(message_bytes(message)) for message in view.messages)
    budget = None if region is None else conversation_budget(region, size, view.instructions)
    is_bounded = budget is not None and budget != UNBOUNDED
    return RegionReport(
        name=CONVERSATION,
        kind="sliding",
        title=None if region is None else region.title,
        volatility="grows",
        budget_tokens=budget if is_bounded else None,
        tokens=tokens,
        share=_share(tokens, size),
        items=view.shown_turns,
        hidden_items=view.turns - view.shown_turns,
        is_over=is_bounded and tokens > (budget or 0),
        is_read_only=True,
        taint=taint_of(contents.get(CONVERSATION, ())),
    )


def _share(tokens: int, size: Size) -> float | None:
    return None if size.window is None else tokens / size.window
