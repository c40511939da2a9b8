"""Fixtures and checks for the authors of plugins."""
