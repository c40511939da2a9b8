"""Connections through a transaction pooler, such as PgBouncer.

Such a pooler can give each transaction another server connection, which has the named prepared statements of other
clients and not those of this one. So every statement is prepared without a name, within the transaction that runs it,
and leaves nothing on the server connection. All locks belong to transactions (`pg_advisory_xact_lock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import asyncpg


class _PooledConnection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection that sets a codec, which prepares a statement and then runs it, in a single transaction."""

    async def set_type_codec(self, *args: Any, **options: Any) -> None:
        async with self.transaction():
            await super().set_type_codec(*args, **options)


POOLED_ARGUMENTS: Final[Mapping[str, Any]] = {
    "connection_class": _PooledConnection,
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": str,  # an empty name
}
"""Connection arguments for SQLAlchemy and asyncpg."""
