"""Visits from the analytics services that websites are connected to."""
