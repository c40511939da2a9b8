"""Pressroom plugin that renders images of source code."""
