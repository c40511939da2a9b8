"""Websites that users connect, the articles that they write, and where these are published."""
