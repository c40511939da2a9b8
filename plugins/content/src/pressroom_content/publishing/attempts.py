"""Telling those who wait for a publication, in the same process, that an attempt has come to something."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_waiting: dict[tuple[int, str], set[asyncio.Event]] = {}


@contextmanager
def listening(publication_id: str) -> Iterator[asyncio.Event]:
    """Give an event that is set whenever an attempt ends that this event loop runs."""
    key, ended = _key(publication_id), asyncio.Event()
    _waiting.setdefault(key, set()).add(ended)
    try:
        yield ended
    finally:
        _waiting[key].discard(ended)
        if not _waiting[key]:
            del _waiting[key]


def tell(publication_id: str) -> None:
    """Say that an attempt has ended."""
    for ended in _waiting.get(_key(publication_id), ()):
        ended.set()


def _key(publication_id: str) -> tuple[int, str]:
    return id(asyncio.get_running_loop()), publication_id
