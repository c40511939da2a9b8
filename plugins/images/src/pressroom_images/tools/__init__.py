"""The tools for AI clients, by group."""
