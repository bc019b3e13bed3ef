"""Where a crop, a conversion or an export goes: to a file, or to stdout as it is."""

from __future__ import annotations

import click

from handrail import app
from handrail.app import Draft
from handrail.cli.surface import Surface
from handrail.cli.views.notes import finish_draft, finish_written


def deliver(draft: Draft, out: str | None, force: bool, surface: Surface) -> None:
    """Save ``draft`` to ``out``, or print its document; say on stderr what was lost or left out.

    With ``--json`` the report goes to stdout, so the document needs ``--out``.
    """
    if out is not None:
        written = app.save(draft, out, force=force)
        if surface.as_json:
            surface.emit(written, lambda _written, _surface: ())
        finish_written(written, surface)
        return
    refuse_stdout(force, surface)
    surface.write(draft.document)
    finish_draft(draft.source, draft.loss, draft.faults, draft.harness, surface)


def refuse_stdout(force: bool, surface: Surface, what: str = "session") -> None:
    """A usage error where the options do not let ``what`` go to stdout."""
    if surface.as_json:
        raise click.UsageError(f"--json prints a report, so the {what} itself needs --out")
    if force:
        raise click.UsageError("--force replaces the file of --out, and there is no --out")
