"""What ``handrail.app`` offers is there."""

from __future__ import annotations

from handrail import app


def test_every_name_it_lists_can_be_had() -> None:
    assert [name for name in app.__all__ if getattr(app, name, None) is None] == []


def test_a_name_it_does_not_list_is_an_attribute_error() -> None:
    assert not hasattr(app, "nonesuch")
