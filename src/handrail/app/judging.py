"""A judge that is a command: it reads a case as JSON and answers as JSON. Nothing is sent unless one is given."""

from __future__ import annotations

import os
import shlex
import subprocess

import msgspec

from handrail import jsonio
from handrail.agents.guard import GUARD
from handrail.app.machine import Machine
from handrail.errors import JudgeFailed
from handrail.learning.pushback_judge import Case, Judge, judged_by

TIMEOUT_S = 120.0


def with_judge(machine: Machine, command: str) -> Machine:
    """``machine``, with ``command`` deciding about candidates; the person's corrections still overrule it."""
    judging = msgspec.structs.replace(machine.judging, scorer=judged_by(command_judge(command)))
    return msgspec.structs.replace(machine, judging=judging)


def command_judge(command: str, timeout_s: float = TIMEOUT_S) -> Judge:
    """A judge that runs ``command`` (split as a shell would, run without one) for each case.

    The case, redacted, is one JSON object on its standard input; its answer is a JSON object with a boolean
    ``stepin`` on its standard output. Anything else, a failure or no answer within ``timeout_s`` is no answer. It is
    marked as one that sets off no hooks: it may be an agent that has ours. Raises ``JudgeFailed`` when there is no such
    command.
    """
    try:
        arguments = shlex.split(command)
    except ValueError as problem:
        raise JudgeFailed(f"the judge {command!r} is no command: {problem}") from problem
    if not arguments:
        raise JudgeFailed("the judge is empty", hint="give a command that reads and writes JSON")

    def judge(case: Case) -> bool | None:
        try:
            done = subprocess.run(
                arguments,
                input=jsonio.encode(case),
                capture_output=True,
                check=False,
                timeout=timeout_s,
                env={**os.environ, GUARD: "judge"},
            )
        except subprocess.TimeoutExpired:
            return None
        except (OSError, ValueError) as problem:
            raise JudgeFailed(f"the judge {arguments[0]!r} cannot be run: {problem}") from problem
        return _answer(done.stdout) if done.returncode == 0 else None

    return judge


def _answer(output: bytes) -> bool | None:
    try:
        answer = jsonio.decode(output)
    except jsonio.NotJson:
        return None
    said = answer.get("stepin") if isinstance(answer, dict) else None
    return said if isinstance(said, bool) else None
