"""Fetching, storing and reading search figures."""
