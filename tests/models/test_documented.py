"""What ``docs/models.md`` says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handrail.models import errors
from handrail.models.endpoints import PROVIDERS
from handrail.models.errors import ModelError
from handrail.models.script_file import parse_script

_PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")
_ERRORS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ModelError)]


def test_every_provider_is_named() -> None:
    assert [] == [name for name in PROVIDERS if f"`{name}:MODEL`" not in _PAGE]


def test_every_variable_that_is_read_is_named() -> None:
    keys = {key for provider in PROVIDERS.values() for key in provider.keys}
    assert [] == [key for key in sorted(keys) if f"`{key}`" not in _PAGE]


@pytest.mark.parametrize("kind", [kind for kind in _ERRORS if kind is not ModelError])
def test_every_error_stands_in_the_table_with_what_is_done_about_it(kind: type[ModelError]) -> None:
    (row,) = re.findall(rf"^\|.*`{kind.__name__}`.*\|$", _PAGE, re.MULTILINE)
    assert f"`{kind.code}`" in row
    assert kind.is_retryable == ("| yes" in row)


def test_the_script_that_is_shown_is_one() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL)
    assert 5 == len(parse_script(shown.encode()))
