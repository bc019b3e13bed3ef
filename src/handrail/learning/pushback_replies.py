"""What agents say before and after a person pushes back, as small families of English phrases.

Models say these things in few and stable ways, whoever they talk to; that makes their answer the steadiest evidence
there is of what a turn was. It is evidence about a turn only: no word of it is ever taken for a person's.
"""

from __future__ import annotations

from handrail.learning.pushback_cues import Cue, cue


def _saying(name: str, sign: int, reason: str, phrases: str) -> Cue:
    """A family whose phrases begin where a word does."""
    return cue(name, sign, reason, rf"\b(?:{phrases})")


BEFORE = (
    _saying(
        "agent_asked_leave",
        -1,
        "the agent had asked for leave to go on",
        r"""(?:want\ me\ to|shall\ i|should\ i|would\ you\ like|do\ you\ want|ready\ to|proceed\?|sound\ good|
        looks?\ (?:right|good|ok)|make\ sense\?|happy\ to|if\ you\ (?:want|like))""",
    ),
    _saying(
        "agent_offered_choice",
        -1,
        "the agent had offered a choice",
        r"""\b(?:which\ \w+[^\n]{0,60}\?|prefer|option\ (?:a|b|1|2)\b|[ab]\)\ |or\ [^\n.?]{0,60}\?|
        what(?:['’]s|\ is)\ your|thoughts\?|pick\ (?:one|a))""",
    ),
    _saying(
        "agent_inquired",
        -1,
        "the agent had asked the person for something it needed to know",
        r"""\b(?:what|where|when|who|how)\b[^\n.?]{0,100}\?|\b(?:share|paste|send|show\ me|tell\ me|could\ you|
        can\ you\ (?:run|check|confirm|provide)|please\ provide|let\ me\ know\ (?:what|which|how|if|when))\b""",
    ),
    _saying(
        "agent_claimed_done",
        1,
        "the agent had said that it was done",
        r"""\b(?:done|fixed|updated|committed|pushed|implemented|completed?|created|added|removed|renamed|applied|
        pass(?:es|ed|ing)|green|merged|verified|resolved|should\ now)\b""",
    ),
    _saying(
        "agent_asked_to_try",
        1,
        "the agent had asked the person to try it",
        r"""\b(?:try|re-?run|run\ (?:it|this|again|the)|test\ it|you\ can\ (?:now|test|run|try)|reload|restart|
        refresh|please\ (?:run|test|check))\b""",
    ),
)
"""What the agent had said last."""

AFTER = (
    _saying(
        "agent_conceded",
        1,
        "the agent conceded the point",
        r"""\byou(?:['’]|\ a)?re\ (?:\w+\ )?(?:right|correct)\b(?!\ to\ ask)|(?:good|great|nice)\ (?:catch|point|eye|
        spot)|fair\ (?:point|enough|pushback|catch)|\bmy\ (?:mistake|bad|apolog|error|fault)|apolog|\bsorry\b|
        \bi\ (?:misread|misunderstood|missed|overlooked|was\ (?:wrong|sloppy|too)|made\ a|forgot|conflated|over\w+ed|
        should(?:['’]?ve|\ have|n['’]?t))|\bi\ see\ the\ (?:issue|problem|mismatch|bug|confusion)|valid\ point|
        \bis\ right\b|that(?:['’]s|\ was)\ (?:wrong|a\ mistake|on\ me)|\bi(?:['’]m|\ was|\ am)\ (?:not\ sure|
        inconsistent|confus|wrong)|(?:crucial|important|key|good)\ (?:distinction|correction|clarification)|
        (?:rethink|reconsider|re-think)""",
    ),
    _saying(
        "agent_faulted_work",
        1,
        "the agent found fault with the work",
        r"""\b(?:inefficient|unnecessar\w+|overkill|redundant|misleading|inconsisten\w+|over-?(?:engineer|complicat|
        correct)\w*|incorrect\w*|mismatch|too\ \w+|should(?:n['’]t|\ not)|(?:don['’]t|doesn['’]t)\ (?:need|work|
        belong|exist|match)|not\ (?:right|needed|correct)|broken|bug)\b""",
    ),
    _saying(
        "agent_agreed",
        1,
        "the agent agreed to do it another way",
        r"""^(?:correct|exactly|agreed|understood|got\ it|makes\ sense|totally|absolutely|ah+|oh|right|yep|yeah|fair|
        true|of\ course|ok(?:ay)?)\b|\b(?:good|great)\ (?:call|instinct|thinking|idea|observation)|
        that\ makes\ (?:more\ )?sense|\bnow\ i\ (?:see|understand)|\bi\ see\b|(?:your|the)\ instinct|
        that\ (?:reframes|clarif|changes)""",
    ),
    _saying(
        "agent_answered",
        -1,
        "the agent took it for a question",
        r"(?:good|great|excellent|fair)\ question|^(?:yes|no|short\ answer|honest(?:ly|\ answer)?)\b[ ,:—-]",
    ),
    _saying(
        "agent_repaired",
        1,
        "the agent set out to repair something",
        r"""the\ (?:issue|problem|bug|error|failure|root\ cause|fix)\ (?:is|was|here)|(?:let\ me|i(?:['’]|\ wi)ll|
        i(?:['’]|\ a)m)\ (?:now\ )?(?:fix|revert|undo|restor|correct|adjust|chang|simplif|remov|switch|mak|updat|
        replac|rework|tighten|harden)\w*|\bwrong\b|\bstill\b|doesn['’]t\ work""",
    ),
    _saying(
        "agent_looked",
        -1,
        "the agent went to look at something",
        r"""(?:let\ me|i(?:['’]|\ wi)ll)\ (?:first\ )?(?:check|look|see|investigate|find|read|verify|dig|trace|
        examine|search|get|fetch|pull|review|explore|start)""",
    ),
    _saying(
        "agent_revised",
        1,
        "the agent brought a revised version",
        r"""\b(?:updated?|revised?|adjusted?|corrected|reworked|simplified|cleaner|better)\b[^\n.]{0,40}:|
        here(?:['’]s|\ is)\ (?:the\ |an?\ )?(?:updated|new|revised|cleaner|simpler|corrected|better)|let\ me\ (?:redo|
        rewrite|rework|rethink|restructure|clarify)""",
    ),
)
"""What the agent said next."""
