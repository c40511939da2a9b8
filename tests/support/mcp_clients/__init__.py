"""Real MCP clients of others, each in an environment of its own, run as processes that talk JSON."""
