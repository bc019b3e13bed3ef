"""What ``handrail.blueprints`` offers is there, and costs nothing before it is used."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handrail import blueprints

_DECLARED = re.findall(
    r"^    from (handrail\.\S+) import (\w+) as \2$", Path(blueprints.__file__).read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("home", "name"), _DECLARED)
def test_every_name_is_the_one_type_checkers_see(home: str, name: str) -> None:
    assert getattr(blueprints, name) is getattr(importlib.import_module(home), name)


def test_the_list_of_names_is_the_declared_one() -> None:
    assert sorted(name for _, name in _DECLARED) == blueprints.__all__


def test_a_name_that_is_not_offered_is_an_attribute_error() -> None:
    assert not hasattr(blueprints, "nonesuch")


def test_the_room_itself_loads_no_validation() -> None:
    code = "import sys, handrail.blueprints; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
