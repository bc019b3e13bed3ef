"""What a tool can be made of: a Python function, a command from a tools file, a tool of an MCP server."""
