"""The MCP tools, one module per group."""
