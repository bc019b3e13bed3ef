"""Interaction points: where a stage asks a person before it may leave, and where each answer sends the run.

Routing is code: the option's own declared effect decides, no model reads the answer. What fits no option is
refused, "No" never approves, words typed freely never match an effect, and neither a cap nor a deadline approves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, TypeAlias

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from handrail.blueprints.durations import Duration
from handrail.blueprints.labels import AnswerRefused, find_label, normalised, shortened

__all__ = [
    "Aborted",
    "Approved",
    "AtCap",
    "Directed",
    "Edited",
    "InteractionPoint",
    "InteractionStyle",
    "OnChange",
    "OnDeadline",
    "Routed",
    "Skipped",
    "Unattended",
    "normalised",
]

YES, NO = "Yes", "No"
"""The two options of a point of style ``confirm``."""


class InteractionStyle(StrEnum):
    """How a point is answered: in one's own words, by an option, or by yes or no."""

    FREE_TEXT = "free_text"
    MULTIPLE_CHOICE = "multiple_choice"
    CONFIRM = "confirm"


class AtCap(StrEnum):
    """What a further revision does when all are used up.

    ``hold``: the point stays open for an answer that is no revision. ``fail``: the stage ends as by an error, and
    takes its error edge. ``abort``: the run ends, cancelled.
    """

    HOLD = "hold"
    FAIL = "fail"
    ABORT = "abort"


class OnDeadline(StrEnum):
    """What a point's deadline does. ``wait``: nothing but say that it has passed; the others as in ``AtCap``."""

    WAIT = "wait"
    FAIL = "fail"
    ABORT = "abort"


class Unattended(StrEnum):
    """What a point does in a run that nobody watches: hold it, or approve, recorded as decided by nobody."""

    HOLD = "hold"
    APPROVE = "approve"


class OnChange(StrEnum):
    """What becomes of an approval whose document changes later: it is asked for again, or kept."""

    REASK = "reask"
    KEEP = "keep"


# Where an answer sends the run -------------------------------------------------------------------------------


class Approved(Struct, frozen=True):
    """On: to the next point, or out of the stage; by the edge to ``goto`` where one is named."""

    goto: str | None = None


class Directed(Struct, frozen=True):
    """``directive`` goes into the conversation and the stage runs again in place, or the stage ``goto`` runs."""

    directive: str = ""
    goto: str | None = None


class Edited(Struct, frozen=True):
    """The stage's latest output is opened for the person to change; what they make of it is the document."""


class Aborted(Struct, frozen=True):
    """The run ends, cancelled: no further request to a model, no transition."""


class Skipped(Struct, frozen=True):
    """An optional point was left unanswered, on purpose; on as if it had not been there."""


Routed: TypeAlias = Approved | Directed | Edited | Aborted | Skipped

Names = Annotated[Sequence[str], AfterValidator(tuple)]
"""A list of strings, kept as a tuple."""


class InteractionPoint(BaseModel):
    """A point where a stage asks a person; it always fires before the stage may leave.

    ``name`` is unique in its stage. ``directives`` map an option to the text that sends the stage round again,
    ``abort_options`` end the run, ``edit_options`` open the document; an option in none of them approves, but "No",
    which aborts. ``document_region`` is the pinned region that holds the document.

    Beyond that, with defaults that keep a person in charge: ``goto`` maps an option to the stage it leads to;
    ``revisions`` is how often the stage may run again or be edited in one visit, and ``at_cap`` what the next one
    does; ``deadline`` and ``remind_after`` count from the opening, whatever restarts in between; ``comments`` are
    options that need one; ``approvers`` are names (none: anybody), of whom ``quorum`` must approve;
    ``creator_may_answer`` False keeps out who started the run; ``on_change`` says what a later change of the
    document does to the approval.

    What is declared against itself (a label in two lists, a directive for no option) is found by
    ``point_faults``, all of it at once; ``route`` refuses whatever such a point leaves in doubt.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=100_000)

    name: str
    prompt: str
    required: bool = True
    style: InteractionStyle = InteractionStyle.FREE_TEXT
    options: Names = ()
    directives: Mapping[str, str] = Field(default_factory=dict)
    abort_options: Names = ()
    edit_options: Names = ()
    document_region: str | None = None
    goto: Mapping[str, str] = Field(default_factory=dict)
    revisions: Annotated[int, Field(ge=0, le=1000)] = 3
    at_cap: AtCap = AtCap.HOLD
    deadline: Duration | None = None
    on_deadline: OnDeadline = OnDeadline.WAIT
    remind_after: Duration | None = None
    unattended: Unattended = Unattended.HOLD
    comments: Names = ()
    approvers: Names = ()
    quorum: Annotated[int, Field(ge=1, le=1000)] = 1
    creator_may_answer: bool = True
    on_change: OnChange = OnChange.REASK

    @property
    def labels(self) -> tuple[str, ...]:
        """The options a person is shown; none where they answer in their own words."""
        match self.style:
            case InteractionStyle.FREE_TEXT:
                return ()
            case InteractionStyle.MULTIPLE_CHOICE:
                return tuple(self.options)
            case InteractionStyle.CONFIRM:
                return YES, NO

    def option(self, answer: str | bool) -> str:
        """The option that ``answer`` means; ``AnswerRefused``, which lists the options, when it means none.

        True and False are the yes and no of a point of style ``confirm``.
        """
        if isinstance(answer, bool):
            if self.style is not InteractionStyle.CONFIRM:
                raise AnswerRefused((f"point {self.name!r} is not answered by yes or no",), self.labels)
            return YES if answer else NO
        found = find_label(answer, self.labels)
        if found is None:
            raise AnswerRefused((f"{shortened(answer)!r} is no option of point {self.name!r}",), self.labels)
        return found

    def route(self, answer: str | bool | None) -> Routed:
        """Where ``answer`` sends the run: an option's label, yes or no, or words where words are asked for.

        None and blank text are no answer: ``Skipped`` at an optional point, else refused. ``AnswerRefused`` for
        whatever fits no option, and for an option whose effect the point leaves in doubt.
        """
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            if self.required:
                raise AnswerRefused((f"point {self.name!r} needs an answer",), self.labels)
            return Skipped()
        if self.style is InteractionStyle.FREE_TEXT and isinstance(answer, str):
            return Approved()
        return self.effect(self.option(answer))

    def effect(self, option: str) -> Routed:
        """What the point declares for one of its ``labels``; ``AnswerRefused`` where that contradicts itself."""
        aborts, edits = (_found(option, listed) for listed in (self.abort_options, self.edit_options))
        directives, gotos = (_found(option, mapping) for mapping in (self.directives, self.goto))
        lists = sum(map(bool, (aborts, edits, directives)))
        if lists > 1 or (gotos and (aborts or edits)) or len(directives) > 1 or len(gotos) > 1:
            doubt = f"point {self.name!r} declares several effects for {shortened(option)!r}"
            raise AnswerRefused((doubt,), self.labels)
        if aborts:
            return Aborted()
        if edits:
            return Edited()
        goto = self.goto[gotos[0]] if gotos else None
        if directives:
            return Directed(self.directives[directives[0]], goto)
        if is_no(option):
            return Aborted() if goto is None else Directed(goto=goto)
        return Approved(goto)

    def effects(self) -> dict[str, str]:
        """The word for what each of ``labels`` does, for whoever shows the question."""
        return {label: effect_word(self.effect(label)) for label in self.labels}


def is_no(option: str) -> bool:
    """Whether an option is a plain no, in any case: that never approves."""
    return normalised(option).casefold() == "no"


_WORDS: Mapping[type[Routed], str] = {
    Approved: "approve",
    Directed: "revise",
    Edited: "edit",
    Aborted: "abort",
    Skipped: "skip",
}


def effect_word(routed: Routed) -> str:
    """One word for where an answer sends the run: approve, revise, edit, abort, skip."""
    return _WORDS[type(routed)]


def _found(option: str, listed: Iterable[str]) -> tuple[str, ...]:
    """The entries that name ``option``: itself alone where it is there, else all that are the same when folded."""
    fitting = tuple(label for label in listed if normalised(label) == normalised(option))
    return (option,) if option in fitting else fitting
