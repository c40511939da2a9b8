"""The table of the plugin. Its name begins with the plugin's ID, to avoid conflicts with other plugins."""

from __future__ import annotations

from pressroom.columns import Timestamp
from sqlalchemy import Column, Integer, MetaData, String, Table

METADATA = MetaData()
NOTES = Table(
    "{{ cookiecutter.plugin_id }}_note",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("subject", String(255), nullable=False, index=True),
    Column("text", String(1000), nullable=False),
    Column("added_at", Timestamp, nullable=False),
)
