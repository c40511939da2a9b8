"""Keys of SSH that people paste: those by which a server is known, and the private one that opens a repository."""

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
"""Kinds of key, and the signatures that are made with them (RFC 8332, RFC 8709, RFC 5656). SHA-1 is left out."""

SIGNATURES: Final = tuple(one for names in _ALGORITHMS.values() for one in names)
"""Signatures of clients and servers that are accepted, the one that is best to have first."""

_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}=?")
_MAX_LINES: Final = 40


def fingerprint_of(public: bytes) -> str:
    """Return the fingerprint of a public key as OpenSSH prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class HostKeys:
    """The keys by which a person knows a server."""

    fingerprints: frozenset[str]
    kinds: frozenset[str]
    """Of what kinds the keys are, where all of them say it."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the keys of lines as `ssh-keyscan` prints them, or of fingerprints; none of an empty text.

        Raises:
            SiteRejected: there is a line of another form.
        """
        found: list[tuple[str, str]] = []
        rows = [row for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]
        for row in rows[:_MAX_LINES]:
            kind, fingerprint = _key_in(row.split())
            if not fingerprint:
                raise SiteRejected(
                    "the host key has a line that cannot be read",
                    hint="Paste lines that ssh-keyscan prints, such as git.example.org ssh-ed25519 AAAA…, or "
                    "fingerprints that begin with SHA256:.",
                )
            found.append((kind, fingerprint))
        kinds = frozenset(kind for kind, _ in found)
        return cls(frozenset(one for _, one in found), frozenset() if "" in kinds else kinds)

    @property
    def algorithms(self) -> Sequence[str]:
        """What the server is asked to sign with, so that it shows a key that is known."""
        return [one for kind, names in _ALGORITHMS.items() if not self.kinds or kind in self.kinds for one in names]


def _key_in(words: Sequence[str]) -> tuple[str, str]:
    """Return the kind and the fingerprint of the key in a line; an empty fingerprint where it has no key."""
    for at, word in enumerate(words):
        if _FINGERPRINT.fullmatch(word):
            return "", word.rstrip("=")
        if word in _ALGORITHMS and at + 1 < len(words) and not words[0].startswith("@"):
            try:
                public = base64.b64decode(words[at + 1], validate=True)
            except (binascii.Error, ValueError):
                return "", ""
            named = struct.pack(">I", len(word)) + word.encode()
            return (word, fingerprint_of(public)) if public.startswith(named) else ("", "")
    return "", ""


MAX_KEY_LENGTH: Final = 8_000
"""Characters of a private key; one of RSA with 4096 bits has 3400."""

_MIN_BITS, _MAX_BITS = 2048, 4096
_MAGIC: Final = b"openssh-key-v1\0"
_PUBLIC: Final = ("ssh-", "ecdsa-", "sk-", "---- BEGIN SSH2 PUBLIC KEY", "-----BEGIN PUBLIC", "-----BEGIN RSA PUBLIC")
_BEGIN = re.compile(r"-----BEGIN (OPENSSH |RSA |EC |DSA |ENCRYPTED )?PRIVATE KEY-----")
_NEW_KEY: Final = "Make one for this website alone with ssh-keygen -t ed25519 -N '' -f deploy_key"


def plain_key(text: str) -> str:
    """Return a private key that can be loaded without a passphrase, as far as its text shows.

    Raises:
        SiteRejected: it is missing, too long, protected by a passphrase, or not a private key.
    """
    key = text.strip()
    if not key:
        raise SiteRejected(
            "a repository over SSH needs a private key",
            hint=f"{_NEW_KEY}, add deploy_key.pub to the repository as a deploy key that may write, and paste the "
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
            "the private key is protected by a passphrase, and nobody is here to type it",
            hint=f"{_NEW_KEY}; it is kept encrypted here.",
        )
    return key


def _is_encrypted(key: str) -> bool:
    """Tell whether a key in OpenSSH's form (PROTOCOL.key) names a cipher: it is read before anything is derived."""
    body = "".join(line for line in key.splitlines() if not line.startswith("-----"))
    try:
        head = base64.b64decode(body[:200], validate=True)
    except (binascii.Error, ValueError):
        return False
    return head.startswith(_MAGIC) and not head.startswith(_MAGIC + b"\0\0\0\x04none")


def check_private_key(key: str) -> str:
    """Return the fingerprint of a private key. Made-up factors take seconds: call it in a worker process.

    Raises:
        SiteRejected: it cannot be read, or is of a kind or size that is not accepted.
    """
    loaded = _loaded(key, checked=False)
    if loaded.get_algorithm() not in _ALGORITHMS:
        raise SiteRejected(f"private keys of the kind {loaded.get_algorithm()} are not accepted", hint=f"{_NEW_KEY}.")
    bits = loaded.pyca_key.key_size if loaded.get_algorithm() == "ssh-rsa" else _MIN_BITS
    if not _MIN_BITS <= bits <= _MAX_BITS:
        raise SiteRejected(
            f"the private key is one of RSA with {bits} bits; {_MIN_BITS} to {_MAX_BITS} are accepted",
            hint=f"{_NEW_KEY}.",
        )
    return str(loaded.get_fingerprint())


def load_private_key(key: str) -> Any:
    """Return a key that `check_private_key` has seen, for asyncssh."""
    return _loaded(key, checked=True)


def _loaded(key: str, *, checked: bool) -> Any:
    import asyncssh  # noqa: PLC0415 - it loads once a website over SSH is opened

    try:
        return asyncssh.import_private_key(key, unsafe_skip_rsa_key_validation=checked)
    except Exception:  # noqa: BLE001 - whatever is in it, and its text must not be in a traceback
        raise SiteRejected(
            "the private key cannot be read", hint="Paste the whole file, with the lines that begin with -----."
        ) from None
