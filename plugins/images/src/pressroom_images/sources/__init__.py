"""Providers of licensed images, a module each."""
