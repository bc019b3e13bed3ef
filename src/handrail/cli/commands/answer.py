"""``handrail answer``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import complete_ask, database_option, shared_options
from handrail.cli.surface import Surface


@click.command("answer")
@click.argument("ask", shell_complete=complete_ask)
@click.argument("answer", metavar="[ANSWER]", required=False)
@click.option("--comment", metavar="TEXT", help="What you have to say along with the answer.")
@click.option(
    "--edit", "edits", is_flag=True, help="Change the document in $EDITOR; what you leave there is the answer."
)
@click.option("--file", metavar="PATH", help="The changed document, or the changed arguments of a call; - for stdin.")
@click.option("--skip", "is_skipped", is_flag=True, help="Go on without an answer, where none is required.")
@click.option("--decline", "is_declined", is_flag=True, help="Refuse to answer; --comment says why. A call is denied.")
@click.option("--withdraw", "is_withdrawn", is_flag=True, help="Take the question back; --comment says why.")
@click.option(
    "--alike", is_flag=True, help="The same for every call like this one that waits in the run and its agents."
)
@click.option("--go-on", "goes_on", is_flag=True, help="Go on with the run here, where nobody else does.")
@click.option(
    "--detach", "is_detached", is_flag=True, help="Go on with the run in the background, where nobody else does."
)
@database_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    ask: str,
    answer: str | None,
    comment: str | None,
    edits: bool,
    file: str | None,
    is_skipped: bool,
    is_declined: bool,
    is_withdrawn: bool,
    alike: bool,
    goes_on: bool,
    is_detached: bool,
    database: str | None,
) -> None:
    """Answer a question that waits, whoever drives its run, or nobody.

    ASK is its id, or the unique start of one. ANSWER is an option by its number, word or label, or words where words
    are asked for; without it you are asked here. An answer that does not fit is refused, and the question stays open.
    The first answer counts: who comes later is told whose it was.

    A run that nobody drives goes on with --go-on (here), with --detach, with `handrail resume`, or under `handrail
    serve`; one that was begun with --detach goes on in the background by itself. Ends with 0 when it is answered, 2
    when the answer does not fit, 1 when somebody was first, 5 when there is no such question; with --go-on as `run`.
    """
    from handrail.cli.answering import Given, forget_draft, reply_of
    from handrail.cli.sending import GoingOn, go_on
    from handrail.cli.views.asks import render_answered
    from handrail.runs.asks.replies import Reply

    if sum((bool(answer), is_skipped, is_declined, is_withdrawn)) > 1 or (edits and file):
        raise click.UsageError("several answers were given: give one")
    machine, environment = surface.machine(), surface.environment
    found = app.find_ask(machine, environment, ask, database=database).ask
    if is_declined or is_withdrawn:
        done = app.decline(machine, environment, found.ask, comment, is_withdrawn=is_withdrawn, database=database)
    else:
        given = Given(answer=answer, comment=comment, edits=edits, file=file, is_skipped=is_skipped)
        # Nobody types an answer to a question that has one: it is said at once whose that is.
        is_too_late = found.status != "open" and (edits or (answer is None and file is None))
        reply = Reply() if is_too_late else reply_of(given, found.opened, surface)
        done = app.answer(machine, environment, found.ask, reply, alike=alike, database=database)
    if done.status == "closed":
        forget_draft(found.opened, surface)
    surface.emit(done, render_answered)
    if done.status == "closed":
        how = GoingOn(here=goes_on, background=is_detached or (done.is_detached and not goes_on))
        go_on(surface, done.run, done.driven, how, database)
