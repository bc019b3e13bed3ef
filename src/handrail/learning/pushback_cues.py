"""What people and models say when work is pushed back on, as small families of English phrases.

A family stands for one thing a speaker does (begins with a contrast, says what is not so, names an alternative …)
and is one feature, however many of its phrases occur: there is no weight per word. Each family has the phrase that
explains it, and the direction it may count in, so that a weight learned from few examples cannot turn a contrast
into consent.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Cue(NamedTuple):
    """``sign`` is +1 (may only speak for a step-in), -1 (only against) or 0 (either)."""

    name: str
    sign: int
    reason: str
    pattern: re.Pattern[str]


def _cue(name: str, sign: int, reason: str, pattern: str) -> Cue:
    return Cue(name, sign, reason, re.compile(pattern, re.IGNORECASE | re.VERBOSE))


_NT = r"n['’]?t"
_AUX_NOT = rf"(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should|must){_NT}"

FILLER = re.compile(
    r"(?:(?:ok(?:ay)?|so|well|yeah|yes|yep|ah+|oh+|hm+|u+m+|e+h+|uh+|alright|all\ right|hey|and|please|pls|great|thanks|"
    r"thank\ you|cool|good|nice|sorry|i\ (?:think|guess)|maybe|now|then|also|sure|perfect|q)\b[\s,.!:;…-]*)+",
    re.IGNORECASE | re.VERBOSE,
)
"""What people say before they say something."""

OPENINGS = (
    _cue(
        "opens_yes",
        -1,
        "it begins with a yes or a thank-you",
        r"""(?:y|ye[sp]?|yea[hp]?|yup|ok(?:ay)?|k|sure|great|perfect|nice|good|cool|thanks|thank\ you|awesome|excellent|
        lgtm|looks?\ good|sounds?\ good|go\ ahead|go\ for\ it|please\ do|continue|proceed|do\ (?:it|that|all|both)|
        absolutely|correct|right|exactly|agreed?|fine|love\ it|keep\ going|go\ on|resume|makes\ sense|approved?)\b""",
    ),
    _cue(
        "opens_no",
        1,
        "it begins with a no or a stop",
        r"(?:no|nope|nah|not|don['’]?t|do\ not|stop|wait|hold\ on|never\ ?mind|cancel|abort)\b(?!\s+(?:worries|problem))",
    ),
    _cue(
        "opens_doubting",
        1,
        "it begins with a hesitation",
        r"(?:h+m+|u+h+|u+m+|e+r+m*|e+h+|u+gh+|a+r+g+h*|wtf|wth|fml|oops|whoa|yikes|huh|ouch|damn|shit|jeez|bah|\.\.+|…)"
        r"(?=\W|$)|(?:oh\ (?:no|dear)|uh\ oh)\b",
    ),
    _cue(
        "opens_contrasting",
        1,
        "it begins with a contrast",
        rf"""(?:but|however|actually|instead|though|still|technically|i\ mean|except|hang\ on|rather|or\ is|
        the\ (?:thing|problem|issue)\ is|{_AUX_NOT}|isnt|arent|doesnt|dont|didnt|shouldnt|wouldnt|cant|couldnt|wasnt)\b""",
    ),
    _cue(
        "opens_why",
        1,
        "it begins by asking why",
        r"(?:why|how\ come|what(?:['’]?s|\ is)\ the\ (?:point|reason)|what\ are\ you|what\ (?:happened|the))\b",
    ),
    _cue("opens_what", -1, "it begins with an open question", r"(?:what|how|when|where|which|who|whats|wheres|hows)\b"),
    _cue(
        "opens_is",
        -1,
        "it begins with a yes-or-no question",
        r"(?:is|are|do|does|did|was|were|will|would|should|has|have|had|could|can|am)\ (?!not\b)",
    ),
    _cue("opens_request", -1, "it begins with a request", r"(?:can|could|would|will)\ (?:you|we|u|i)\b"),
    _cue("opens_lets", -1, "it begins with a proposal", r"let['’]?s\b"),
    _cue(
        "opens_next",
        -1,
        "it begins with what comes next",
        r"(?:next|now|then|also|and|one\ more|another|finally|after\ that)\b",
    ),
    _cue(
        "opens_undo",
        1,
        "it begins by taking something back or changing it",
        r"""(?:remove|revert|undo|roll(?:ing)?\ ?back|put\ (?:it|that|this|them)?\ ?back|delete|drop|restore|reset|get\ rid|
        take\ out|rename|change|replace|move|switch|keep|leave|use|make|respond|simplify)\b""",
    ),
    _cue(
        "opens_order",
        -1,
        "it begins with an order for new work",
        r"""(?:add|create|write|implement|build|generate|draft|design|document|set\ ?up|update|include|refactor|give|show|
        explain|tell|help|describe|summari[sz]e|list|open|start|investigate|read|find|look|review|check|verify|test|run|
        commit|push|merge|rebase|deploy|release|publish|tag|submit|reply|mark|log|plan|analy[sz]e|prepare|install)\b""",
    ),
    _cue(
        "opens_i",
        1,
        "it begins with what the person sees or wants",
        r"(?:i|i['’]?[dm]|i['’]?ve|we|we['’]?(?:re|ve|d))\ ",
    ),
    _cue(
        "opens_it",
        0,
        "it begins with a statement on something",
        r"(?:it|it['’]?s|this|that|that['’]?s|these|those|there|there['’]?s|the|they)\b",
    ),
    _cue("opens_you", 1, "it begins with what the agent did", r"(?:you|you['’]?re|you['’]?ve|your|u)\b"),
)
"""What the turn begins with, fillers aside."""

PHRASES = (
    _cue(
        "says_not",
        1,
        "it says what is not so",
        rf"\b(?:not|never|no\ longer|cannot|without|nothing|none|neither)\b|\b{_AUX_NOT}\b"
        r"|\b(?:dont|doesnt|didnt|isnt|cant|wont|shouldnt|wasnt|arent|wouldnt|couldnt|havent|hasnt)\b",
    ),
    _cue(
        "says_not_working",
        1,
        "it says that something does not work or is not right",
        r"""\b(?:do|does|did|is|are|was|were|has|have|ca|could|would|wo|should)(?:n['’]?t|\ not)(?:\ \w+){0,3}?\ (?:work|show|appear|
        run|start|load|compile|build|pass|update|open|exist|seem|look|match|help|make\ sense|see|correct|right|enough|need|necessary|
        want|happen|respond|display|render|sav|chang|apply|appl|trigger|fir)\w*
        |\bnot\ (?:working|correct|right|quite|what|good|useful|needed|necessary|really|true|the\ (?:case|same|right|problem|issue))\b
        |\bno\ (?:good|need)\b|\bnothing\ (?:happen|chang|show)\w*|\bno\ (?:change|difference|effect)\b""",
    ),
    _cue(
        "says_failed",
        1,
        "it reports a failure",
        r"\b(?:fail(?:s|ed|ing|ure)?|errors?|broken?|broke|breaks|crash(?:es|ed|ing)?|panics?|bugs?|buggy|hang(?:s|ing)?|stuck|"
        r"regress\w*|timed?\ ?out|exceptions?|blows?\ up|freezes?|flicker\w*)\b",
    ),
    _cue(
        "says_wrong",
        1,
        "it calls something wrong or missing",
        r"""\b(?:wrong|incorrect(?:ly)?|mistakes?|misleading|missing|missed|mismatch\w*|confus\w+|weird|odd|strange|ugly|yuck|bad|
        worse|useless|pointless|unnecessar\w+|redundant|duplicat\w+|overkill|over-?(?:\w+ed|complicat\w+)|nonsense|mess(?:ed|y)?|
        screwed|lost|forgot\w*|ignor(?:e[ds]?|ing)|inconsistent|outdated|stale|skeptical|unclear|disagree|lie|lying|hallucinat\w+|
        cut\ off|disappear\w*|vanish\w*|empty|silently)\b""",
    ),
    _cue("says_problem", 1, "it names a problem", r"\b(?:issue|problem|concern|trouble|limitation)s?\b"),
    _cue(
        "says_again",
        1,
        "it says that something goes on or comes back",
        r"\b(?:still|again|any\ ?more|keeps?|kept|yet)\b",
    ),
    _cue(
        "says_undo",
        1,
        "it asks for something to be taken back",
        r"""\b(?:revert|undo|roll(?:ed|ing)?\ ?back|put\ (?:it|that|this|them)\ back|go(?:ing)?\ back|back\ to|restore|get\ rid\ of|
        take\ (?:it\ |that\ |this\ |them\ )?out|remove[ds]?|delete[ds]?|drop(?:ped)?|unnecessary)\b""",
    ),
    _cue(
        "says_instead",
        1,
        "it names another way",
        r"""\b(?:instead|rather(?:\ than)?|should(?:n['’]?t)?\ (?:be|have|just|only|not)|better\ to|would\ be\ better|prefer(?:red|ably)?|
        (?:as|like)\ before|previous(?:ly)?|different(?:ly)?|why\ not|what\ about|how\ about|just\ use|use\ the|
        supposed\ to|needs?\ to\ be|has\ to\ be|must\ be)\b""",
    ),
    _cue(
        "says_i_want",
        1,
        "it says what the person wants or meant",
        r"""\bi\ (?:want(?:ed)?|meant|said|asked|told|thought|expected|assumed|was\ (?:looking|hoping|thinking|expecting)|wish|prefer|
        would(?:\ have|n['’]?t)?\ (?:prefer|rather|like|expect)|did(?:n['’]?t|\ not)|do(?:n['’]?t|nt|\ not)\ (?:want|think|like|need|see|
        understand|get|believe|agree|know\ why))\b|\bi['’]?d\ (?:prefer|rather|like|expect)|\bnot\ what\ i\b|\bi\ mean\b""",
    ),
    _cue(
        "says_i_think",
        1,
        "it gives the person's own opinion",
        r"\bi\ (?:think|feel|wonder|suspect|believe)\b|\bi['’]?m\ (?:wondering|not\ sure|confused|worried)\b|\bfeels?\ like\b",
    ),
    _cue(
        "says_i_see",
        1,
        "it says what the person saw",
        r"""\bi\ (?:see|saw|get|got|notice[ds]?|still|only|just)\b|\bi['’]?m\ (?:seeing|getting|still)\b|\bwe(?:['’]?re)?\ (?:see|get|got|still|
        (?:are\ )?(?:seeing|getting))\b|\b(?:it|this|that|he|she)\ (?:says|shows|said|asks|gives|prints|throws|returns|looks|just|only|
        doesn|didn|isn|wasn|always|never|keeps?)""",
    ),
    _cue(
        "says_you_did",
        1,
        "it speaks of what the agent did",
        r"""\b(?:you|u)\ (?:\w+ed|did(?:n['’]?t)?|have(?:n['’]?t)?|were|weren['’]?t|are(?:n['’]?t)?|forgot|broke|wrote|made|put|took|left|
        lost|ran|just|keep|kept|got|never|only|also|don['’]?t|said)\b|\byou['’]?(?:re|ve)\b|\byour\b""",
    ),
    _cue(
        "says_we_had",
        1,
        "it recalls what was there or agreed",
        r"""\b(?:we|i)\ (?:already|had|did|removed|added|decided|agreed|discussed|said|used\ to|changed)\b|\bwe['’]?(?:ve|d)\b|
        \bthere['’]?s\ already|\balready\ (?:have|has|had|exist|did|does|is|are)\w*""",
    ),
    _cue("says_but", 1, "it holds a but", r"\b(?:but|however|though|although|except|whereas)\b"),
    _cue(
        "says_actually",
        1,
        "it sets something straight",
        r"\b(?:actually|really|technically|basically|literally|genuinely|surely|obviously|clearly|in\ fact)\b",
    ),
    _cue(
        "asks_negated",
        1,
        "it asks in the negative",
        r"""\b(?:isn|aren|don|doesn|didn|shouldn|wouldn|couldn|can|won|haven|hasn|wasn)['’]?t\ (?:we|you|it|that|this|the|there|i|they)\b
        |\b(?:do|does|did|is|are|should|would|could|can|have)\ (?:we|you|it|i|they|that|this|there|the\ \w+)\ (?:not|even|really|actually|still|no)\b
        |\bare\ you\ sure\b|\bdo\ we\ (?:even|really)\b""",
    ),
    _cue("asks_why", 1, "it asks why", r"\bwhy\b"),
    _cue("asks_tag", 0, "it asks for agreement", r",?\ (?:right|no|yeah|correct|hey)\s*\?"),
    _cue(
        "says_too",
        1,
        "it calls something too much or too little",
        r"\btoo\ \w+|\bto\ much\b|\bso\ (?:much|many|long|big|small)\b|\benough\b|\bsimpl(?:er|ify|ified)\b",
    ),
    _cue("says_only", 1, "it narrows something down", r"\b(?:only|just)\b"),
    _cue(
        "says_should", 1, "it says what should be", r"\b(?:should|must|need(?:s|ed)?\ to|ha[sd]\ to|have\ to|ought)\b"
    ),
    _cue(
        "cites_review",
        0,
        "it passes on somebody's review",
        r"\b(?:feedback|review(?:er|ers)?\ (?:said|comments?)|consider\ |complain\w*|bugbot|coderabbit)\b",
    ),
    _cue("says_if", 0, "it supposes a case", r"\b(?:if|when|case|scenario|e\.g\.|for\ example)\b"),
    _cue("says_please", 0, "it says please", r"\b(?:please|pls|plz)\b"),
    _cue(
        "says_thanks",
        -1,
        "it praises or thanks",
        r"\b(?:thanks|thank\ you|nice|great|awesome|cool|perfect|love|well\ done|excellent|beautiful)\b",
    ),
    _cue(
        "says_new_work",
        -1,
        "it asks for something new",
        r"\b(?:new\ (?:branch|feature|task|file|pr|issue|test)|next|another|follow[-\ ]?up|create|implement|open\ a|start|let['’]?s\ (?:add|move|go|do|start))\b",
    ),
    _cue(
        "says_ship",
        -1,
        "it is about committing, merging or tickets",
        r"\b(?:commit|push|pr|prs|pull\ request|merge|rebase|branch|deploy|release|ticket|changelog)\b",
    ),
    _cue("shows_dismay", 1, "it shows dismay", r":['-]?[(|/\\](?=\s|$)|[😭😬😡😠🤔😕😢🙁☹😞😤🤦🙄😅]|\?!|!\?|\?\?|!!"),
    _cue(
        "swears",
        1,
        "it swears or scolds",
        r"\b(?:fuck\w*|shit\w*|damn|wtf|wth|fml|ffs|hell|crap|stupid|idiot\w*|terrible|horrible|awful|sucks?|annoying)\b",
    ),
    _cue(
        "says_sorry",
        0,
        "the person corrects themselves",
        r"\b(?:sorry|my\ (?:bad|mistake)|i\ messed|mis-?typed?|typo)\b",
    ),
)
"""What the turn says anywhere in its typed part."""

BEFORE = (
    _cue(
        "agent_asked_leave",
        -1,
        "the agent had asked for leave to go on",
        r"(?:want\ me\ to|shall\ i|should\ i|would\ you\ like|do\ you\ want|ready\ to|proceed\?|sound\ good|looks?\ (?:right|good|ok)|make\ sense\?|happy\ to|if\ you\ (?:want|like))",
    ),
    _cue(
        "agent_offered_choice",
        -1,
        "the agent had offered a choice",
        r"which\ (?:one|approach|option|would|do|of|way|\w+)\b[^\n]{0,60}\?|\bprefer|\boption\ (?:a|b|1|2)\b|(?:^|\n)\s*(?:[-*]\s*)?(?:\*\*)?(?:a|b)\)"
        r"|\bor\b[^\n.?]{0,60}\?|what(?:['’]s|\ is)\ your|thoughts\?|\bpick\ (?:one|a)",
    ),
    _cue(
        "agent_claimed_done",
        1,
        "the agent had said that it was done",
        r"\b(?:done|fixed|updated|committed|pushed|implemented|completed?|created|added|removed|renamed|applied|pass(?:es|ed|ing)|green|merged|verified|resolved|should\ now)\b",
    ),
    _cue(
        "agent_asked_to_try",
        1,
        "the agent had asked the person to try it",
        r"\b(?:try|re-?run|run\ (?:it|this|again|the)|test\ it|you\ can\ (?:now|test|run|try)|reload|restart|refresh|please\ (?:run|test|check))\b",
    ),
    _cue(
        "agent_was_unsure",
        0,
        "the agent had been unsure",
        r"\b(?:might|may|likely|probably|i\ think|perhaps|could\ be|suspect)\b",
    ),
    _cue(
        "agent_broke_off",
        0,
        "the agent's answer had failed",
        r"api\ error|no\ response\ requested|please\ run\ /login|rate\ limit|request\ timed\ out",
    ),
)
"""What the agent had said last."""

AFTER = (
    _cue(
        "agent_conceded",
        1,
        "the agent conceded the point",
        r"""you(?:['’]|\ a)?re\ (?:\w+\ )?(?:right|correct)|(?:good|great|nice)\ (?:catch|point|eye|spot)|fair\ (?:point|enough|pushback|catch)|
        my\ (?:mistake|bad|apolog|error|fault)|apolog|\bsorry\b|i\ (?:misread|misunderstood|missed|overlooked|was\ (?:wrong|sloppy|too)|made\ a|
        forgot|conflated|over\w+ed|should(?:['’]?ve|\ have|n['’]?t))|i\ see\ the\ (?:issue|problem|mismatch|bug|confusion)|valid\ point|
        that(?:['’]s|\ was)\ (?:wrong|a\ mistake|on\ me)""",
    ),
    _cue(
        "agent_agreed",
        1,
        "the agent agreed to do it another way",
        r"""^(?:correct|exactly|agreed|understood|got\ it|makes\ sense|totally|absolutely|ah+|oh|right|yep|yeah|fair|true|of\ course|ok(?:ay)?)\b|
        \b(?:good|great)\ (?:call|instinct|thinking|idea|observation)|that\ makes\ (?:more\ )?sense|now\ i\ (?:see|understand)|i\ see\b|
        (?:your|the)\ instinct|that\ (?:reframes|clarif|changes)""",
    ),
    _cue(
        "agent_answered",
        -1,
        "the agent took it for a question",
        r"(?:good|great|excellent|fair)\ question|^(?:yes|no|short\ answer|honest(?:ly| answer)?)\b[ ,:—-]",
    ),
    _cue(
        "agent_repaired",
        1,
        "the agent set out to repair something",
        r"""the\ (?:issue|problem|bug|error|failure|root\ cause|fix)\ (?:is|was|here)|(?:let\ me|i(?:['’]|\ wi)ll|i(?:['’]|\ a)m)\ (?:now\ )?(?:fix|revert|undo|restor|
        correct|adjust|chang|simplif|remov|switch|mak|updat|replac|rework|tighten|harden)\w*|\bwrong\b|\bstill\b|doesn['’]t\ work""",
    ),
    _cue(
        "agent_looked",
        -1,
        "the agent went to look at something",
        r"(?:let\ me|i(?:['’]|\ wi)ll)\ (?:first\ )?(?:check|look|see|investigate|find|read|verify|dig|trace|examine|search|get|fetch|pull|review|explore|start)",
    ),
    _cue(
        "agent_reported",
        -1,
        "the agent simply did it",
        r"^(?:done|committed|pushed|updated|created|all\ |applied|merged|pr\ |added|here['’]?s|here\ (?:is|are))",
    ),
)
"""What the agent said next."""
