"""Which families of phrases can occur in a text at all, by the first letters of its words.

A turn holds a few of some forty families. The words are looked up once, and a family is tried only where one of its
phrases can begin; trying all of them at every letter costs several times as much and finds the same.
"""

from __future__ import annotations

import re

_LETTERS = 3
_WORD = re.compile(rf"(\w{{1,{_LETTERS}}})\w*")


def word_starts(text: str) -> dict[str, list[int]]:
    """Where the words of ``text`` begin, by their first three letters (all of a shorter word)."""
    starts: dict[str, list[int]] = {}
    for word in _WORD.finditer(text):
        starts.setdefault(word[1], []).append(word.start())
    return starts


_LEADS = {
    "says_not": "are can cou did doe don had has hav isn mus nei nev no non not sho was wer wit won wou",
    "says_not_working": "are can cou did do doe don had has hav is isn mus no not sho was wer wil won wou",
    "says_failed": "blo bre bro bug cra err exc fai fli fre han pan reg stu tim",
    "says_wrong": (
        "bad con cut dis dup emp for hal ign inc lie los lyi mes mis non odd out ove poi red scr sil ske sta "
        "str ugl unc unn use van wei wor wro yuc"
    ),
    "says_again": "aga any kee kep sti yet",
    "says_undo": "bac del dro get go goi put rem res rev rol tak und unn",
    "says_instead": "as bet dif has how ins jus lik mus nee pre rat sho sup use wha why wou",
    "says_i_want": "i id not",
    "says_i_think": "fee i im",
    "says_you_did": "u you",
    "says_we_had": "alr i the we wed wev",
    "says_but": "alt but exc how tho whe",
    "says_actually": "act bas cle gen in lit obv rea sur tec",
    "asks_negated": "are can cou did do doe don had has hav is isn mus sho was wer won wou",
    "asks_why": "why",
    "says_too": "eno sim so to too",
    "says_only": "jus onl",
    "says_should": "had has hav mus nee oug sho",
    "says_thanks": "awe bea coo exc gre lov nic per tha wel",
    "says_new_work": "ano cre fol let new nex ope",
    "says_ship": "bra cha com dep mer pr prs pul pus reb rel tic",
    "swears": "ann awf cra dam ffs fml fuc hel hor idi shi stu suc ter wtf wth",
    "agent_asked_leave": "do hap if loo mak pro rea sha sho sou wan wou",
    "agent_offered_choice": "a b opt or pic pre tho wha whi",
    "agent_inquired": "can cou how let pas ple sen sha sho tel wha whe who",
    "agent_claimed_done": "add app com cre don fix gre imp mer pas pus rem ren res sho upd ver",
    "agent_asked_to_try": "ple re ref rel rer res run tes try you",
    "agent_conceded": "apo cru fai goo gre i imp is key my nic re rec ret sor tha val you",
    "agent_faulted_work": "bro bug doe don inc ine mis not ove red sho too unn",
    "agent_agreed": "abs agr ah ahh cor exa fai goo got gre i mak now of oh ok oka rig tha the tot tru und yea yep you",
    "agent_answered": "exc fai goo gre hon no sho yes",
    "agent_repaired": "doe i let sti the wro",
    "agent_looked": "i let",
    "agent_revised": "adj bet cle cor her let rev rew sim upd",
}


def leads_of(name: str) -> frozenset[str]:
    """How the first word of every phrase of the family ``name`` can begin; empty where it need not be a word."""
    return frozenset(_LEADS.get(name, "").split())
