"""The error tree: stable codes, exit codes, and the builtins a caller would catch."""

from __future__ import annotations

import pytest

from handrail import errors
from handrail.errors import HandrailError

_TREE = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, HandrailError)]


def test_every_class_has_its_own_code() -> None:
    codes = {kind.__name__: kind.code for kind in _TREE if "code" in vars(kind)}
    assert len(set(codes.values())) == len(codes) == len(_TREE)


@pytest.mark.parametrize("kind", _TREE)
def test_an_error_carries_its_words_and_its_hint(kind: type[HandrailError]) -> None:
    problem = kind("what happened", hint="what to do")
    assert (str(problem), problem.message, problem.hint) == ("what happened", "what happened", "what to do")
    assert kind("what happened").hint is None
    assert problem.exit_code in {1, 2, 4, 5}


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.TranscriptError, ValueError),
        (errors.UnknownHarness, LookupError),
        (errors.SessionNotFound, LookupError),
        (errors.AmbiguousSession, LookupError),
        (errors.StoreError, OSError),
        (errors.MissingExtra, ImportError),
    ],
)
def test_the_builtin_a_caller_would_catch_is_a_base(kind: type[HandrailError], builtin: type[Exception]) -> None:
    with pytest.raises(builtin):
        raise kind("x")
