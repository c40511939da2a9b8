"""Publishing to Ghost, over its Admin API (ghost.org/docs/admin-api) with the key of a custom integration."""
