"""Ghost as a platform to publish to: its Admin API (ghost.org/docs/admin-api) with the key of a custom integration."""
