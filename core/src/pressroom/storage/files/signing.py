"""Keys of stored files (`<tool>/<id>.<extension>`), and the local store's signed URLs and their secret."""

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
from pressroom.config.values import MIN_SECRET_BYTES
from pressroom.errors import BackendError, ConfigError
from pressroom.sdk.call import EXTENSIONS
from pressroom.storage.data_folder import make_private_folder

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
    """Path, expiry or signature differ from what was signed; respond with 403."""
    EXPIRED = "expired"
    """Signed by this server, but expired; respond with 410."""


class UrlSigner:
    """Signs paths together with their expiry: HMAC-SHA256 (RFC 2104), in base64url without padding (RFC 4648).

    `secret` has at least 16 bytes. Servers that share it accept each other's URLs.
    """

    __slots__ = ("_key", "_signed")

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"the secret must have at least {MIN_SECRET_BYTES} bytes (got {len(secret)})")
        # A derived key, so that nothing else made from the same secret is accepted as a signed URL.
        self._key = hmac.digest(secret, b"pressroom signed file address", "sha256")
        # A result that many clients request at once is signed once per second.
        self._signed = lru_cache(maxsize=4096)(self._signature)

    def sign(self, path: str, expires: int) -> str:
        """Return the query string that makes `path` valid until `expires`, a Unix time in whole seconds."""
        text = str(expires)
        return f"expires={text}&signature={self._signed(path, text).decode()}"

    def verify(self, path: str, expires: str, signature: str, now: float) -> UrlStatus:
        """Check the parameters of a request; a missing one counts as empty.

        The signature is checked first: an altered expiry is `ALTERED`, whatever its value. Whether the file exists is
        not checked.

        Args:
            path: the path as `url_path` builds it, percent-decoded.
            expires: the query parameter `expires`, as received.
            signature: the query parameter `signature`, as received.
            now: Unix time in seconds.
        """
        if not hmac.compare_digest(self._signature(path, expires), signature.encode(errors="replace")):
            return UrlStatus.ALTERED
        # The signature covers this text, so it is a number.
        return UrlStatus.VALID if now < int(expires) else UrlStatus.EXPIRED

    def _signature(self, path: str, expires: str) -> bytes:
        # Signed paths contain no line break, so no two pairs give the same message.
        message = f"{path}\n{expires}".encode(errors="replace")
        return urlsafe_b64encode(hmac.digest(self._key, message, "sha256")).rstrip(b"=")


def signing_secret(settings: Settings) -> bytes:
    """Return the configured `secret_key`, or the one stored in `[storage] path`.

    Raises:
        ConfigError: the stored key is damaged.
        BackendError: the stored one can be neither read nor created.
    """
    if settings.secret_key is None:
        return load_or_create_secret(settings.storage.path)
    return settings.secret_key.get_secret_value().encode()


def load_or_create_secret(folder: Path) -> bytes:
    """Return the 32 bytes of `secret.key` in `folder`, creating the file the first time.

    Only the file's owner can read it. Processes that start at the same time get the same secret.

    Raises:
        ConfigError: the file does not contain a secret.
        BackendError: the file can be neither read nor created.
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
            f"{path} does not contain a secret key of 64 hex digits",
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
            # Unlike a rename, a link never replaces the secret of a faster process.
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
    """Return whether `text` has the form of a key. A key cannot point outside the store's folder."""
    return len(text) <= MAX_KEY_LENGTH and _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """Return `key` unchanged.

    Raises:
        ValueError: it is not a key. Keys are generated by the server, so this is a programming error.
    """
    if not is_key(key):
        raise ValueError(f"{key!r} is not a key of the form <tool>/<id>.<extension> in [a-z0-9-]")
    return key


def extension_of(key: str) -> str:
    """Return the extension of a key, without the dot."""
    return key.rpartition(".")[2]


class MediaTypes:
    """Maps the extensions of keys to media types: those of the SDK, and those that generators declare.

    A file whose type no generator declares is served as plain bytes.
    """

    def __init__(self) -> None:
        self._declared: dict[tuple[str, str], str] = {}

    def declare(self, tool: str, extensions: Mapping[str, str]) -> None:
        """Add a generator's extensions by media type."""
        for media_type, extension in extensions.items():
            self._declared[tool, extension] = media_type

    def of(self, key: str) -> str:
        """Return the media type of the key's extension."""
        extension = extension_of(key)
        return _KNOWN.get(extension) or self._declared.get((key.partition("/")[0], extension), _UNKNOWN)

    def check(self, key: str, media_type: str) -> None:
        """Check that a file's media type matches the extension of its key.

        Raises:
            ValueError: it does not. Clients that fetch the file would get the wrong type.
        """
        if media_type != self.of(key):
            raise ValueError(f"{key} would be served as {self.of(key)}, but it is {media_type}")


def disposition_type(media_type: str) -> Literal["inline", "attachment"]:
    """Return whether browsers should display a file or save it: types that are not in the SDK are saved."""
    return "inline" if media_type in EXTENSIONS else "attachment"


def content_disposition(key: str, media_type: str) -> str:
    """Return the `Content-Disposition` header (RFC 6266), which saves a file under its own name."""
    return f'{disposition_type(media_type)}; filename="{key.rpartition("/")[2]}"'


def url_path(key: str) -> str:
    """Return the path of a local file below the server's base URL. This path is what gets signed."""
    return f"/files/{key}"
