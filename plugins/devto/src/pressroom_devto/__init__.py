"""DEV as a platform to publish to: version 1 of Forem's API (developers.forem.com/api/v1) with an API key."""
