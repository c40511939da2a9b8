"""People, their credentials, what they connected and what they used. Knows nothing of HTTP."""
