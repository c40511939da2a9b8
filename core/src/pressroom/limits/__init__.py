"""Counting requests in moving windows."""
