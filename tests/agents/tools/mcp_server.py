"""A small MCP server for tests: JSON-RPC answers, and a program that gives them over standard streams.

``python mcp_server.py [silent | broken | noisy | twice]``. It knows the handshake and two tools pages; it imports
nothing of ours, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOLS = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {"name": "show", "description": "Show things.", "inputSchema": {"type": "object"}},
    {"name": "fail.now", "description": "Fail.", "inputSchema": {"type": "object"}},
    {"name": "odd", "description": "Odd schema.", "inputSchema": {"type": "object", "properties": {"a": {"type": 3}}}},
    {"name": "hang", "description": "Never answer.", "inputSchema": {"type": "object"}},
    {"name": "die", "description": "End the server.", "inputSchema": {"type": "object"}},
    {"name": "environment", "description": "Names it was given.", "inputSchema": {"type": "object"}},
]


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """The reply to one message; None for a notification and for what is never answered."""
    if "id" not in message:
        return None
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            info = {"name": "test", "version": "1"}
            reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            first = not params.get("cursor")
            reply["result"] = {"tools": TOOLS[:2], "nextCursor": "2"} if first else {"tools": TOOLS[2:]}
        case "tools/call" if params["name"] == "hang":
            return None
        case "tools/call":
            reply["result"] = _result(params["name"], params.get("arguments") or {})
        case _:
            reply["error"] = {"code": -32601, "message": "no such method"}
    return reply


def _result(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "add":
            total = arguments["a"] + arguments["b"]
            return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"total": total}}
        case "show":
            return {
                "content": [
                    {"type": "text", "text": "a picture:"},
                    {"type": "image", "mimeType": "image/png", "data": "AA=="},
                    {"type": "resource", "resource": {"uri": "file:///r", "text": "a resource"}},
                    {"type": "resource_link", "name": "l", "uri": "file:///l"},
                    {"type": "audio", "mimeType": "audio/wav", "data": "AA=="},
                ]
            }
        case "environment":
            return {"content": [{"type": "text", "text": " ".join(sorted(os.environ))}]}
        case "die":
            os._exit(3)
        case _:
            return {"content": [{"type": "text", "text": "it failed"}], "isError": True}


def main() -> None:
    if "broken" in sys.argv:
        sys.exit(1)
    if "noisy" in sys.argv:
        sys.stdout.write("this is no message\n")
    if "twice" in sys.argv:
        TOOLS.append({"name": "add", "description": "Add once more.", "inputSchema": {"type": "object"}})
    for line in sys.stdin:
        reply = None if "silent" in sys.argv else answer(json.loads(line))
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
