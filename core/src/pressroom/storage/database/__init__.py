"""The database: SQLite in a file, or PostgreSQL."""

from pressroom.storage.database.availability import DatabaseProbe
from pressroom.storage.database.engine import SqlDatabase, database_url_of
from pressroom.storage.database.migrations import Migrator, SchemaError, SchemaMismatch, SchemaState
from pressroom.storage.database.rows import insert_rows

__all__ = [
    "DatabaseProbe",
    "Migrator",
    "SchemaError",
    "SchemaMismatch",
    "SchemaState",
    "SqlDatabase",
    "database_url_of",
    "insert_rows",
]
