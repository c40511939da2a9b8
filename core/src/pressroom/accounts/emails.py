"""E-mail addresses, in the form that they are compared in."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pressroom.errors import InvalidInput

MAX_EMAIL_LENGTH: Final = 254
_MAX_LOCAL_LENGTH: Final = 64

# An unquoted local part (RFC 5322, dot-atom), and a domain name; both may go beyond ASCII (RFC 6531).
_ATOM: Final = r"[a-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_ALNUM: Final = r"[a-z0-9\u0080-\U0010ffff]"
_LABEL: Final = rf"{_ALNUM}(?:(?:{_ALNUM}|-){{0,61}}{_ALNUM})?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def normalised_email(text: str) -> str:
    """Return an e-mail address as it is compared: trimmed, NFC, lower case. Raises `InvalidInput` if it is invalid."""
    if len(text) > 2 * MAX_EMAIL_LENGTH:
        raise InvalidInput("email", f"must have at most {MAX_EMAIL_LENGTH} characters")
    address = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).lower())
    local, _, domain = address.rpartition("@")
    if not address.isprintable() or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise InvalidInput("email", "must be an e-mail address, such as ada@example.com")
    if len(address.encode()) > MAX_EMAIL_LENGTH or len(local.encode()) > _MAX_LOCAL_LENGTH:
        raise InvalidInput(
            "email", f"must have at most {MAX_EMAIL_LENGTH} characters, {_MAX_LOCAL_LENGTH} before the @"
        )
    return address
