"""Which of several rules made a moment go wrong: halves of them, with the owner's own rules in every arm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from handrail.learning.probes.ledger import Arm

Trying = Callable[[tuple[str, ...]], Awaitable[Arm]]
"""Goes through the moment with these learned rules, and always with the owner's, and says how it ended."""


class Charge(Struct, frozen=True, kw_only=True, gc=False):
    """The rule that is charged, None where none can be, and why; ``drives`` is how often the moment was gone
    through."""

    rule: str | None
    reason: str
    drives: int


async def charged(rules: Sequence[str], attempt: Trying) -> Charge:
    """The one rule without which the moment goes right: about ``2 log2(n)`` drives.

    Nothing is charged where it goes wrong without any learned rule, where it takes rules of both halves, or where an
    arm cannot be told.
    """
    drives = 0

    async def ends(part: Sequence[str]) -> Arm:
        nonlocal drives
        drives += 1
        return await attempt(tuple(part))

    def none(reason: str) -> Charge:
        return Charge(rule=None, reason=reason, drives=drives)

    alone = await ends(())
    if alone is not Arm.PASSED:
        wrong = "goes wrong without any learned rule" if alone is Arm.FAILED else "cannot be told without rules"
        return none(f"the moment {wrong}")
    if await ends(rules) is not Arm.FAILED:
        return none("the moment does not go wrong with all of the rules")
    suspects = tuple(rules)
    while len(suspects) > 1:
        middle = len(suspects) // 2
        halves = (suspects[:middle], suspects[middle:])
        for half in halves:
            ended = await ends(half)
            if ended is Arm.INCONCLUSIVE:
                return none("an arm could not be told")
            if ended is Arm.FAILED:
                suspects = half
                break
        else:
            return none("it takes rules of both halves")
    return Charge(rule=suspects[0], reason="the moment goes wrong with it alone", drives=drives)
