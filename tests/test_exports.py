"""The list of exports is what is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import handrail

_DECLARED = re.findall(
    r"^    from (handrail\.\S+) import (\w+) as \2$", Path(handrail.__file__).read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("home", "name"), _DECLARED)
def test_every_export_is_there_and_is_the_one_type_checkers_see(home: str, name: str) -> None:
    assert getattr(handrail, name) is getattr(importlib.import_module(home), name)
    assert name in dir(handrail)


def test_the_list_of_exports_is_the_declared_one() -> None:
    assert sorted([*(name for _, name in _DECLARED), "__version__"]) == handrail.__all__


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Foo'"):
        _ = handrail.Foo
