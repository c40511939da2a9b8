"""Counting the transactions that a process opens on its databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event


@dataclass(slots=True)
class TransactionCount:
    """How many transactions were begun, and how many of them were committed: those are the ones that write."""

    begun: int = 0
    committed: int = 0


@contextmanager
def counted_transactions() -> Iterator[TransactionCount]:
    """Count the transactions of all engines of this process until the block ends."""
    count = TransactionCount()

    def begin(_connection: Any) -> None:
        count.begun += 1

    def commit(_connection: Any) -> None:
        count.committed += 1

    event.listen(Engine, "begin", begin)
    event.listen(Engine, "commit", commit)
    try:
        yield count
    finally:
        event.remove(Engine, "begin", begin)
        event.remove(Engine, "commit", commit)
