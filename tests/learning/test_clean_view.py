"""The clean view holds not one byte that a model, tool, page or harness wrote: sentinels everywhere prove it."""

from __future__ import annotations

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.learning.interventions import Intervention, Trigger, find_interventions
from handrail.transcripts.calls import parse_call
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)
from tests.learning.build import agent, bash, branch, call, chose, refused, result, session, stop, typed, user

FOREIGN = "☠"
"""Stands in every byte that is not a person's; nothing a person says here holds it."""

foreign = st.text(alphabet="abcR/_", max_size=8).map(lambda text: f"{text}{FOREIGN}{text}")
tool_names = st.one_of(foreign, foreign.map(lambda name: f"mcp__{name}"), st.sampled_from(["Bash", "Read"]))
call_ids = st.sampled_from([f"{FOREIGN}1", f"{FOREIGN}2", f"{FOREIGN}3"])
person_words = st.text(alphabet="no yes/.\n", min_size=1, max_size=12)


def tool_uses() -> st.SearchStrategy[Block]:
    return st.builds(
        lambda call_id, name, given: ToolUse(call_id, parse_call(name, given)),
        call_ids,
        tool_names,
        st.one_of(foreign, st.dictionaries(foreign, foreign, max_size=2)),
    )


def agent_blocks() -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(Text, foreign, st.sampled_from([Author.MODEL, Author.UNKNOWN, Author.HARNESS, Author.PERSON])),
        st.builds(Thinking, foreign),
        tool_uses(),
        st.builds(Interrupt),
    )


def user_blocks() -> st.SearchStrategy[Block]:
    others = [author for author in Author if author != Author.PERSON]
    refusals = st.one_of(
        st.none(),
        st.builds(Refusal, st.just(RefusalKind.DENIED), st.just("person"), st.one_of(st.none(), person_words)),
        st.builds(Refusal, st.just(RefusalKind.BLOCKED), foreign, foreign),
    )
    return st.one_of(
        st.builds(Text, person_words, st.just(Author.PERSON), foreign, st.sampled_from([None, *Via])),
        st.builds(Text, foreign, st.sampled_from(others), foreign),
        st.builds(ToolResult, call_ids, foreign, st.booleans(), refusals),
        st.builds(Decision, foreign, st.just(Author.PERSON), foreign, st.one_of(st.none(), person_words)),
        st.builds(Decision, call_ids, st.just(Author.PERSON), st.sampled_from(["Edit ☠", "No ☠"])),
        st.builds(Decision, foreign, st.just(Author.PERSON), before=foreign, after=foreign),
        st.builds(Interrupt, st.sampled_from(list(Author))),
        st.builds(Compaction, foreign, foreign),
        st.builds(Image, foreign, foreign),
    )


def bodies() -> st.SearchStrategy[Common]:
    own = {"uid": foreign, "uids": st.tuples(foreign), "model": foreign, "stop_reason": foreign, "provider": foreign}
    users = st.builds(Message, role=st.just("user"), content=st.lists(user_blocks(), max_size=3).map(tuple), **own)
    agents = st.builds(
        Message, role=st.just("assistant"), content=st.lists(agent_blocks(), max_size=3).map(tuple), **own
    )
    return st.lists(st.one_of(users, agents), max_size=10).map(tuple)


metas = st.builds(Meta, id=foreign, cwd=foreign, title=foreign, harness=st.one_of(st.none(), foreign))


@given(metas, bodies(), st.lists(st.tuples(foreign, st.integers(0, 10), bodies()), max_size=2))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_foreign_byte_survives_in_any_field(meta: Meta, body: Common, lines: list[tuple[str, int, Common]]) -> None:
    branches = [
        Branch(id=f"{name}{place}", at=min(at, len(body)), body=own) for place, (name, at, own) in enumerate(lines)
    ]
    for moment in find_interventions(Transcript(meta, body), branches, tools=["Bash", "Read"]):
        spelled = msgspec.json.encode(moment.user_evidence_only()).decode()
        assert FOREIGN not in spelled
        assert FOREIGN not in " ".join(moment.reasons)


def one(*messages: Message) -> Intervention:
    (moment,) = find_interventions(session(*messages), tools=["Bash"])
    return moment


def test_the_persons_words_trigger_and_position_survive() -> None:
    whole = one(user("go"), agent("secret plan", bash("c1")), user(refused("c1", "use make")), agent("sorry"))
    clean = whole.user_evidence_only()
    assert (clean.trigger, clean.text, clean.at, clean.block, clean.id, clean.is_stepin) == (
        Trigger.DENIAL,
        "use make",
        2,
        0,
        whole.id,
        True,
    )
    assert clean.reasons == whole.reasons


def test_j18_markers_say_what_was_withheld_and_which_known_tools_were_used() -> None:
    uses = [bash("c1"), call("mcp__files__read", "c2"), call("Invented", "c3")]
    clean = one(user("go"), agent("words", *uses), user(result("c1"), typed("no")), agent("more")).user_evidence_only()
    assert clean.tools_before == ("Bash", "mcp", "other")
    assert "withheld" in clean.context
    assert "Bash, mcp, other" in clean.context
    assert "withheld" in clean.aftermath
    assert "tools" not in clean.aftermath


def test_j18_the_same_markers_stand_where_there_was_nothing_to_withhold() -> None:
    clean = one(user("go"), agent("x"), user("more")).user_evidence_only()
    assert clean.context.startswith("[withheld: ")
    assert clean.aftermath.startswith("[withheld: ")


def test_a_refusal_without_words_gets_a_marker_instead_of_what_was_refused() -> None:
    moment = one(user("go"), agent(bash("c1", "rm -r build")), user(refused("c1")))
    assert "build" in moment.text
    assert moment.user_evidence_only().text == "[refused without words; what was refused is withheld]"


def test_an_edit_keeps_the_persons_comment_and_nothing_of_the_edited_text() -> None:
    edit = chose("plan", "edit", before="model words", after="model words, mine")
    assert "model" not in one(user("go"), agent("plan"), user(edit)).user_evidence_only().text
    edit = chose("plan", "edit", before="model words", after="model words, mine", comment="shorter")
    assert one(user("go"), agent("plan"), user(edit)).user_evidence_only().text == "shorter"


def test_an_option_that_others_wrote_is_withheld() -> None:
    clean = one(user("go"), agent("plan"), user(chose("plan", "Revise, says the page"))).user_evidence_only()
    assert clean.text == "[sent back, changed or ended without words; what was chosen or written is withheld]"


def test_record_and_branch_ids_do_not_survive_but_the_moments_own_id_does() -> None:
    whole = session(user("go"), agent("x"), user("red", uid="evil-uid"), agent("y"))
    left = branch(2, user("blue"), agent("z"), user(stop(Author.PERSON)), agent("w"), name="evil-branch")
    for moment in find_interventions(whole, [left]):
        clean = moment.user_evidence_only()
        assert clean.id == moment.id
        assert "evil" not in msgspec.json.encode(clean).decode()


def test_built_in_names_of_a_real_harness_survive_without_being_passed() -> None:
    whole = session(user("go"), agent("x", bash("c1")), user(refused("c1", "no")), harness="claude_code")
    (moment,) = find_interventions(whole)
    assert moment.user_evidence_only().tools_before == ("Bash",)
