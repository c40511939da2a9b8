"""What all statements about reports share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

BATCH: Final = 50
"""How many records are written together: records of pages may be large."""

_ROWS_AT_ONCE: Final = 200


async def upsert(session: AsyncSession, table: Any, rows: Sequence[dict[str, Any]], keys: Iterable[str]) -> None:
    """Add rows, or write over those that have the same `keys`. All rows have the same columns."""
    names = tuple(keys)
    unique = list({tuple(row[name] for name in names): row for row in rows}.values())
    insert: Any = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    for at in range(0, len(unique), _ROWS_AT_ONCE):
        part = unique[at : at + _ROWS_AT_ONCE]
        adding = insert(table).values(part)
        changed = {name: adding.excluded[name] for name in part[0] if name not in names}
        await session.execute(adding.on_conflict_do_update(index_elements=list(names), set_=changed))


def plain(text: str, longest: int) -> str:
    """Return a text as every database can keep it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[:longest]
