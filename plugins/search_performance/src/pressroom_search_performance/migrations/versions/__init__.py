"""Revisions, oldest first. Released revisions never change."""
