"""Pressroom: a server that turns plugins into tools for people and for AI clients."""
