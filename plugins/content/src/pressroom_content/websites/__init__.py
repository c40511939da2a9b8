"""Websites that people have connected: their credentials, their health, and what lies on them."""
