"""What a person said of a moment afterwards: yes, that was a step-in, or no, it was not. Their word is final.

Kept as one JSON object a line, the last word on a moment counting, so that the file can be read, edited and merged by
hand. A line that is torn or is no correction costs itself only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.learning.moment import Intervention

MARKED_YES = "you marked it as a step-in"
MARKED_NO = "you marked it as no step-in"


class Correction(Struct, frozen=True, kw_only=True, gc=False):
    """``moment`` is the moment's id; ``at`` (aware UTC) is when the person said so."""

    moment: str
    is_stepin: bool
    at: datetime


def parse_corrections(data: bytes) -> dict[str, Correction]:
    """The last correction of each moment; lines that hold none are left out."""
    found: dict[str, Correction] = {}
    for line in data.split(b"\n"):
        try:
            correction = msgspec.json.decode(line, type=Correction)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if correction.at.tzinfo is not None:
            found[correction.moment] = correction
    return found


def render_correction(correction: Correction) -> bytes:
    """Its line, with the line feed."""
    return jsonio.encode(correction) + b"\n"


def corrected(moments: Iterable[Intervention], corrections: Mapping[str, Correction]) -> tuple[Intervention, ...]:
    """``moments``, with ``is_stepin`` as the person marked it where they did."""
    return tuple(_corrected(moment, corrections.get(moment.id)) for moment in moments)


def _corrected(moment: Intervention, correction: Correction | None) -> Intervention:
    if correction is None:
        return moment
    reason = MARKED_YES if correction.is_stepin else MARKED_NO
    return msgspec.structs.replace(moment, is_stepin=correction.is_stepin, reasons=(reason, *moment.reasons))
