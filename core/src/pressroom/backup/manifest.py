"""What a backup says of itself: `manifest.json`, the last member of the archive."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT: Final = 1

MANIFEST: Final = "manifest.json"
SQLITE: Final = "database/pressroom.sqlite"
POSTGRESQL: Final = "database/postgresql.dump"
DATA: Final = "data/"
"""What the names of files of the data folder begin with."""

MAX_MANIFEST_BYTES: Final = 268_435_456

_DATA_NAME: Final = re.compile(r"data/(?:secret\.key|(?:plugins|files)(?:/[^/\x00-\x1f\\\x7f]{1,255}){1,32})")


def is_member_name(name: str) -> bool:
    """Tell whether a backup may have a file of that name. Such a name never leads out of the folder it is joined to."""
    if name in (SQLITE, POSTGRESQL):
        return True
    return _DATA_NAME.fullmatch(name) is not None and not {".", ".."}.intersection(name.split("/"))


def fingerprint(secret: bytes) -> str:
    """Return what tells one secret key from another without giving it away."""
    return hashlib.sha256(b"pressroom backup: secret_key\0" + secret).hexdigest()[:16]


class ArchivedFile(BaseModel):
    """A file in the archive."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """What is in a backup, and what it was made of."""

    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal[1] = FORMAT
    version: str
    """The version of Pressroom that made it."""
    created_at: str
    database: Literal["sqlite", "postgresql"]
    database_version: int
    """PostgreSQL's major version; 0 for SQLite."""
    database_schema: str
    """The schema of PostgreSQL that the tables are in; empty for SQLite."""
    revisions: dict[str, str]
    """The revision of each plugin's tables; `pressroom` is the server's own."""
    tables: list[str]
    with_files: bool
    """Whether the stored files are in it."""
    secret_key: str
    """The fingerprint of the server's secret key; empty where it had none yet."""
    not_included: list[str]
    """What belongs to the server and is not in it, in sentences for the operator."""
    files: list[ArchivedFile]
