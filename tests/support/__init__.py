"""Helpers shared by test modules: services, ports, browsers."""
