"""Websites that people have connected, the articles they write, and what of them is published where."""
