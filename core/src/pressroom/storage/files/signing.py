"""Signed URLs of the embedded storage, and the secret that signs them."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from base64 import urlsafe_b64encode
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Final

from pressroom.config.models import Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.storage.private import make_private_folder

MIN_SECRET_BYTES: Final = 16


class UrlStatus(Enum):
    """The result of checking a signed URL."""

    VALID = "valid"
    ALTERED = "altered"
    """Path, expiry or signature is not what was signed; answer 403."""
    EXPIRED = "expired"
    """Signed by this server, but its time is over; answer 410."""


class UrlSigner:
    """Signs paths together with their expiry: HMAC-SHA256 (RFC 2104), in base64url without padding (RFC 4648).

    `secret` has at least 16 bytes. Servers that share it accept each other's URLs.
    """

    __slots__ = ("_key", "_signed")

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"the secret must have at least {MIN_SECRET_BYTES} bytes (got {len(secret)})")
        # A key of its own, so that nothing else that is made from the same secret passes as a signed URL.
        self._key = hmac.digest(secret, b"pressroom signed file address", "sha256")
        # A result that many ask for at once is signed once a second.
        self._signed = lru_cache(maxsize=4096)(self._signature)

    def sign(self, path: str, expires: int) -> str:
        """Return the query that makes `path` valid until `expires`, a Unix time in whole seconds."""
        text = str(expires)
        return f"expires={text}&signature={self._signed(path, text).decode()}"

    def verify(self, path: str, expires: str, signature: str, now: float) -> UrlStatus:
        """Check what a client sent; a parameter that is missing counts as empty.

        The signature comes first: an altered expiry is `ALTERED`, whatever it says. Whether the file exists plays
        no part.

        Args:
            path: the path as `url_path` builds it, percent-decoded.
            expires: the query parameter `expires` as it was sent.
            signature: the query parameter `signature` as it was sent.
            now: Unix time in seconds.
        """
        if not hmac.compare_digest(self._signature(path, expires), signature.encode(errors="replace")):
            return UrlStatus.ALTERED
        # The text is the one that was signed, so it is a number.
        return UrlStatus.VALID if now < int(expires) else UrlStatus.EXPIRED

    def _signature(self, path: str, expires: str) -> bytes:
        # A line break is in no path that is signed, so no two pairs give the same message.
        message = f"{path}\n{expires}".encode(errors="replace")
        return urlsafe_b64encode(hmac.digest(self._key, message, "sha256")).rstrip(b"=")


FILE_NAME: Final = "secret.key"

_SECRET = re.compile(r"[0-9a-f]{64}", re.ASCII)


def signing_secret(settings: Settings) -> bytes:
    """Return the configured `secret_key`, or the one that is kept in `[storage] path`.

    Raises:
        ConfigError: the configured key is short enough to be guessed, or the kept one is damaged.
        BackendError: the kept one can be neither read nor made.
    """
    if settings.secret_key is None:
        return load_or_create_secret(settings.storage.path)
    secret = settings.secret_key.get_secret_value().encode()
    if len(secret) < MIN_SECRET_BYTES:
        raise ConfigError(
            f"secret_key: must have at least {MIN_SECRET_BYTES} bytes (got {len(secret)})",
            hint='Make one with: python -c "import secrets; print(secrets.token_hex())".',
        )
    return secret


def load_or_create_secret(folder: Path) -> bytes:
    """Return the 32 bytes of `secret.key` in `folder`; the first time, make them.

    Only the file's owner may read it. Processes that start at the same moment get the same secret.

    Raises:
        ConfigError: the file does not hold a secret.
        BackendError: the file can be neither read nor made.
    """
    path = folder / FILE_NAME
    try:
        try:
            return _load(path)
        except FileNotFoundError:
            make_private_folder(folder)
            _create(path)
            return _load(path)
    except OSError as error:
        raise BackendError(
            f"the secret key {path} can be neither read nor made: {error.strerror}",
            hint="Make the folder writable for the user that runs the server, or set secret_key.",
        ) from error


def _load(path: Path) -> bytes:
    text = path.read_bytes().decode(errors="replace").strip()
    if not _SECRET.fullmatch(text):
        raise ConfigError(
            f"{path} does not hold a secret key of 64 hex digits",
            hint="Restore it, or delete it: a new one is made, and file URLs given out before stop working.",
        )
    return bytes.fromhex(text)


def _create(path: Path) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(32).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a rename, a link never replaces the secret of a process that was faster.
            os.link(temporary, path)
        except FileExistsError:
            return
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
