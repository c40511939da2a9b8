"""DEV as a publishing platform: version 1 of Forem's API (developers.forem.com/api/v1) with an API key."""
