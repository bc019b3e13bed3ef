"""``handrail run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

from handrail import app
from handrail.cli.options import database_option, shared_options
from handrail.cli.surface import Surface

Function = TypeVar("Function", bound=Callable[..., Any])

_COUNT = click.IntRange(0)
_AMOUNT = click.FloatRange(0)


def _split(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """``a,b`` as two names; a text with a colon is one name and its argument, which may hold commas."""
    return tuple(name for text in value for name in ([text] if ":" in text else text.split(",")) if name)


def _bound(name: str, kind: Any, help: str) -> Callable[[Function], Function]:
    return click.option(f"--max-{name}", f"max_{name.replace('-', '_')}", metavar="N", type=kind, help=help)


@click.command("run")
@click.argument("task", default="")
@click.option("--model", metavar="NAME", help="provider:name, local, or scripted:FILE; else HANDRAIL_MODEL names it.")
@click.option("--base-url", metavar="URL", help="Ask the model at this address, a server that speaks its API.")
@click.option(
    "--session", "session", metavar="SESSION", help="Go on with this session of Handrail; without TASK with its run."
)
@click.option(
    "--blueprint", metavar="NAME|FILE", help="Run TASK in the stages of this blueprint; see `handrail blueprint list`."
)
@click.option("--anew", "is_anew", is_flag=True, help="With --session: end its open run and begin its task anew.")
@click.option("--detach", "is_detached", is_flag=True, help="Run in the background and print the id of the run.")
@database_option
@click.option("--from", "source", metavar="SESSION", help="Begin with a copy of this session, of any harness.")
@click.option(
    "--strategy",
    "strategies",
    metavar="NAME[,…]",
    multiple=True,
    callback=_split,
    help="Ask these strategies between rounds, in this order; NAME:ARGUMENT where one needs an argument.",
)
@_bound("rounds", _COUNT, "End after so many responses.")
@_bound("requests", _COUNT, "End after so many requests to the model; retries count.")
@_bound("tool-calls", _COUNT, "End after so many calls.")
@_bound("tokens", _COUNT, "End after so many tokens, in and out.")
@_bound("cost", _AMOUNT, "End after so many US dollars.")
@_bound("seconds", _AMOUNT, "End after so many seconds of work; a person's waiting time is none.")
@click.option(
    "--compact-at",
    metavar="N",
    type=click.IntRange(1),
    help="Sum up the conversation from so many tokens on; else near what the model can be given, where it is known.",
)
@click.option(
    "--allow",
    metavar="TOOL[:PATTERN]",
    multiple=True,
    help="Do not ask about these calls; 'Bash:git log *' means those commands, 'TOOL(field=pattern)' any argument.",
)
@click.option(
    "--sends",
    type=click.Choice(["block", "ask", "allow"]),
    default="block",
    metavar="WHAT",
    help="Calls that could carry private data out once strangers' words came in: block (unless said), ask, allow.",
)
@click.option("--worker", metavar="NAME", help="The model of agents that this one starts; else the same.")
@click.option(
    "--pass-env", "passes", metavar="VARIABLE", multiple=True, help="Let commands see this key of a model, too."
)
@click.option("--no-rules", "is_without_rules", is_flag=True, help="Let no rule ride, yours neither.")
@click.option("--read-only", is_flag=True, help="No tools that change things or send them out.")
@click.option("--trust", is_flag=True, help="Vouch for this repository: its tools, hooks, servers and rules count.")
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    task: str,
    model: str | None,
    base_url: str | None,
    session: str | None,
    blueprint: str | None,
    is_anew: bool,
    is_detached: bool,
    database: str | None,
    source: str | None,
    strategies: tuple[str, ...],
    compact_at: int | None,
    allow: tuple[str, ...],
    sends: Literal["block", "ask", "allow"],
    worker: str | None,
    passes: tuple[str, ...],
    is_without_rules: bool,
    read_only: bool,
    trust: bool,
    **bounds: Any,
) -> None:
    """Run an agent in this folder.

    On a terminal you see what it does, are asked about calls that change things or send them out, and can steer: a
    line you type goes to the model with its next request; /help says what else there is. Without a terminal, and with
    --json, nobody is asked, so such calls are refused unless --allow lets them run; what happens goes to standard
    error, the answer to standard output. With --json one object a line: `event` is session, happened, streamed or
    result.

    What happens is written as it happens to a session of its own, which every other command reads. --session goes on
    with it, also after a crash, with the model and the permissions it began with. TASK may be /NAME and words, for the
    prompt template of that name. The rules that count here (`handrail rules`) stand at the end of the instructions.

    With --blueprint the run goes through stages, and asks you at their points: by number or word, with what you say
    after it as a comment; /edit opens the document in your editor. Where nobody is there, the run is left open and ends
    with 7: `handrail asks` shows what it waits for, `handrail answer` answers, `handrail resume` goes on.

    Ends with 0 when there is an answer, 6 when the run ended without one, 7 when it waits for one.
    """
    app.require_extra()
    from handrail.cli.running import has_person, run
    from handrail.journal.vocabulary import Limits

    if session is not None and source is not None:
        raise click.UsageError("--session goes on with a session and --from begins another: give one of them")
    if is_anew and (session is None or task):
        raise click.UsageError("--anew begins the task of --session again: give that, and no TASK")
    order = app.Order(
        task=task,
        model=model,
        base_url=base_url,
        workspace=surface.folder(),
        session=session,
        source=source,
        blueprint=blueprint,
        is_anew=is_anew,
        is_detached=is_detached,
        database=database,
        bounds=Limits(**bounds),
        strategies=strategies,
        compact_at=compact_at,
        allow=allow,
        sends=sends,
        worker=worker,
        passes=passes,
        is_without_rules=is_without_rules,
        is_read_only=read_only,
        is_trusted=trust,
        is_by_person=has_person(),
    )
    if is_detached:
        from handrail.cli.views.runs import finish_detached, render_detached

        begun = app.detach(order, surface.environment, surface.roots)
        surface.emit(begun, render_detached)
        finish_detached(begun, surface)
        return
    code = run(surface, order)
    if code:
        raise click.exceptions.Exit(code)
