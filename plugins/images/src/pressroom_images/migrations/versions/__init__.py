"""Revisions, oldest first. Never change a released one."""
