"""``handrail blueprint``: check, draw, list and print blueprints."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from handrail import app
from handrail.cli.options import force_option, out_option, shared_options
from handrail.cli.surface import Surface


def _here(surface: Surface) -> dict[str, Any]:
    """Where blueprints are looked for; asks for the extra first, since all of it is needed to read one."""
    app.require_extra()
    return {"workspace": Path.cwd(), "environment": surface.environment}


@click.command("check")
@click.argument("references", metavar="[NAME|FILE]...", nargs=-1)
@click.option("--deny-warnings", is_flag=True, help="End with 3 for warnings too.")
@click.option("--quiet", "-q", is_flag=True, help="Leave out the notes.")
@shared_options
@click.pass_obj
def check(surface: Surface, references: tuple[str, ...], deny_warnings: bool, quiet: bool) -> None:
    """Say everything that is wrong with blueprints, all at once.

    A NAME is one of your own, one that ships or one of this folder; a FILE is TOML or JSON, `-` standard input.
    Without any, your own and this folder's are checked. Each problem comes with its line, the key, and what was
    probably meant. An error cannot be run, a warning is most likely a mistake, a note is worth knowing.

    Ends with 0 without errors, 3 with errors (with --deny-warnings also with warnings), 4 when a file cannot be read,
    5 when there is none.
    """
    here = _here(surface)
    from handrail.cli.views.blueprint import finish_check, render_check

    found = app.check_blueprints(references, stdin=surface.read_stdin, **here)
    surface.emit(found, partial(render_check, with_notes=not quiet))
    finish_check(found, denies_warnings=deny_warnings)


@click.command("graph")
@click.argument("reference", metavar="NAME|FILE")
@click.option("--svg", is_flag=True, help="A picture (SVG) instead of Mermaid text; so is an --out that ends in .svg.")
@out_option
@force_option
@shared_options
@click.pass_obj
def graph(surface: Surface, reference: str, svg: bool, out: str | None, force: bool) -> None:
    """Draw the stages of a blueprint, its points and all ways between them.

    As Mermaid text, which many places show as a picture, or as a picture that needs nothing else.
    """
    here = _here(surface)
    from handrail.cli.views.blueprint import render_drawing

    is_picture = svg or (out is not None and out.endswith(".svg"))
    drawn = app.draw_blueprint(reference, "svg" if is_picture else "mermaid", stdin=surface.read_stdin, **here)
    _deliver(surface, drawn.text.encode(), out, force, lambda: surface.emit(drawn, render_drawing))


@click.command("show")
@click.argument("reference", metavar="NAME|FILE")
@click.option("--to", "form", type=click.Choice(("toml", "json")), default="toml", help="Its form (default toml).")
@out_option
@force_option
@shared_options
@click.pass_obj
def show(surface: Surface, reference: str, form: Any, out: str | None, force: bool) -> None:
    """Print a blueprint as TOML or JSON: one that ships, to begin one of your own with, or another form of a file."""
    text = app.spell_blueprint(reference, form, stdin=surface.read_stdin, **_here(surface))
    _deliver(surface, text, out, force, lambda: surface.write(text))


@click.command("list")
@shared_options
@click.pass_obj
def list_(surface: Surface) -> None:
    """List the blueprints that can be run by name: your own, those that ship, this folder's.

    Yours are in `blueprints/` of the configuration folder, a folder's in `.handrail/blueprints/`. A folder's name
    never takes the place of one of yours or of one that ships.
    """
    here = _here(surface)
    from handrail.cli.views.blueprint import render_list

    surface.emit(app.list_blueprints(**here), render_list)


@click.command("schema")
@shared_options
@click.pass_obj
def schema(surface: Surface) -> None:
    """Print the JSON Schema of blueprints, for editors and for programs that write them."""
    app.require_extra()
    surface.write_text(app.blueprint_schema())


@click.group("blueprint", commands=[check, graph, list_, schema, show])
def COMMAND() -> None:
    """Check, draw, list and print blueprints: workflows in stages, declared in a file."""


def _deliver(surface: Surface, data: bytes, out: str | None, force: bool, show: Any) -> None:
    """``data`` into the file ``out``, whole or not at all, or shown where there is no ``out``."""
    if out is None:
        if force:
            raise click.UsageError("--force replaces the file of --out, and there is no --out")
        show()
        return
    from handrail import files

    files.write_atomically(Path(out), data, replace=force)
