"""E-mail addresses, in the form that they are compared in."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pressroom.errors import InvalidInput

LONGEST_EMAIL: Final = 254
_LONGEST_LOCAL: Final = 64

# An unquoted local part (RFC 5322, dot-atom), and a domain name; both may go beyond ASCII (RFC 6531).
_ATOM: Final = r"[a-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_ALNUM: Final = r"[a-z0-9\u0080-\U0010ffff]"
_LABEL: Final = rf"{_ALNUM}(?:(?:{_ALNUM}|-){{0,61}}{_ALNUM})?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def normalised_email(text: str) -> str:
    """Return an address as it is compared: trimmed, NFC, lower case. Raises `InvalidInput` for one that is none."""
    if len(text) > 2 * LONGEST_EMAIL:
        raise InvalidInput("email", f"must have at most {LONGEST_EMAIL} characters")
    address = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).lower())
    local, _, domain = address.rpartition("@")
    if not address.isprintable() or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise InvalidInput("email", "must be an e-mail address, such as ada@example.com")
    if len(address.encode()) > LONGEST_EMAIL or len(local.encode()) > _LONGEST_LOCAL:
        raise InvalidInput("email", f"must have at most {LONGEST_EMAIL} characters, {_LONGEST_LOCAL} before the @")
    return address
