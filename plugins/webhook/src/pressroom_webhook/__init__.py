"""A program of one's own as a platform to publish on: it gets signed events (Standard Webhooks, version 1.0)."""
