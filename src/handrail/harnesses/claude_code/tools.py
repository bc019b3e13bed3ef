"""The tools that come with Claude Code, by the names the model calls them, and what each can do.

``private``: reads what is on the machine or in an account. ``untrusted``: returns words of strangers. ``sends``:
can carry data out. ``destructive``: can lose work. A tool that is not named here (a server's, a plug-in's) is
none of Claude Code's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.transcripts.codec import ToolTraits

_READS = ToolTraits(private=True)
_CHANGES = ToolTraits(private=True, destructive=True)
_RUNS = ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
_OUTPUT = ToolTraits(private=True, untrusted=True)
_WEB = ToolTraits(untrusted=True, sends=True)
_DELEGATES = ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
_PLAIN = ToolTraits()

TOOLS: Mapping[str, ToolTraits] = {
    # files
    "Read": _READS,
    "NotebookRead": _READS,
    "Glob": _READS,
    "Grep": _READS,
    "LS": _READS,
    "LSP": _READS,
    "Edit": _CHANGES,
    "MultiEdit": _CHANGES,
    "Write": _CHANGES,
    "NotebookEdit": _CHANGES,
    # commands and their output
    "Bash": _RUNS,
    "PowerShell": _RUNS,
    "REPL": _RUNS,
    "BashOutput": _OUTPUT,
    "KillShell": ToolTraits(destructive=True),
    "KillBash": ToolTraits(destructive=True),
    "Monitor": _RUNS,
    # the web
    "WebFetch": _WEB,
    "WebSearch": _WEB,
    # other agents
    "Task": _DELEGATES,
    "Agent": _DELEGATES,
    "Workflow": _DELEGATES,
    "AgentOutputTool": _OUTPUT,
    "TaskOutput": _OUTPUT,
    "TaskStop": ToolTraits(destructive=True),
    "SendMessage": ToolTraits(sends=True),
    "TeamCreate": _PLAIN,
    "TeamDelete": _PLAIN,
    # the work list, questions and plans
    "TodoRead": _PLAIN,
    "TodoWrite": _PLAIN,
    "TaskCreate": _PLAIN,
    "TaskGet": _PLAIN,
    "TaskList": _PLAIN,
    "TaskUpdate": _PLAIN,
    "AskUserQuestion": _PLAIN,
    "EnterPlanMode": _PLAIN,
    "ExitPlanMode": _PLAIN,
    "exit_plan_mode": _PLAIN,
    "ReportFindings": _PLAIN,
    "StructuredOutput": _PLAIN,
    # the harness itself
    "Skill": _READS,
    "SlashCommand": _READS,
    "ToolSearch": _PLAIN,
    "EnterWorktree": _CHANGES,
    "ExitWorktree": _CHANGES,
    "ScheduleWakeup": _PLAIN,
    "CronCreate": _PLAIN,
    "CronDelete": _PLAIN,
    "CronList": _PLAIN,
    "PushNotification": ToolTraits(sends=True),
    "RemoteTrigger": ToolTraits(sends=True),
    "Artifact": ToolTraits(private=True, sends=True),
    # servers' resources
    "ListMcpResourcesTool": _OUTPUT,
    "ReadMcpResourceTool": _OUTPUT,
}
