"""What a journal says was said: authors, refusals, decisions, interrupts, branches, taint."""

from __future__ import annotations

from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.transcript import project, project_all
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome
from handrail.transcripts.model import (
    Author,
    Block,
    Compaction,
    Decision,
    Interrupt,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Taint,
    Text,
    ToolResult,
    Via,
)

from .driver import NOW, PERSON, Tape, begin, reply, steer


def asked(tape: Tape, round: int = 1) -> Tape:
    return tape.add(ev.ModelRequested(request=round, round=round))


def last(tape: Tape) -> tuple[Block, ...]:
    return project(tape.events).body[-1].content


def test_one_response_and_one_delivery_are_one_message_each() -> None:
    tape = asked(begin()).add(reply("a", "b"))
    tape.add(ev.ToolRequested(call="a", tool="Bash"), ev.ToolRequested(call="b", tool="Bash"))
    tape.add(ev.ToolFinished(call="b", content="2"), ev.ToolFinished(call="a", content="1"))
    tape.add(steer("s1"), by=PERSON).add(ev.InputDelivered(("s1",), 2), ev.Injected("judge", (Text("and test it"),)))
    asked(tape, 2).add(reply())
    body = project(tape.events).body
    assert [message.role for message in body] == ["user", "assistant", "user", "assistant"]
    assert body[2].content == (
        ToolResult("a", "1"),
        ToolResult("b", "2"),
        Text("words of s1", Author.PERSON, via=Via.STEER),
        Text("and test it", Author.HOST, by="judge"),
    )


def test_a_uid_is_the_session_and_an_ordinal_of_what_shows() -> None:
    body = project(asked(begin()).add(reply()).events).body
    assert [(message.uid, message.timestamp) for message in body] == [("s1:1", NOW), ("s1:2", NOW)]


def test_injected_words_are_never_a_persons_and_words_in_a_response_are_the_models() -> None:
    claims = Text("mine", Author.PERSON)
    tape = asked(begin()).add(ev.ModelReplied(message=Message(role="assistant", content=(claims,))))
    tape.add(ev.Injected("judge", (claims,)))
    contents = [message.content for message in project(tape.events).body[1:]]
    assert contents == [(Text("mine", Author.MODEL),), (Text("mine", Author.HOST, by="judge"),)]


def test_an_input_that_was_returned_is_not_in_the_transcript() -> None:
    tape = asked(begin()).add(steer("s1"), by=PERSON).add(reply(), ev.InputReturned("s1", "the run ended"))
    assert len(project(tape.events).body) == 2


def test_an_interrupt_during_a_request_stands_after_what_came_of_it() -> None:
    tape = asked(begin()).add(ev.Interrupted(), by=PERSON).add(reply(stop_reason="aborted"))
    roles = [message.role for message in project(tape.events).body]
    assert roles == ["user", "assistant", "user"]
    assert last(tape) == (Interrupt(Author.PERSON),)


def test_a_refusal_says_what_kind_and_by_whom() -> None:
    tape = asked(begin()).add(reply("a", "b", "c"))
    tape.add(ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a"))
    tape.add(ev.AskClosed(ask="q", outcome=AskOutcome.DENIED, words="not on Friday"), by=PERSON)
    refusal = Refusal(RefusalKind.BLOCKED, "hook:lint", "no tabs")
    tape.add(ev.ToolFinished(call="b", content="blocked", refusal=refusal))
    tape.add(ev.ToolOutcomeUnknown(call="c", known="its driver died"))
    assert last(tape) == (
        ToolResult(
            "a",
            "A person refused this call of Bash: not on Friday. Do not repeat it.",
            True,
            Refusal(RefusalKind.DENIED, "person", "not on Friday"),
        ),
        ToolResult("b", "blocked", True, refusal),
        ToolResult("c", "its driver died", True, Refusal(RefusalKind.OUTCOME_UNKNOWN)),
    )


def test_an_approval_with_an_edit_is_a_decision_about_the_call() -> None:
    tape = asked(begin()).add(reply("a"), ev.AskOpened(ask="q", kind=AskKind.APPROVAL, prompt="run?", call="a"))
    closed = ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, is_allowed=True, before="rm -r", after="rm -i")
    tape.add(closed, by=PERSON).add(ev.ToolFinished(call="a", content="ok"))
    assert last(tape) == (ToolResult("a", "ok"), Decision("a", Author.PERSON, before="rm -r", after="rm -i"))


def test_a_chosen_label_is_a_decision_and_typed_words_are_text_of_the_person() -> None:
    tape = begin().add(
        ev.AskOpened(ask="q1", kind=AskKind.POINT, prompt="Approve?"),
        ev.AskOpened(ask="q2", kind=AskKind.QUESTION, prompt="Which?"),
    )
    tape.add(
        ev.AskClosed(ask="q1", outcome=AskOutcome.ANSWERED, choice="Revise", comment="shorter"),
        ev.AskClosed(ask="q2", outcome=AskOutcome.ANSWERED, words="the left one"),
        by=PERSON,
    )
    assert last(tape) == (
        Decision("Approve?", Author.PERSON, "Revise", "shorter"),
        Text("the left one", Author.PERSON, via=Via.ANSWER),
    )


def test_an_edit_that_comes_with_the_choice_is_the_same_decision_as_one_that_is_asked_for() -> None:
    point = {"point": "plan_approval", "prompt": "Approve?", "shown": "old"}
    asks = ev.AskOpened(ask="q", kind=AskKind.POINT, options=("Edit",), effects={"Edit": "edit"}, **point)  # type: ignore
    at_once = ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, choice="Edit", before="old", after="new")
    tape = asked(begin()).add(reply(), asks).add(at_once, by=PERSON)
    wish = ev.AskClosed(ask="q", outcome=AskOutcome.ANSWERED, choice="Edit")
    edit = ev.AskClosed(ask="e", outcome=AskOutcome.ANSWERED, before="old", after="new")
    later = asked(begin()).add(reply(), asks).add(wish, by=PERSON)
    later.add(ev.AskOpened(ask="e", kind=AskKind.EDIT, **point)).add(edit, by=PERSON)  # type: ignore[arg-type]
    expected = Decision("Approve?", Author.PERSON, "Edit", before="old", after="new", effect="edit")
    assert last(tape) == last(later) == (expected,)


def test_silence_and_withdrawal_are_no_decisions_and_an_automatic_answer_is_the_hosts() -> None:
    rule = Actor(ActorKind.HOST, "unattended")
    for outcome, expected in (
        (AskOutcome.TIMED_OUT, 1),
        (AskOutcome.WITHDRAWN, 1),
        (AskOutcome.AUTO, 2),
    ):
        tape = begin().add(ev.AskOpened(ask="q", kind=AskKind.POINT, prompt="Approve?"))
        tape.add(ev.AskClosed(ask="q", outcome=outcome, choice="Approve"), by=rule)
        assert len(project(tape.events).body) == expected
        if outcome is AskOutcome.AUTO:
            assert last(tape) == (Decision("Approve?", Author.HOST, "Approve"),)


def test_a_compaction_and_an_edited_document_are_recorded() -> None:
    tape = begin().add(ev.Compacted(summary="so far", trigger="auto", tokens_before=90, tokens_after=4))
    tape.add(ev.DocumentEdited(document="plan", before="a", after="b"), by=PERSON)
    body = project(tape.events).body
    assert body[1].content == (Compaction("so far", "auto", 90, 4),)
    assert body[2].content == (Decision("plan", Author.PERSON, before="a", after="b"),)


def test_taint_is_that_of_the_moment_and_unknown_once_an_import_is_unknown() -> None:
    tape = asked(begin()).add(reply("a"))
    tape.add(ev.ToolFinished(call="a", content="x", taint=Taint(untrusted=True)))
    asked(tape, 2).add(ev.TaintRaised(Taint(private=True), "a picture"), reply())
    assert [message.taint for message in project(tape.events).body] == [
        Taint(),
        Taint(),
        Taint(untrusted=True),
        Taint(private=True, untrusted=True),
    ]
    old = Tape().add(ev.SessionOpened(Meta(id="s1")), ev.MessageImported(Message(role="user")))
    old.add(ev.RunStarted(run="r1"), ev.PromptGiven((Text("go"),)))
    assert [message.taint for message in project(old.events).body] == [None, None]
    assert old.state.taint is None


def test_a_rewind_leaves_a_branch_and_a_second_one_before_it_takes_both_along() -> None:
    said = [Message(role="user", content=(Text(word),), uid=word) for word in "abcdef"]
    tape = Tape().add(ev.SessionOpened(Meta(id="s1")), *map(ev.MessageImported, said[:4]))
    tape.add(ev.Rewound(4), ev.MessageImported(said[4]))
    first = project_all(tape.events)
    assert [message.uid for message in first.session.body] == ["a", "b", "c", "e"]
    assert [(branch.id, branch.at) for branch in first.branches] == [("d", 3)]
    tape.add(ev.Rewound(2), ev.MessageImported(said[5]))
    second = project_all(tape.events)
    assert [message.uid for message in second.session.body] == ["a", "f"]
    lines = [(branch.at, [message.uid for message in branch.body]) for branch in second.branches]
    assert lines == [(1, ["b", "c", "d"]), (1, ["b", "c", "e"])]


def test_children_are_named_with_the_call_that_started_them() -> None:
    tape = asked(begin()).add(reply("a"), ev.ChildSpawned(child="s2", call="a"))
    assert [(child.id, child.call) for child in project_all(tape.events).children] == [("s2", "a")]


def test_a_journal_with_holes_still_has_a_transcript() -> None:
    events = asked(begin()).add(reply("a"), ev.ToolFinished(call="a", content="x")).events
    unknown = ev.Unknown(type="dream", v=1, fields=None)
    holed = [*events[1:3], ev.Event(seq=90, by=DRIVER, body=unknown), *events[4:]]
    assert [message.role for message in project(holed).body] == ["user", "assistant", "user"]


def test_the_title_and_the_model_come_from_later_events_when_the_first_has_none() -> None:
    bodies = (ev.SessionOpened(Meta(id="s1")), ev.SessionTitled("Trees"), ev.RunStarted(run="r1", model="m1"))
    meta = project(number(bodies, after=0, by=DRIVER, at=NOW)).meta
    assert (meta.title, meta.model, meta.timestamp) == ("Trees", "m1", NOW)
