"""Keys of stored files, `<tool>/<id>.<extension>`, and signed URLs of the embedded storage, with their secret."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pressroom.config.models import Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.sdk.call import EXTENSIONS
from pressroom.storage.data_folder import make_private_folder

MIN_SECRET_BYTES: Final = 16

FILE_NAME: Final = "secret.key"
_SECRET = re.compile(r"[0-9a-f]{64}", re.ASCII)
MAX_KEY_LENGTH: Final = 200
_KEY = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.[a-z0-9]+", re.ASCII)
_KNOWN: Final = {extension: media_type for media_type, extension in EXTENSIONS.items()}
_UNKNOWN: Final = "application/octet-stream"


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


def is_key(text: str) -> bool:
    """Tell whether `text` has the form of a key. Such a text cannot leave the store's folder."""
    return len(text) <= MAX_KEY_LENGTH and _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """Return `key` unchanged.

    Raises:
        ValueError: it is not a key. Keys are made by the server, so this is a fault of the program.
    """
    if not is_key(key):
        raise ValueError(f"{key!r} is not a key of the form <tool>/<id>.<extension> in [a-z0-9-]")
    return key


def extension_of(key: str) -> str:
    """Return the extension of a key, without the dot."""
    return key.rpartition(".")[2]


class MediaTypes:
    """Which media types the extensions of keys stand for: those of the SDK, and those that generators declare.

    A file of a generator that declares it no more is plain bytes.
    """

    def __init__(self) -> None:
        self._declared: dict[tuple[str, str], str] = {}

    def declare(self, tool: str, extensions: Mapping[str, str]) -> None:
        """Take over what a generator declares: the extension of each further media type."""
        for media_type, extension in extensions.items():
            self._declared[tool, extension] = media_type

    def of(self, key: str) -> str:
        """Return the media type that the key's extension stands for."""
        extension = extension_of(key)
        return _KNOWN.get(extension) or self._declared.get((key.partition("/")[0], extension), _UNKNOWN)

    def check(self, key: str, media_type: str) -> None:
        """Check that a file's media type is the one that its key promises.

        Raises:
            ValueError: it is another one. Who fetches the file would be told the wrong type.
        """
        if media_type != self.of(key):
            raise ValueError(f"{key} would be served as {self.of(key)}, but it is {media_type}")


def disposition_type(media_type: str) -> Literal["inline", "attachment"]:
    """Return whether browsers show a file in place or save it: nobody knows what they would do with other types."""
    return "inline" if media_type in EXTENSIONS else "attachment"


def content_disposition(key: str, media_type: str) -> str:
    """Return the value of `Content-Disposition` (RFC 6266): a file is saved under its own name."""
    return f'{disposition_type(media_type)}; filename="{key.rpartition("/")[2]}"'


def url_path(key: str) -> str:
    """Return the path, below the server's base URL, at which a local file is fetched. It is what gets signed."""
    return f"/files/{key}"
