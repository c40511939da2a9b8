"""Durable background jobs: a queue of rows that any process can run, each in one process at a time."""
