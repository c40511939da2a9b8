"""Count the transactions that a thread opens on its databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from sqlalchemy import Engine, event


@dataclass(slots=True)
class TransactionCount:
    """The number of transactions begun, and of those committed, which are the writing ones."""

    started: int = 0
    committed: int = 0


@contextmanager
def counted_transactions() -> Iterator[TransactionCount]:
    """Count the transactions opened by this thread until the block ends. Other hosts use other threads."""
    count, thread_id = TransactionCount(), get_ident()

    def begin(_connection: Any) -> None:
        count.started += get_ident() == thread_id

    def commit(_connection: Any) -> None:
        count.committed += get_ident() == thread_id

    event.listen(Engine, "begin", begin)
    event.listen(Engine, "commit", commit)
    try:
        yield count
    finally:
        event.remove(Engine, "begin", begin)
        event.remove(Engine, "commit", commit)
