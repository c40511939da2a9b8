"""The MCP face: JSON-RPC over HTTP, for AI clients."""
