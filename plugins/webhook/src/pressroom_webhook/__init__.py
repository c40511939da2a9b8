"""A program of one's own as a platform to publish to: it gets signed events (Standard Webhooks, version 1.0)."""
