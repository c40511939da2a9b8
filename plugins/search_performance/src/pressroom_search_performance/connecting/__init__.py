"""Connecting a website with its sources of figures."""
