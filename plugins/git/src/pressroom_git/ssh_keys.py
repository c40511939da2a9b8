"""Parsing and checking of SSH keys that users paste: host keys and private keys."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from pressroom_content.contract import SiteRejected

_ALGORITHMS: Final = {
    "ssh-ed25519": ("ssh-ed25519",),
    "ecdsa-sha2-nistp256": ("ecdsa-sha2-nistp256",),
    "ecdsa-sha2-nistp384": ("ecdsa-sha2-nistp384",),
    "ecdsa-sha2-nistp521": ("ecdsa-sha2-nistp521",),
    "ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256"),
}
"""Accepted key types and their signature algorithms (RFC 8332, RFC 8709, RFC 5656). SHA-1 is excluded."""

SIGNATURES: Final = tuple(name for names in _ALGORITHMS.values() for name in names)
"""Accepted signature algorithms of clients and servers, in order of preference."""

_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}=?")
_MAX_LINES: Final = 40


def fingerprint_of(public: bytes) -> str:
    """Return the fingerprint of a public key as OpenSSH prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class HostKeys:
    """The confirmed host keys of a server."""

    fingerprints: frozenset[str]
    kinds: frozenset[str]
    """Types of the keys; empty if the type of any is unknown."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse lines printed by `ssh-keyscan`, or fingerprints. An empty text has no keys.

        Raises:
            SiteRejected: a line has another form, or there are more than 40.
        """
        keys: list[tuple[str, str]] = []
        rows = [row for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]
        if len(rows) > _MAX_LINES:
            raise SiteRejected(
                f"the host key has {len(rows)} lines; at most {_MAX_LINES} are allowed",
                hint="Paste only the keys of this host: ssh-keyscan prints one line for each.",
            )
        for row in rows:
            kind, fingerprint = _key_in(row.split())
            if not fingerprint:
                raise SiteRejected(
                    "the host key has a line that cannot be read",
                    hint="Paste lines that ssh-keyscan prints, such as git.example.org ssh-ed25519 AAAA…, or "
                    "fingerprints that begin with SHA256:.",
                )
            keys.append((kind, fingerprint))
        kinds = frozenset(kind for kind, _ in keys)
        return cls(frozenset(fingerprint for _, fingerprint in keys), frozenset() if "" in kinds else kinds)

    @property
    def algorithms(self) -> Sequence[str]:
        """Signature algorithms to request, so that the server presents a confirmed key."""
        return [name for kind, names in _ALGORITHMS.items() if not self.kinds or kind in self.kinds for name in names]


def _key_in(words: Sequence[str]) -> tuple[str, str]:
    """Return type and fingerprint of the key in a line; the fingerprint is empty if it has no valid key."""
    for at, word in enumerate(words):
        if _FINGERPRINT.fullmatch(word):
            return "", word.rstrip("=")
        if word in _ALGORITHMS and at + 1 < len(words) and not words[0].startswith("@"):
            try:
                public = base64.b64decode(words[at + 1], validate=True)
            except (binascii.Error, ValueError):
                return "", ""
            prefix = struct.pack(">I", len(word)) + word.encode()
            return (word, fingerprint_of(public)) if public.startswith(prefix) else ("", "")
    return "", ""


MAX_KEY_LENGTH: Final = 8_000
"""Maximum length of a private key in characters; a 4096-bit RSA key has 3400."""

_MIN_BITS, _MAX_BITS = 2048, 4096
_MAGIC: Final = b"openssh-key-v1\0"
_PUBLIC: Final = ("ssh-", "ecdsa-", "sk-", "---- BEGIN SSH2 PUBLIC KEY", "-----BEGIN PUBLIC", "-----BEGIN RSA PUBLIC")
_BEGIN = re.compile(r"-----BEGIN (OPENSSH |RSA |EC |DSA |ENCRYPTED )?PRIVATE KEY-----")
_NEW_KEY: Final = "Create one for this website only with ssh-keygen -t ed25519 -N '' -f deploy_key"


def plain_key(text: str) -> str:
    """Check the text of a private key and return it stripped. The key is not parsed.

    Raises:
        SiteRejected: it is missing, too long, protected by a passphrase, or not a private key.
    """
    key = text.strip()
    if not key:
        raise SiteRejected(
            "a repository over SSH needs a private key",
            hint=f"{_NEW_KEY}, add deploy_key.pub to the repository as a deploy key with write access, and paste the "
            "file deploy_key.",
        )
    if len(key) > MAX_KEY_LENGTH:
        raise SiteRejected(
            f"the private key has more than {MAX_KEY_LENGTH} characters", hint=f"{_NEW_KEY}: it has about 400."
        )
    if key.startswith(_PUBLIC):
        raise SiteRejected(
            "this is a public key, and the private one is needed",
            hint="Paste the file without .pub at the end of its name. It begins with "
            "-----BEGIN OPENSSH PRIVATE KEY-----.",
        )
    if key.startswith("PuTTY-User-Key-File"):
        raise SiteRejected(
            "the private key is in PuTTY's form",
            hint="Convert it with puttygen deploy_key.ppk -O private-openssh -o deploy_key, and paste deploy_key.",
        )
    begin = _BEGIN.match(key)
    if begin is None:
        raise SiteRejected(
            "the private key cannot be read", hint="Paste the whole file, with the lines that begin with -----."
        )
    if begin[1] == "ENCRYPTED " or "Proc-Type: 4,ENCRYPTED" in key or (begin[1] == "OPENSSH " and _is_encrypted(key)):
        raise SiteRejected(
            "the private key is protected by a passphrase, which cannot be entered here",
            hint=f"{_NEW_KEY}; it is stored encrypted here.",
        )
    return key


def _is_encrypted(key: str) -> bool:
    """Return whether a key in OpenSSH's format (PROTOCOL.key) has a cipher, without running its key derivation."""
    body = "".join(line for line in key.splitlines() if not line.startswith("-----"))
    try:
        head = base64.b64decode(body[:200], validate=True)
    except (binascii.Error, ValueError):
        return False
    return head.startswith(_MAGIC) and not head.startswith(_MAGIC + b"\0\0\0\x04none")


def check_private_key(key: str) -> str:
    """Validate a private key and return its fingerprint.

    Call this in a worker process: validation of forged RSA factors takes seconds.

    Raises:
        SiteRejected: the key is invalid, or its type or size is not accepted.
    """
    loaded = _loaded(key, checked=False)
    if loaded.get_algorithm() not in _ALGORITHMS:
        raise SiteRejected(f"private keys of the kind {loaded.get_algorithm()} are not accepted", hint=f"{_NEW_KEY}.")
    bits = loaded.pyca_key.key_size if loaded.get_algorithm() == "ssh-rsa" else _MIN_BITS
    if not _MIN_BITS <= bits <= _MAX_BITS:
        raise SiteRejected(
            f"the private key is RSA with {bits} bits; {_MIN_BITS} to {_MAX_BITS} are accepted",
            hint=f"{_NEW_KEY}.",
        )
    return str(loaded.get_fingerprint())


def load_private_key(key: str) -> Any:
    """Load a key for asyncssh. Call `check_private_key` first, since this skips the validation."""
    return _loaded(key, checked=True)


def _loaded(key: str, *, checked: bool) -> Any:
    import asyncssh  # noqa: PLC0415 - loads when a website over SSH is first used

    try:
        return asyncssh.import_private_key(key, unsafe_skip_rsa_key_validation=checked)
    except Exception:  # noqa: BLE001 - it can raise anything, and no traceback may contain the key
        raise SiteRejected(
            "the private key cannot be read", hint="Paste the whole file, with the lines that begin with -----."
        ) from None
