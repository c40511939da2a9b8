"""Connections through a pooler that lends a connection to the server for each transaction, such as PgBouncer.

The next transaction may be on another connection to the server, where named prepared statements of other clients are,
and those of this one are not. So every statement is prepared without a name, within the transaction that runs it:
nothing is left on the server's connection. Locks are those of transactions everywhere (`pg_advisory_xact_lock`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import asyncpg


class _PooledConnection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection on which setting a codec is one transaction: it prepares a statement, then runs it."""

    async def set_type_codec(self, *args: Any, **options: Any) -> None:
        async with self.transaction():
            await super().set_type_codec(*args, **options)


POOLED_ARGUMENTS: Final[Mapping[str, Any]] = {
    "connection_class": _PooledConnection,
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": str,  # an empty name
}
"""What SQLAlchemy and asyncpg are told."""
