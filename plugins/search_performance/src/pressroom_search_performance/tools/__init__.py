"""The MCP tools."""
