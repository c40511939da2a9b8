"""Revisions, oldest first. One that is released never changes."""
