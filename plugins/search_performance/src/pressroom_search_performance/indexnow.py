"""Telling search engines about changes (IndexNow)."""
