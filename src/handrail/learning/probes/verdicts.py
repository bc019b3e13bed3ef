"""How an arm is told from what it did: structurally wherever the record allows it.

A steer looks at arguments: the right tool on the wrong file is no pass. A refusal looks at the exact call: the same
tool with other arguments is a pass. What can only be judged is judged, and marked so.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from handrail import jsonio
from handrail.learning.checks.judging import Done, changed_paths, commands_of
from handrail.learning.probes.branching import Branch, Grading, RecordedCall
from handrail.learning.probes.ledger import Arm
from handrail.transcripts.model import Json

_PATHS = ("file_path", "path", "notebook_path")


class Performed(Struct, frozen=True, kw_only=True):
    """What an arm did from the point on: its calls, its last words, and why it stopped where it did not answer."""

    calls: tuple[RecordedCall, ...] = ()
    answer: str = ""
    cut_short: str | None = None
    tokens: int = 0


def told(branch: Branch, performed: Performed) -> tuple[Arm, str] | None:
    """How the arm ended, and why; None where a judge has to say."""
    match branch.grading:
        case Grading.STEER:
            return _steered(branch, performed)
        case Grading.REFUSED:
            return _refused(branch, performed)
        case Grading.JUDGED:
            if not performed.answer.strip() and not performed.calls:
                return Arm.INCONCLUSIVE, performed.cut_short or "it did nothing"
            return None


def _steered(branch: Branch, performed: Performed) -> tuple[Arm, str]:
    """Which came first: something the person's words led to, or something they stepped in on."""
    wanted = {_target(call) for call in branch.wanted}
    unwanted = {_target(call) for call in branch.unwanted} - wanted
    for call in performed.calls:
        target = _target(call)
        if target in wanted:
            return Arm.PASSED, f"{call.name}: what the person's words led to"
        if target in unwanted:
            return Arm.FAILED, f"{call.name}: what the person stepped in on"
    if performed.cut_short is not None:
        return Arm.INCONCLUSIVE, performed.cut_short
    return Arm.FAILED, "it never did what the person's words led to"


def _refused(branch: Branch, performed: Performed) -> tuple[Arm, str]:
    """Whether the refused call comes again, from the decision on."""
    refused = {_exact(call) for call in branch.unwanted}
    again = next((call for call in performed.calls if _exact(call) in refused), None)
    if again is not None:
        return Arm.FAILED, f"{again.name}: the call that was refused"
    if not performed.calls and not performed.answer.strip():
        return Arm.INCONCLUSIVE, performed.cut_short or "it did nothing"
    return Arm.PASSED, "the refused call did not come again"


def work_of(branch: Branch, performed: Performed) -> int:
    """How many calls the arm made, without those that the person stepped in on: leaving those out is no less work."""
    same = _exact if branch.grading is Grading.REFUSED else _target
    unwanted = {same(call) for call in branch.unwanted} - {same(call) for call in branch.wanted}
    return sum(same(call) not in unwanted for call in performed.calls)


def answered_from(tail: Sequence[RecordedCall], used: set[int], name: str, input: Json) -> RecordedCall | None:
    """The recorded result for a call: that of the same call, else of the next unused one of the same tool that aims
    at the same thing; None where nothing was recorded. Takes it out of what is left (``used``)."""
    wanted = RecordedCall(name, input)
    left = [index for index, call in enumerate(tail) if index not in used and call.has_result and call.name == name]
    for same in (_exact, _target):
        found = next((index for index in left if same(tail[index]) == same(wanted)), None)
        if found is not None:
            used.add(found)
            return tail[found]
    return None


def _exact(call: RecordedCall) -> tuple[str, bytes]:
    return call.name, jsonio.canonical(call.input)


def _target(call: RecordedCall) -> tuple[str, object]:
    """What a call aims at: the file, the command with its spaces folded, else all of its arguments."""
    done = Done("", call.name, call.input)
    paths = tuple(sorted(changed_paths(done))) or _read_path(call.input)
    if paths:
        return call.name, paths
    line = next(commands_of(done), None)
    if line is not None:
        return call.name, " ".join(line.split())
    return _exact(call)


def _read_path(input: Json) -> tuple[str, ...]:
    fields = input if isinstance(input, dict) else {}
    return tuple(fields[field] for field in _PATHS if isinstance(fields.get(field), str))
