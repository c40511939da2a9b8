"""Validation of untrusted input: JSON bodies, parameters, and the IP addresses of clients."""
