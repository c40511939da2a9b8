"""Websites that people have connected: their credentials, their health, and what is on them."""
