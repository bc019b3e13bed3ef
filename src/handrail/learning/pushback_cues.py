"""What people say when they push back on work, and when they do not, as small families of English phrases.

A family stands for one thing a speaker does (begins with a contrast, says what is not so, names an alternative …)
and is one feature, however many of its phrases occur: there is no weight per word. Each family has the phrase that
explains it, and the direction it may count in, so that a weight learned from few examples cannot turn a contrast
into consent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from handrail.learning.pushback_leads import leads_of, word_starts


class Cue(NamedTuple):
    """``sign`` is +1 (may only speak for a step-in) or -1 (only against). ``pattern`` is for text in lower case;
    one of ``leads`` begins its first word, whatever it matches (empty: not known).
    """

    name: str
    sign: int
    reason: str
    pattern: re.Pattern[str]
    leads: frozenset[str]


def cue(name: str, sign: int, reason: str, pattern: str) -> Cue:
    """A family whose ``pattern`` is written over several lines, in lower case."""
    return Cue(name, sign, reason, re.compile(pattern, re.VERBOSE), leads_of(name))


def spoken_of(cues: Iterable[Cue], text: str) -> list[Cue]:
    """Those of ``cues`` that occur in ``text``, which is in lower case."""
    starts = word_starts(text)
    return [cue for cue in cues if _occurs(cue, text, starts)]


def _occurs(cue: Cue, text: str, starts: Mapping[str, Sequence[int]]) -> bool:
    if not cue.leads:
        return cue.pattern.search(text) is not None
    match = cue.pattern.match
    for lead in cue.leads & starts.keys():
        for at in starts[lead]:
            if match(text, at):
                return True
    return False


_AUX_NOT = r"(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should|must)n['’]?t"
_BARE_NOT = r"(?:dont|doesnt|didnt|isnt|cant|wont|shouldnt|wasnt|arent|wouldnt|couldnt|havent|hasnt)"

FILLER = re.compile(
    r"""(?:(?:ok(?:ay)?|so|well|yeah|yes|yep|ah+|oh+|hm+|u+m+|e+h+|uh+|alright|all\ right|hey|and|please|pls|great|
    thanks|thank\ you|cool|good|nice|sorry|i\ (?:think|guess)|maybe|now|then|also|sure|perfect|q)\b[\s,.!:;…-]*)+""",
    re.VERBOSE,
)
"""What people say before they say something."""

OPENINGS = (
    cue(
        "opens_yes",
        -1,
        "it begins with a yes or a thank-you",
        r"""(?:y|ye[sp]?|yea[hp]?|yup|ok(?:ay)?|k|sure|great|perfect|nice|good|cool|thanks|thank\ you|awesome|
        excellent|lgtm|looks?\ good|sounds?\ good|go\ ahead|go\ for\ it|please\ do|continue|proceed|do\ (?:it|that|
        all|both)|absolutely|correct|right|exactly|agreed?|fine|love\ it|keep\ going|go\ on|resume|makes\ sense|
        approved?)\b""",
    ),
    cue(
        "opens_no",
        1,
        "it begins with a no or a stop",
        r"""(?:no|nope|nah|not|don['’]?t|do\ not|stop|wait|hold\ on|never\ ?mind|cancel|abort)\b(?!\s+(?:worries|
        problem))""",
    ),
    cue(
        "opens_doubting",
        1,
        "it begins with a hesitation",
        r"""(?:h+m+|u+h+|u+m+|e+r+m*|e+h+|u+gh+|a+r+g+h*|wtf|wth|fml|oops|whoa|yikes|huh|ouch|damn|shit|jeez|bah|
        \.\.+|…)(?=\W|$)|(?:oh\ (?:no|dear)|uh\ oh)\b""",
    ),
    cue(
        "opens_contrasting",
        1,
        "it begins with a contrast",
        rf"""(?:but|however|actually|instead|though|still|technically|i\ mean|except|hang\ on|rather|or\ is|
        the\ (?:thing|problem|issue)\ is|{_AUX_NOT}|{_BARE_NOT})\b""",
    ),
    cue(
        "opens_why",
        1,
        "it begins by asking why",
        r"(?:why|how\ come|what(?:['’]?s|\ is)\ the\ (?:point|reason)|what\ are\ you|what\ (?:happened|the))\b",
    ),
    cue("opens_what", -1, "it begins with an open question", r"(?:what|how|when|where|which|who|whats|wheres|hows)\b"),
    cue(
        "opens_is",
        -1,
        "it begins with a yes-or-no question",
        r"(?:is|are|do|does|did|was|were|will|would|should|has|have|had|could|can|am)\ (?!not\b)",
    ),
    cue("opens_request", -1, "it begins with a request", r"(?:can|could|would|will)\ (?:you|we|u|i)\b"),
    cue("opens_lets", -1, "it begins with a proposal", r"let['’]?s\b"),
    cue(
        "opens_next",
        -1,
        "it begins with what comes next",
        r"(?:next|now|then|also|and|one\ more|another|finally|after\ that)\b",
    ),
    cue(
        "opens_undo",
        1,
        "it begins by taking something back or changing it",
        r"""(?:remove|revert|undo|roll(?:ing)?\ ?back|put\ (?:it|that|this|them)?\ ?back|delete|drop|restore|reset|
        get\ rid|take\ out|rename|change|replace|move|switch|keep|leave|use|make|respond|simplify)\b""",
    ),
    cue(
        "opens_order",
        -1,
        "it begins with an order for new work",
        r"""(?:add|create|write|implement|build|generate|draft|design|document|set\ ?up|update|include|refactor|give|
        show|explain|tell|help|describe|summari[sz]e|list|open|start|investigate|read|find|look|review|check|verify|
        test|run|commit|push|merge|rebase|deploy|release|publish|tag|submit|reply|mark|log|plan|analy[sz]e|prepare|
        install)\b""",
    ),
    cue(
        "opens_i",
        1,
        "it begins with what the person sees or wants",
        r"(?:i|i['’]?[dm]|i['’]?ve|we|we['’]?(?:re|ve|d))\ ",
    ),
    cue("opens_you", 1, "it begins with what the agent did", r"(?:you|you['’]?re|you['’]?ve|your|u)\b"),
)
"""What the turn begins with, fillers aside."""

PHRASES = (
    cue(
        "says_not",
        1,
        "it says what is not so",
        rf"\b(?:not|never|no\ longer|cannot|without|nothing|none|neither)\b|\b{_AUX_NOT}\b|\b{_BARE_NOT}\b",
    ),
    cue(
        "says_not_working",
        1,
        "it says that something does not work or is not right",
        rf"""\b(?:{_AUX_NOT}|(?:do|does|did|is|are|was|were|has|have|can|could|would|will|should)\ not)
        (?:\ (?!(?:and|or|but|if|so|i|we|you|they)\b)\w+){{0,3}}?\ (?:work|show|
        appear|run|start|load|compile|build|pass|update|open|exist|seem|
        look|match|help|make\ sense|see|correct|right|enough|need|necessary|want|happen|respond|display|render|sav|
        chang|appl|trigger|fir)\w*|\bnot\ (?:working|correct|right|quite|what|good|useful|needed|necessary|really|
        true)\b|\bnot\ the\ (?:case|same|right|problem|issue)\b|\bno\ (?:good|need)\b|\bnothing\ (?:happen|chang|
        show)\w*|\bno\ (?:change|difference|effect)\b""",
    ),
    cue(
        "says_failed",
        1,
        "it reports a failure",
        r"""\b(?:fail(?:s|ed|ing|ure)?|errors?|broken?|broke|breaks|crash(?:es|ed|ing)?|panics?|bugs?|buggy|hang(?:s|
        ing)?|stuck|regress\w*|timed?\ ?out|exceptions?|blows?\ up|freezes?|flicker\w*)\b""",
    ),
    cue(
        "says_wrong",
        1,
        "it calls something wrong or missing",
        r"""\b(?:wrong|incorrect(?:ly)?|mistakes?|misleading|missing|missed|mismatch\w*|confus\w+|weird|odd|strange|
        ugly|yuck|bad|worse|useless|pointless|unnecessar\w+|redundant|duplicat\w+|overkill|over-?(?:\w+ed|
        complicat\w+)|nonsense|mess(?:ed|y)?|screwed|lost|forgot\w*|ignor(?:e[ds]?|ing)|inconsistent|outdated|stale|
        skeptical|unclear|disagree|lie|lying|hallucinat\w+|cut\ off|disappear\w*|vanish\w*|empty|silently)\b""",
    ),
    cue(
        "says_again",
        1,
        "it says that something goes on or comes back",
        r"\b(?:still|again|any\ ?more|keeps?|kept|yet)\b",
    ),
    cue(
        "says_undo",
        1,
        "it asks for something to be taken back",
        r"""\b(?:revert|undo|roll(?:ed|ing)?\ ?back|put\ (?:it|that|this|them)\ back|go(?:ing)?\ back|back\ to|
        restore|get\ rid\ of|take\ (?:it\ |that\ |this\ |them\ )?out|remove[ds]?|delete[ds]?|drop(?:ped)?|
        unnecessary)\b""",
    ),
    cue(
        "says_instead",
        1,
        "it names another way",
        r"""\b(?:instead|rather(?:\ than)?|should(?:n['’]?t)?\ (?:be|have|just|only|not)|better\ to|would\ be\ better|
        prefer(?:red|ably)?|(?:as|like)\ before|previous(?:ly)?|different(?:ly)?|why\ not|what\ about|how\ about|
        just\ use|use\ the|supposed\ to|needs?\ to\ be|has\ to\ be|must\ be)\b""",
    ),
    cue(
        "says_i_want",
        1,
        "it says what the person wants or meant",
        r"""\bi\ (?:want(?:ed)?|meant|said|asked|told|thought|expected|assumed|was\ (?:looking|hoping|thinking|
        expecting)|wish|prefer|would(?:\ have|n['’]?t)?\ (?:prefer|rather|like|expect)|did(?:n['’]?t|\ not)|
        do(?:n['’]?t|nt|\ not)\ (?:want|think|like|need|see|understand|get|believe|agree|know\ why))\b|
        \bi['’]?d\ (?:prefer|rather|like|expect)|\bnot\ what\ i\b|\bi\ mean\b""",
    ),
    cue(
        "says_i_think",
        1,
        "it gives the person's own opinion",
        r"""\bi\ (?:think|feel|wonder|suspect|believe)\b|\bi['’]?m\ (?:wondering|not\ sure|confused|worried)\b|
        \bfeels?\ like\b""",
    ),
    cue(
        "says_you_did",
        1,
        "it speaks of what the agent did",
        r"""\b(?:you|u)\ (?:\w+ed|did(?:n['’]?t)?|have(?:n['’]?t)?|were|weren['’]?t|are(?:n['’]?t)?|forgot|broke|
        wrote|made|put|took|left|lost|ran|just|keep|kept|got|never|only|also|don['’]?t|said)\b|\byou['’]?(?:re|ve)\b|
        \byour\b""",
    ),
    cue(
        "says_we_had",
        1,
        "it recalls what was there or agreed",
        r"""\b(?:we|i)\ (?:already|had|did|removed|added|decided|agreed|discussed|said|used\ to|changed)\b|
        \bwe['’]?(?:ve|d)\b|\bthere['’]?s\ already|\balready\ (?:have|has|had|exist|did|does|is|are)\w*""",
    ),
    cue("says_but", 1, "it holds a but", r"\b(?:but|however|though|although|except|whereas)\b"),
    cue(
        "says_actually",
        1,
        "it sets something straight",
        r"\b(?:actually|really|technically|basically|literally|genuinely|surely|obviously|clearly|in\ fact)\b",
    ),
    cue(
        "asks_negated",
        1,
        "it asks in the negative",
        rf"""\b{_AUX_NOT}\ (?:we|you|it|that|this|the|there|i|they)\b|\b(?:do|does|did|is|are|should|would|could|can|
        have)\ (?:we|you|it|i|they|that|this|there|the\ \w+)\ (?:not|even|really|actually|still|no)\b|
        \bare\ you\ sure\b|\bdo\ we\ (?:even|really)\b""",
    ),
    cue("asks_why", 1, "it asks why", r"\bwhy\b"),
    cue(
        "says_too",
        1,
        "it calls something too much or too little",
        r"\btoo\ \w+|\bto\ much\b|\bso\ (?:much|many|long|big|small)\b|\benough\b|\bsimpl(?:er|ify|ified)\b",
    ),
    cue("says_only", 1, "it narrows something down", r"\b(?:only|just)\b"),
    cue("says_should", 1, "it says what should be", r"\b(?:should|must|need(?:s|ed)?\ to|ha[sd]\ to|have\ to|ought)\b"),
    cue(
        "says_thanks",
        -1,
        "it praises or thanks",
        r"\b(?:thanks|thank\ you|nice|great|awesome|cool|perfect|love|well\ done|excellent|beautiful)\b",
    ),
    cue(
        "says_new_work",
        -1,
        "it asks for something new",
        r"""\b(?:new\ (?:branch|feature|task|file|pr|issue|tests?)|next\ (?:step|task|one|up)|another|follow[-\ ]?up|
        create\ an?|open\ an?\ (?:pr|issue)|let['’]?s\ (?:add|move|go|do|start))\b""",
    ),
    cue(
        "says_ship",
        -1,
        "it is about committing, merging or tickets",
        r"\b(?:commit|push|pr|prs|pull\ request|merge|rebase|branch|deploy|release|ticket|changelog)\b",
    ),
    cue("shows_dismay", 1, "it shows dismay", r":['-]?[(|/\\](?=\s|$)|[😭😬😡😠🤔😕😢🙁☹😞😤🤦🙄😅]|\?!|!\?|\?\?|!!"),
    cue(
        "swears",
        1,
        "it swears or scolds",
        r"""\b(?:fuck\w*|shit\w*|damn|wtf|wth|fml|ffs|hell|crap|stupid|idiot\w*|terrible|horrible|awful|sucks?|
        annoying)\b""",
    ),
)
"""What the turn says anywhere in its typed part."""
