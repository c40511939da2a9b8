"""Visits, from the analytics that a website is connected with."""
