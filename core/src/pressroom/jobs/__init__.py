"""Durable background work: a queue of rows that any process may run, each exactly once at a time."""
