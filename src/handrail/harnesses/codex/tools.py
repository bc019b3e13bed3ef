"""The tools that come with Codex, by the names the canonical model gives them, and what each can do.

``private``: reads what is on the machine. ``untrusted``: returns words of strangers. ``sends``: can carry data out.
``destructive``: can lose work. ``exec`` is code mode, in which the model writes a program that calls other tools.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.transcripts.codec import ToolTraits

_READS = ToolTraits(private=True)
_CHANGES = ToolTraits(private=True, destructive=True)
_RUNS = ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
_OUTPUT = ToolTraits(private=True, untrusted=True)
_WEB = ToolTraits(untrusted=True, sends=True)
_AGENTS = ToolTraits(private=True, untrusted=True, sends=True, destructive=True)
_PLAIN = ToolTraits()

TOOLS: Mapping[str, ToolTraits] = {
    # commands
    "Bash": _RUNS,
    "exec_command": _RUNS,
    "shell": _RUNS,
    "shell_command": _RUNS,
    "container.exec": _RUNS,
    "local_shell": _RUNS,
    "write_stdin": _RUNS,
    "exec": _RUNS,
    "wait": _OUTPUT,
    # files
    "ApplyPatch": _CHANGES,
    "apply_patch": _CHANGES,
    "Write": _CHANGES,
    "Edit": _CHANGES,
    "read_file": _READS,
    "list_dir": _READS,
    "grep_files": _READS,
    "view_image": _READS,
    # the web
    "WebSearch": _WEB,
    "web_search": _WEB,
    "image_generation": _WEB,
    # other agents
    "spawn_agent": _AGENTS,
    "send_input": _AGENTS,
    "send_message": _AGENTS,
    "followup_task": _AGENTS,
    "resume_agent": _AGENTS,
    "wait_agent": _OUTPUT,
    "list_agents": _PLAIN,
    "close_agent": ToolTraits(destructive=True),
    "interrupt_agent": ToolTraits(destructive=True),
    # plans and questions
    "update_plan": _PLAIN,
    "request_user_input": _PLAIN,
    "request_permissions": _PLAIN,
    # the harness itself
    "tool_search": _PLAIN,
    "load_workspace_dependencies": _READS,
    "list_mcp_resources": _OUTPUT,
    "list_mcp_resource_templates": _OUTPUT,
    "read_mcp_resource": _OUTPUT,
}
