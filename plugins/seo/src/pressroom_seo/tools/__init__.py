"""The MCP tools, one module per group. Heavy imports are deferred to the first call."""
