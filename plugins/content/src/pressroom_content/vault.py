"""Encrypted credentials of sites: compact JWE (RFC 7516) with AES-256-GCM under a key of the operator.

A credential is sealed for one website, and cannot be opened if it is copied to another row. The header contains the id
of the key that sealed it (`kid`), so that keys can be rotated: the first one seals, all of them open.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from pressroom.sdk import BackendError, PluginContext

from pressroom_content.config import ContentConfig
from pressroom_content.contract import SiteRejected

FILE_NAME: Final = "credentials.key"

_PURPOSE: Final = b"pressroom content: credentials of sites"
_FILE_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Vault:
    """Seals and opens credentials.

    Args:
        keys: secrets of at least 256 bits; the first one seals.
    """

    def __init__(self, keys: Iterable[bytes]) -> None:
        self.secrets = tuple(keys)
        derived = [hmac.digest(key, _PURPOSE, "sha256") for key in self.secrets]
        self._keys = {hashlib.sha256(key).hexdigest()[:16]: OctKey.import_key(key) for key in derived}
        self._first = next(iter(self._keys))

    @classmethod
    def of(cls, plugin: PluginContext[ContentConfig]) -> Vault:
        """Return the vault with the operator's keys, or else with the key in the plugin's data folder.

        Raises `BackendError` if that key can be neither read nor created.
        """
        configured = tuple(key.get_secret_value() for key in plugin.config.credential_keys)
        return _vault(configured, plugin.data_folder)

    def seal(self, credential: Mapping[str, str], website_id: str) -> str:
        """Return the credential of a website as an encrypted text that can be stored."""
        header = {"alg": "dir", "enc": "A256GCM", "kid": self._first}
        content = json.dumps({"for": website_id, "fields": dict(credential)}).encode()
        return jwe.encrypt_compact(header, content, self._keys[self._first])

    def open(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """Return the credential of a website.

        Raises:
            SiteRejected: no key can decrypt it, or it belongs to another website.
        """
        key = self._keys.get(_key_of(sealed))
        try:
            content: Any = json.loads(jwe.decrypt_compact(sealed, key).plaintext or b"") if key else {}
        except (JoseError, ValueError):
            content = {}
        if content.get("for") != website_id:
            raise SiteRejected(
                "the site's credential can no longer be decrypted: the key that it was stored with is gone",
                hint="Connect the site again. Operators: put the old key back, behind the new one in credential_keys.",
            )
        fields: Mapping[str, str] = content["fields"]
        return fields

    def can_open(self, sealed: str) -> bool:
        """Return whether one of the keys sealed a credential."""
        return _key_of(sealed) in self._keys

    def is_current(self, sealed: str) -> bool:
        """Return whether the first key sealed a credential."""
        return _key_of(sealed) == self._first


@lru_cache(maxsize=8)
def _vault(configured: tuple[str, ...], folder: Path) -> Vault:
    if not configured:
        return Vault([stored_key(folder)])
    # A key that is copied from a host's file to the setting still opens what that host sealed.
    file_keys = [bytes.fromhex(key) for key in configured if _FILE_KEY.fullmatch(key)]
    return Vault([*(key.encode() for key in configured), *file_keys])


def stored_key(folder: Path) -> bytes:
    """Return the 32 bytes of `credentials.key` in `folder`, and create the file if it does not exist.

    Only the file's owner can read it. Processes that start at the same moment get the same key.
    Raises `BackendError`.
    """
    path = folder / FILE_NAME
    try:
        if not path.exists():
            for directory in (folder.parent, folder):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(path)
        text = path.read_text("ascii", "replace").strip()
    except OSError as error:
        raise BackendError(
            f"the key {path} can be neither read nor made: {error.strerror}",
            hint="Make the folder writable for the user that runs the server, or set credential_keys.",
        ) from error
    if not _FILE_KEY.fullmatch(text):
        raise BackendError(
            f"{path} does not contain a key of 64 hex digits",
            hint="Restore it. If it is lost, delete it: a new one is made, and every site has to be connected again.",
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
        # Unlike a rename, a hard link never replaces the key of a process that was faster.
        path.hardlink_to(temporary)
    except FileExistsError:
        return
    finally:
        temporary.unlink(missing_ok=True)


def _key_of(sealed: str) -> str:
    """Return the `kid` of the protected header (RFC 7516, section 4.1.6), or an empty text. Decryption verifies it."""
    encoded = sealed.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
        return str(header["kid"])
    except (ValueError, KeyError, TypeError):
        return ""
