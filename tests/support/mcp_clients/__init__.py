"""Real third-party MCP clients, each in its own environment, run as processes with a JSON protocol."""
