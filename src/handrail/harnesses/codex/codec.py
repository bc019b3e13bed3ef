"""The codec of Codex: rollout bytes to the canonical model and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from handrail.errors import MalformedSession
from handrail.harnesses.codex.bare import BARE_STARTS, peeked
from handrail.harnesses.codex.children import find_children
from handrail.harnesses.codex.crop import crop_rollout
from handrail.harnesses.codex.native import Rollout
from handrail.harnesses.codex.wire import STARTS
from handrail.harnesses.codex.writing import Writer
from handrail.harnesses.families.streaming import scan
from handrail.transcripts.codec import Branch, Child, Fault, Loss, Parts, Record
from handrail.transcripts.model import Common, Transcript
from handrail.transcripts.spans import Span


class CodexCodec:
    """Fulfils ``handrail.transcripts.codec.Codec``."""

    def parse(self, data: Parts | bytes) -> Transcript[Rollout]:
        rollout = Rollout(data)
        return Transcript(rollout.meta, rollout)

    def extend(self, native: Transcript[Rollout], more: bytes) -> Transcript[Rollout]:
        """What ``parse`` gives for a session of one file with the whole lines ``more`` appended."""
        rows = native.body.grown_rows(more)
        rollout = Rollout(rows.data, {"": rows})
        return Transcript(rollout.meta, rollout)

    def render(self, native: Transcript[Rollout]) -> Parts | bytes:
        return native.body.given

    def scan(self, chunks: Iterable[bytes]) -> Iterator[Record]:
        is_bare, stream = peeked(chunks)
        return scan(stream, BARE_STARTS if is_bare else STARTS)

    def to_common(self, native: Transcript[Rollout], branch: str | None = None) -> Transcript[Common]:
        body = native.body.lines.body()
        if branch is not None:
            found = next((line for line in self.branches(native) if line.id == branch), None)
            if found is None:
                raise MalformedSession(f"the session has no branch {branch[:80]!r}")
            body = (*body[: found.at], *found.body)
        return Transcript(native.meta, body)

    def from_common(self, common: Transcript[Common]) -> Transcript[Rollout]:
        return _native(common, Writer(common).finish())

    def write(self, common: Transcript[Common]) -> tuple[Transcript[Rollout], Loss]:
        writer = Writer(common)
        return _native(common, writer.finish()), writer.loss()

    def branches(self, native: Transcript[Rollout]) -> tuple[Branch, ...]:
        lines = native.body.lines
        found: list[Branch] = []
        for left in lines.left:
            at, body = lines.own(left)
            if body:
                found.append(Branch(id=body[0].uid, at=at, body=body))
        return tuple(sorted(found, key=lambda branch: branch.at))

    def children(self, native: Transcript[Rollout]) -> tuple[Child, ...]:
        return find_children(native.body.main.rows)

    def crop(self, native: Transcript[Rollout], spans: Sequence[Span]) -> Transcript[Rollout]:
        data = crop_rollout(native.body, spans)
        given = native.body.given
        return self.parse(data if isinstance(given, bytes) else {**given, native.body.part: data})

    def faults(self, native: Transcript[Rollout]) -> tuple[Fault, ...]:
        return tuple(fault for part in native.body.parts for fault in native.body.rows(part).faults)

    def unknown(self, native: Transcript[Rollout]) -> Mapping[str, int]:
        return native.body.unknown()


def _native(common: Transcript[Common], data: bytes) -> Transcript[Rollout]:
    return Transcript(msgspec.structs.replace(common.meta, harness="codex", parent=None), Rollout(data))
