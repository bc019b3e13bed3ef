"""The sample home that ``handrail demo`` shows: made-up sessions of a made-up person, built row by row.

``python -m handrail.testing.sample OUT`` writes it below ``OUT``. It holds every kind of moment, a fork, a
compaction, a sub-agent, words of harnesses and peers that are no person's, runs of both blueprints that ship, and one
file whose last row is torn.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from handrail.harnesses import harness
from handrail.testing.builders import ClaudeCodeSession, CodexSession
from handrail.testing.builders.claude_code import say, think
from handrail.testing.sample_runs import apple_store, nest_boxes
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Decision,
    Message,
    Meta,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
    Write,
)

_ORCHARD = "/home/demo/orchard"
_BELLS = "/home/demo/bell-tower"
_BUS = "/home/demo/night-bus"
_HANDRAIL = ".local/state/handrail/sessions"


def sample_home() -> Mapping[str, bytes]:
    """Every file of the sample home by its path below it."""
    claude = (watering_plan(), pruning_calendar(), harvest_report(), bell_rota())
    files = {_claude_path(session): session.render() for session in claude}
    scout = soil_scout()
    files[f"{_claude_path(harvest_report())[:-6]}/subagents/agent-{scout.agent_id}.jsonl"] = scout.render()
    files[_claude_path(frost_alarm())] = frost_alarm().render()[:-90]
    for rollout in (timetable(), late_departures(), late_departures_fork()):
        files[f".codex/sessions/{rollout.file_name}"] = rollout.render()
    run = seed_order()
    data = harness("handrail").codec.render(harness("handrail").codec.from_common(run))
    assert isinstance(data, bytes)
    files[f"{_HANDRAIL}/{run.meta.id}.jsonl"] = data
    runs = {**nest_boxes(_ORCHARD, _at(18, 9)), **apple_store(_ORCHARD, _at(20, 9))}
    return {**files, **{f"{_HANDRAIL}/{name}": journal for name, journal in runs.items()}}


def write_sample(out: Path) -> None:
    """Write the sample home below ``out``; files that are there are written over."""
    for name, data in sample_home().items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _claude_path(session: ClaudeCodeSession) -> str:
    folder = session.cwd.replace("/", "-")
    return f".claude/projects/{folder}/{session.session_id}.jsonl"


def _at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


# Claude Code ------------------------------------------------------------------------------------------------


def watering_plan() -> ClaudeCodeSession:
    """A steer while the agent works, a refusal with words, a refusal without, and plain follow-ups."""
    it = ClaudeCodeSession("3f1c8a52-6f0e-4b7d-9a41-5d2be07c1001", _ORCHARD, _at(2, 8, 12), branch="watering")
    it.title("Watering plan for the summer")
    it.prompt("Write a script that reads beds.csv and prints when each bed has to be watered.")
    it.remind("The task list is empty.")
    it.reply(
        think("The file first."),
        say("I will look at the file first."),
        it.call("look", "Read", file_path=f"{_ORCHARD}/beds.csv"),
    )
    it.queue("litres are per square metre, not per bed")
    it.result("look", "1\tbed,area,litres\n2\tnorth,12,4\n3\twell,7,6")
    it.take_from_queue()
    script = (
        "import csv\n\nfor row in csv.DictReader(open('beds.csv')):\n    print(row['bed'], float(row['area']) * 4)\n"
    )
    it.reply(
        say("Then the amount is area times litres."),
        it.call("write", "Write", file_path=f"{_ORCHARD}/water.py", content=script),
    )
    it.deny("write", "Read the litres from the file, do not hard-code 4. And close the file.")
    better = script.replace("* 4", "* float(row['litres'])")
    it.reply(it.call("again", "Write", file_path=f"{_ORCHARD}/water.py", content=better))
    it.result("again", f"File created successfully at: {_ORCHARD}/water.py")
    it.reply(it.call("run", "Bash", command="python water.py", description="Run the script"))
    it.result("run", "north 48.0\nwell 42.0")
    it.reply(say("The script prints the litres for each bed: 48 for the north bed and 42 for the one at the well."))
    it.wait(140)
    it.prompt("Good. Now add a column with the days of the week.")
    it.reply(it.call("install", "Bash", command="pip install pandas", description="Install pandas"))
    it.deny("install")
    it.prompt("No new packages please, the standard library is enough here.")
    it.reply(
        say("Understood, only the standard library."),
        it.call(
            "edit",
            "Edit",
            file_path=f"{_ORCHARD}/water.py",
            old_string="print(row['bed'], ",
            new_string="print(row['bed'], DAYS[row['bed']], ",
        ),
    )
    it.result("edit", f"The file {_ORCHARD}/water.py has been updated successfully.")
    it.reply(say("Each line now begins with the days."))
    it.prompt("Thanks, that is all for today.")
    it.reply(say("You are welcome."))
    return it


def pruning_calendar() -> ClaudeCodeSession:
    """The person goes back and asks another way; a compaction; an interrupt; the same said again."""
    it = ClaudeCodeSession("3f1c8a52-6f0e-4b7d-9a41-5d2be07c1002", _ORCHARD, _at(4, 17, 5), branch="pruning")
    it.title("Pruning calendar")
    it.prompt("Which trees have to be pruned before April?")
    it.reply(it.call("trees", "Grep", pattern="prune", path=_ORCHARD))
    it.result("trees", "trees.csv:3:plum,prune in february\ntrees.csv:9:pear,prune in march")
    it.reply(say("The plum and the pear."))
    answered = it.last
    it.prompt("Put the pruning dates into a database.")
    it.reply(
        say("I will set up SQLite with three tables."), it.call("db", "Bash", command="sqlite3 trees.db '.tables'")
    )
    it.result("db", "")
    it.reply(say("The database is there. Shall I fill it?"))
    it.wait(60)
    it.go_back_to(answered)
    it.prompt("Put the pruning dates into a plain calendar file I can import, nothing more.")
    it.reply(it.call("ics", "Write", file_path=f"{_ORCHARD}/pruning.ics", content="BEGIN:VCALENDAR\nEND:VCALENDAR\n"))
    it.result("ics", f"File created successfully at: {_ORCHARD}/pruning.ics")
    it.reply(say("pruning.ics holds both dates."))
    it.compact("The person wants a calendar file with the pruning dates of plum and pear.", before=158_000, after=9_400)
    it.prompt("Now mark the trees that were pruned last year.")
    it.reply(
        say("I will rewrite the whole calendar."),
        it.call("big", "Bash", command="rm pruning.ics", description="Start over"),
    )
    it.result("big", "")
    it.interrupt()
    it.prompt("Now mark only the trees that were pruned last year, and keep the file.")
    it.reply(it.call("back", "Bash", command="git checkout pruning.ics", description="Restore the file"))
    it.result("back", "Updated 1 path from the index")
    it.reply(say("The file is back, and the plum is marked."))
    return it


def harvest_report() -> ClaudeCodeSession:
    """A sub-agent, a plan the person edited, an interrupt with words that say something new, a failing command."""
    it = ClaudeCodeSession("3f1c8a52-6f0e-4b7d-9a41-5d2be07c1003", _ORCHARD, _at(9, 10, 30))
    it.slash("model", "Set model to sonnet")
    it.prompt("Plan a harvest report: kilos per tree and per year, from the notebooks in notes/.")
    task = "List which notebooks in notes/ hold weights, and in which unit."
    it.reply(it.call("scout", "Task", description="Look through the notebooks", prompt=task, subagent_type="Explore"))
    answer = "Three notebooks hold weights: 2023 and 2024 in kilos, 2022 in pounds."
    detail = {
        "status": "completed",
        "prompt": task,
        "agentId": "a17c09e",
        "content": [{"type": "text", "text": answer}],
    }
    it.result("scout", [{"type": "text", "text": answer}], detail=detail)
    plan = "1. Convert pounds to kilos\n2. Sum by tree and year\n3. Draw a chart"
    it.reply(it.call("draft", "ExitPlanMode", plan="1. Sum everything\n2. Draw a chart"))
    it.deny("draft", "Convert the pounds first, otherwise the sums are wrong.")
    it.reply(it.call("plan", "ExitPlanMode", plan=plan))
    it.approve_plan(
        "plan", plan, edited="1. Convert pounds to kilos\n2. Sum by tree and year\n3. Print a table, no chart"
    )
    it.reply(it.call("sum", "Bash", command="python harvest.py", description="Sum the harvest"))
    it.result("sum", "Exit code 1\nValueError: unknown unit 'st'", is_error=True)
    it.reply(
        say("One note is in stones. I will drop it."), it.call("drop", "Bash", command="sed -i /st/d notes/2022.md")
    )
    it.interrupt()
    it.prompt("Never change the notebooks. One stone is 6.35 kilos.")
    it.reply(
        say("I will convert it and leave the notebook as it is."),
        it.call("conv", "Bash", command="python harvest.py --stone 6.35", description="Convert stones"),
    )
    it.result("conv", "2022 plum 31.8\n2023 plum 28.0")
    it.reply(say("The table is in report.txt."))
    return it


def soil_scout() -> ClaudeCodeSession:
    """The sub-agent that ``harvest_report`` started: its prompt is the other agent's, not a person's."""
    it = ClaudeCodeSession(
        harvest_report().session_id, _ORCHARD, _at(9, 10, 31), agent_id="a17c09e", model="claude-haiku-4-5"
    )
    it.prompt("List which notebooks in notes/ hold weights, and in which unit.")
    it.reply(it.call("ls", "Glob", pattern="notes/*.md"))
    it.result("ls", "notes/2022.md\nnotes/2023.md\nnotes/2024.md")
    it.reply(say("Three notebooks hold weights: 2023 and 2024 in kilos, 2022 in pounds."))
    return it


def bell_rota() -> ClaudeCodeSession:
    """A question with options, a steer that came as an attachment, a queued prompt, a revision."""
    it = ClaudeCodeSession("3f1c8a52-6f0e-4b7d-9a41-5d2be07c1004", _BELLS, _at(11, 19, 40), branch="rota")
    it.prompt("Make a rota for the six bell ringers, two on each Sunday.")
    question = "Should nobody ring two Sundays in a row?"
    it.reply(it.call("ask", "AskUserQuestion", questions=[{"question": question, "options": [{"label": "Yes"}]}]))
    it.answer("ask", question, "Yes", ("Yes", "No"))
    it.reply(it.call("rota", "Write", file_path=f"{_BELLS}/rota.md", content="| Sunday | ringers |\n"))
    it.attach_steer("start the rota in May, April is full already")
    it.result("rota", f"File created successfully at: {_BELLS}/rota.md")
    it.reply(say("The rota begins in May and nobody rings twice in a row."))
    it.queue("Also print it as plain text for the notice board.")
    it.send_queue()
    it.prompt("Also print it as plain text for the notice board.", source="queued")
    it.reply(it.call("txt", "Bash", command="column -t rota.md > rota.txt", description="Plain text"))
    it.result("txt", "")
    it.reply(say("rota.txt is ready for the notice board."))
    return it


def frost_alarm() -> ClaudeCodeSession:
    """A session whose last row was never finished."""
    it = ClaudeCodeSession("3f1c8a52-6f0e-4b7d-9a41-5d2be07c1005", _ORCHARD, _at(14, 6, 2), branch="frost")
    it.prompt("Warn me when the forecast says less than two degrees.")
    it.reply(it.call("get", "WebFetch", url="https://forecast.example/orchard", prompt="Lowest temperature"))
    it.result("get", "The lowest temperature tonight is one degree.")
    it.reply(say("One degree tonight: the alarm would ring. I will write the script now."))
    return it


# Codex ------------------------------------------------------------------------------------------------------


def timetable() -> CodexSession:
    """A steer, a refused command and what the person wanted instead, an aborted turn."""
    it = CodexSession("019cb6a0-11d2-7c40-8f3e-6a90c2d10001", _BUS, _at(3, 21, 15), branch="timetable")
    it.prompt("Parse timetable.txt into JSON, one object per departure.")
    it.think("**Looking at the file**")
    it.say("I will look at the file.")
    it.shell("head", "head -3 timetable.txt", "22:10 harbour\n22:40 harbour\n23:05 mill")
    it.steer("departures after midnight belong to the day before")
    it.patch("parse", "parse.py", "day = today", "day = today - ONE_DAY if hour < 5 else today")
    it.shell("test", "python -m unittest", "FAILED (errors=1)", 1)
    it.reject("push", "git push --force")
    it.finish("The push was refused, so I stopped there.")
    it.prompt("Do not push anything. Fix the failing test first.")
    it.shell("fix", "python -m unittest", "OK")
    it.finish("The test passes.")
    it.prompt("Draw the network as a map.")
    it.shell("find", "find / -name '*.svg'", "")
    it.abort()
    it.prompt("Stop searching the whole disk. A text table of stops is enough.")
    it.shell("table", "python stops.py", "harbour 2\nmill 1")
    it.finish("Here is the table of stops.")
    return it


def late_departures() -> CodexSession:
    """A turn that was rolled back and asked another way, a compaction, follow-ups."""
    it = CodexSession("019cb6a0-11d2-7c40-8f3e-6a90c2d10002", _BUS, _at(6, 20, 0))
    it.prompt("How many buses left late in February?")
    it.shell("count", "python late.py --month 2", "17")
    it.finish("Seventeen.")
    it.prompt("Rewrite late.py in Rust for speed.")
    it.shell("cargo", "cargo init late", "Created binary (application) package")
    it.finish("The crate is set up.")
    it.roll_back(1)
    it.prompt("Make late.py faster, but keep it in Python.")
    it.patch("fast", "late.py", "for row in rows: check(row)", "late = sum(map(is_late, rows))")
    it.finish("It now runs in a fifth of the time.")
    it.compact("How many buses left late in February?")
    it.prompt("And in January?")
    it.shell("january", "python late.py --month 1", "9")
    it.finish("Nine.")
    return it


def late_departures_fork() -> CodexSession:
    """A fork that begins with a copy of ``late_departures``: nothing of the copy is counted twice."""
    parent = late_departures()
    it = CodexSession("019cb6a0-11d2-7c40-8f3e-6a90c2d10003", _BUS, _at(7, 9, 0), forked_from=parent.session_id)
    it.inherit(parent)
    it.prompt("Use the same check for the morning buses.")
    it.shell("morning", "python late.py --line morning", "4")
    it.finish("Four morning buses were late.")
    return it


# Handrail ---------------------------------------------------------------------------------------------------


def seed_order() -> Transcript[Common]:
    """A run of Handrail's own: an approval whose arguments the person edited, a point they did not let pass."""
    draft = "bean 40 g\nbeet 20 g\nleek 5 g"
    edited = "bean 20 g\nbeet 20 g\nleek 5 g"
    order = ToolUse("call-1", Write(f"{_ORCHARD}/order.txt", draft))
    body = (
        _spoken(Text("Draft the seed order for the spring beds.", Author.PERSON, via=Via.PROMPT)),
        _answered(Text("I will write the order.", Author.MODEL), order),
        _spoken(
            Decision("call-1", Author.PERSON, "edit", "half the beans will do", before=draft, after=edited),
            ToolResult("call-1", "written"),
        ),
        _answered(Text("The order is in order.txt and ready to be sent.", Author.MODEL)),
        _spoken(Decision("Send the order?", Author.PERSON, "Revise", "ask for untreated seed")),
        _answered(Text("The order now asks for untreated seed.", Author.MODEL)),
        _spoken(Decision("Send the order?", Author.PERSON, "Approve")),
    )
    meta = Meta(
        id="019cb6a0-11d2-7c40-8f3e-6a90c2d10009",
        timestamp=_at(16, 11),
        cwd=_ORCHARD,
        title="Seed order",
        model="claude-sonnet-4-5",
    )
    timed = (replace(message, timestamp=_at(16, 11, minute)) for minute, message in enumerate(body))
    return Transcript(meta, tuple(timed))


def _spoken(*blocks: Block) -> Message:
    return Message(role="user", content=blocks)


def _answered(*blocks: Block) -> Message:
    return Message(role="assistant", content=blocks, model="claude-sonnet-4-5")


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
