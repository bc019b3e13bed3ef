"""Who sits at this machine, for answers that carry a name."""

from __future__ import annotations

import getpass

from handrail.journal.vocabulary import Actor, ActorKind


def this_person() -> Actor:
    """The person whose account this process runs under; without a name where the system knows none.

    The name says who answered among people who trust one another's machines; it proves nothing to anybody else.
    """
    try:
        # The account, not what LOGNAME or USER say: those are anybody's to set.
        import os
        import pwd

        return Actor(ActorKind.PERSON, pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):
        return Actor(ActorKind.PERSON, _from_environment())


def _from_environment() -> str | None:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return None
