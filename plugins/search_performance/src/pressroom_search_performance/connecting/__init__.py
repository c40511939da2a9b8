"""Connecting websites to their sources of figures."""
