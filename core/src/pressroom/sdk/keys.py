"""Keys that all hosts of one database need alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SharedKeys:
    """Keys with which a plugin encrypts or signs what other hosts on the same database read.

    The database keeps a fingerprint of the key in use. A host whose keys do not include that one does not start on a
    database that hosts share, and `pressroom doctor` says why.

    `name` is that of the setting, as in `credential_keys`, and `setting` says where it is, as in
    `[plugins.content.config] credential_keys`. `read` returns the keys of this host: the first one writes, the others
    read what was written before. `configured` tells whether the operator named them; otherwise each host makes its own.
    `lost` says what no longer works once a key is replaced, as in `websites have to be connected again`. `unreadable`,
    where it is given, is an async function that gets a session of the database, and returns how many rows none of the
    keys can open; `rows` is what people call them.
    """

    name: str
    setting: str
    read: Callable[[], Sequence[bytes]]
    configured: bool
    lost: str
    unreadable: Callable[[Any], Awaitable[int]] | None = None
    rows: str = "rows"
