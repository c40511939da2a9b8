"""Clients for the sources of figures."""
