"""Providers of licensed images, one module each."""
