"""The MCP interface: JSON-RPC over HTTP, for AI clients."""
