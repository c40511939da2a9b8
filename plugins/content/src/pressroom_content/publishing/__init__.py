"""Bringing articles to websites, step by step, so that nothing is lost and nothing is there twice."""
