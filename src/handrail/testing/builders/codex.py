"""Codex rollouts as Codex 0.142 writes them.

Facts behind it: two logs stand in one file, ``response_item`` (what the model sees) and ``event_msg`` (what the
screen shows); a typed text is an item whose very next line is an equal ``user_message`` event; a second one in an
open turn is a steer; an aborted turn leaves an item and an event; what the harness says to the model has no event.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from handrail import jsonio
from handrail.testing.builders.ticking import Ticking

Row = dict[str, Any]

_ABORTED = (
    "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still "
    "be running in the background.\n</turn_aborted>"
)
_EXEC_REJECTED = "exec command rejected by user"
_PATCHED = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM {path}\n"


class CodexSession:
    """One ``rollout-….jsonl`` in the making. Calls are named by short names of your own."""

    def __init__(
        self,
        session_id: str,
        cwd: str,
        start: datetime,
        *,
        branch: str = "main",
        version: str = "0.142.4",
        model: str = "gpt-5.5",
        step_s: float = 4,
        forked_from: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.start = start
        self.cwd = cwd
        self.model = model
        self.rows: list[Row] = []
        self._ticking = Ticking(session_id, start, step_s)
        self._turn = ""
        self._spent = 0
        meta = {"id": session_id, "cwd": cwd, "originator": "codex-tui", "cli_version": version, "source": "cli"}
        if forked_from is not None:
            meta["forked_from_id"] = forked_from
        git = {"commit_hash": self._ticking.uuid().replace("-", "") + "0" * 8, "branch": branch}
        self._row("session_meta", {**meta, "timestamp": self._ticking.tick(), "model_provider": "openai", "git": git})

    def render(self) -> bytes:
        """The bytes of the file."""
        return b"".join(jsonio.encode(row) + b"\n" for row in self.rows)

    def inherit(self, parent: CodexSession) -> None:
        """Copy the history of ``parent`` as a fork does: all its lines, in one burst of one instant."""
        instant = self._ticking.tick()
        self.rows += [{**row, "timestamp": instant} for row in parent.rows]
        self._turn = parent._turn

    @property
    def file_name(self) -> str:
        """The path below the sessions folder, as Codex names it."""
        return f"{self.start:%Y/%m/%d}/rollout-{self.start:%Y-%m-%dT%H-%M-%S}-{self.session_id}.jsonl"

    def call_id(self, name: str) -> str:
        """The ``call_id`` behind the short name of a call."""
        return self._ticking.named("call_", name)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._ticking.wait(seconds)

    # What a person does --------------------------------------------------------------------------------------

    def prompt(self, words: str) -> None:
        """A prompt that opens a turn."""
        is_first = not self._turn
        self._turn = self._ticking.uuid()
        self._event("task_started", turn_id=self._turn, model_context_window=258_400)
        if is_first:
            self._message(
                "user", "input_text", f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n</environment_context>"
            )
        self._row("turn_context", {"turn_id": self._turn, "cwd": self.cwd, "model": self.model, "summary": "auto"})
        self._typed(words)

    def steer(self, words: str) -> None:
        """Words typed into the open turn."""
        self._typed(words)

    def reject(self, name: str, command: str) -> None:
        """A command the person refuses to let run."""
        self._call(name, "exec_command", {"cmd": command, "sandbox_permissions": "require_escalated"})
        self._output(name, _EXEC_REJECTED)

    def abort(self) -> None:
        """The person stops the turn."""
        self._message("user", "input_text", _ABORTED)
        self._event("turn_aborted", turn_id=self._turn, reason="interrupted")

    def roll_back(self, turns: int) -> None:
        """The person takes the last ``turns`` back."""
        self._event("thread_rolled_back", num_turns=turns)

    # What the model and the harness do -----------------------------------------------------------------------

    def think(self, summary: str) -> None:
        """Reasoning: a summary, and the whole of it encrypted."""
        self._event("agent_reasoning", text=summary)
        parts = [{"type": "summary_text", "text": summary}]
        reasoning = {"type": "reasoning", "id": self._ticking.named("rs_", str(len(self.rows))), "summary": parts}
        self._item({**reasoning, "encrypted_content": "RXhhbXBsZQ=="})

    def say(self, words: str, *, phase: str = "commentary") -> None:
        """Words of the model."""
        self._event("agent_message", message=words, phase=phase)
        self._message("assistant", "output_text", words, phase=phase)

    def shell(self, name: str, command: str, output: str, code: int = 0) -> None:
        """A command and what it printed."""
        self._call(name, "exec_command", {"cmd": command, "workdir": self.cwd})
        head = f"Chunk ID: {self.call_id(name)[5:11]}\nWall time: 0.1 seconds\nProcess exited with code {code}\n"
        self._output(name, f"{head}Original token count: {len(output) // 4}\nOutput:\n{output}")
        self._tokens()

    def patch(self, name: str, path: str, old: str, new: str) -> None:
        """One line of a file replaced by ``apply_patch``."""
        text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
        call = {"type": "custom_tool_call", "status": "completed", "call_id": self.call_id(name), "name": "apply_patch"}
        self._item({**call, "input": text})
        output = _PATCHED.format(path=path)
        self._item({"type": "custom_tool_call_output", "call_id": self.call_id(name), "output": output})
        self._tokens()

    def finish(self, words: str) -> None:
        """The model's last words of the turn, and its end."""
        self.say(words, phase="final_answer")
        self._tokens()
        self._event("task_complete", turn_id=self._turn, last_agent_message=words)

    def compact(self, kept: str) -> None:
        """The context is replaced: the words a person said stay, the rest is encrypted."""
        history = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": kept}]},
            {"type": "compaction", "encrypted_content": "RXhhbXBsZQ=="},
        ]
        self._row("compacted", {"message": "", "replacement_history": history})
        self._event("context_compacted")

    # Rows ----------------------------------------------------------------------------------------------------

    def _typed(self, words: str) -> None:
        self._message("user", "input_text", words)
        self._event("user_message", message=words, images=[], local_images=[], text_elements=[])

    def _call(self, name: str, tool: str, arguments: Row) -> None:
        spelled = jsonio.encode(arguments).decode()
        self._item({"type": "function_call", "name": tool, "arguments": spelled, "call_id": self.call_id(name)})

    def _output(self, name: str, output: str) -> None:
        self._item({"type": "function_call_output", "call_id": self.call_id(name), "output": output})

    def _message(self, role: str, kind: str, words: str, **more: str) -> None:
        self._item({"type": "message", "role": role, "content": [{"type": kind, "text": words}], **more})

    def _tokens(self) -> None:
        last = {"input_tokens": 9_000 + 80 * len(self.rows), "cached_input_tokens": 8_000, "output_tokens": 120}
        usage = {**last, "reasoning_output_tokens": 40, "total_tokens": last["input_tokens"] + last["output_tokens"]}
        self._spent += usage["total_tokens"]
        total = {**usage, "total_tokens": self._spent}
        info = {"total_token_usage": total, "last_token_usage": usage, "model_context_window": 258_400}
        self._event("token_count", info=info, rate_limits=None)

    def _item(self, payload: Row) -> None:
        self._row("response_item", payload)

    def _event(self, kind: str, **payload: Any) -> None:
        self._row("event_msg", {"type": kind, **payload})

    def _row(self, kind: str, payload: Row) -> None:
        self.rows.append({"timestamp": self._ticking.tick(), "type": kind, "payload": payload})
