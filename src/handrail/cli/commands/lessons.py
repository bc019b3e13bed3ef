"""``handrail lessons``."""

from __future__ import annotations

import click

from handrail.cli.learning import reason_option
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

_EVERYTHING = "Those no rule may come of, too, and why: dropped, used up, of another cause."


def _list(surface: Surface, everything: bool) -> None:
    from handrail.app.learning.lessons import list_lessons
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.lessons import render_lessons

    surface.emit(list_lessons(open_memory(surface.environment), everything=everything), render_lessons)


@click.command("list")
@click.option("--all", "everything", is_flag=True, help=_EVERYTHING)
@shared_options
@click.pass_obj
def list_(surface: Surface, everything: bool) -> None:
    """List the lessons that a rule may come of."""
    _list(surface, everything)


@click.command("show")
@click.argument("lesson", metavar="ID")
@shared_options
@click.pass_obj
def show(surface: Surface, lesson: str) -> None:
    """Show a lesson beside the moment it came of. ID is its id, or the start of one."""
    from handrail.app.learning.lessons import show_lesson
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.lessons import render_lesson

    surface.emit(show_lesson(surface.machine(), open_memory(surface.environment), lesson), render_lesson)


@click.command("edit")
@click.argument("lesson", metavar="ID")
@click.argument("text")
@shared_options
@click.pass_obj
def edit(surface: Surface, lesson: str, text: str) -> None:
    """Put a lesson into your own words, which are yours from then on. The same words again are refused."""
    from handrail.app.learning.lessons import edit_lesson
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.lessons import render_lesson

    surface.emit(edit_lesson(open_memory(surface.environment), lesson, text), render_lesson)


@click.command("drop")
@click.argument("lesson", metavar="ID")
@reason_option
@shared_options
@click.pass_obj
def drop(surface: Surface, lesson: str, reason: str | None) -> None:
    """Let no rule come of a lesson. It is kept, and can be taken back."""
    from handrail.app.learning.lessons import drop_lesson
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.lessons import render_lesson

    surface.emit(drop_lesson(open_memory(surface.environment), lesson, reason), render_lesson)


@click.command("restore")
@click.argument("lesson", metavar="ID")
@shared_options
@click.pass_obj
def restore(surface: Surface, lesson: str) -> None:
    """Take back a lesson that was dropped, or that a proposal used up without a rule."""
    from handrail.app.learning.lessons import restore_lesson
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.lessons import render_lesson

    surface.emit(restore_lesson(open_memory(surface.environment), lesson), render_lesson)


@click.group("lessons", commands=[list_, show, edit, drop, restore], invoke_without_command=True)
@shared_options
@click.pass_context
def COMMAND(context: click.Context) -> None:
    """What moments taught: list, show, edit, drop and restore lessons.

    Without a command: the lessons that a rule may come of.
    """
    if context.invoked_subcommand is None:
        _list(context.obj, False)
