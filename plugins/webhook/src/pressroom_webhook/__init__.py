"""Your own program as a publishing platform: it receives signed events (Standard Webhooks, version 1.0)."""
