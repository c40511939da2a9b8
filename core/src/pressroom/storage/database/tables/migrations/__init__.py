"""Alembic migrations of the host."""
