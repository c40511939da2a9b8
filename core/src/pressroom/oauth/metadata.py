"""Checking what a client says of itself (RFC 7591, section 2)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.errors import InvalidClientMetadata, InvalidRedirectUri
from pressroom.oauth.records import AUTH_METHODS, AUTHORIZATION_CODE, GRANT_TYPES, AuthMethod, ClientMetadata
from pressroom.oauth.redirection import check_redirect_uri
from pressroom.validation.echo import shown

MAX_REDIRECT_URIS: Final = 10
MAX_NAME_LENGTH: Final = 200
_MAX_URI_LENGTH: Final = 2000
_MAX_VALUES: Final = 20
_DEFAULT_AUTH_METHOD: Final[AuthMethod] = "client_secret_basic"
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_metadata(document: Mapping[str, Any]) -> ClientMetadata:
    """Return a client's metadata. Members that are unknown are ignored, those that are null count as left out.

    Of grant types and response types the server takes those that it has, as RFC 7591 allows (section 2); a client that
    names no grant types may refresh.

    Raises:
        InvalidRedirectUri: a redirect URI is missing or cannot be registered.
        InvalidClientMetadata: another member is wrong.
    """
    members = {name: value for name, value in document.items() if value is not None}
    return ClientMetadata(
        redirect_uris=_redirect_uris(members.get("redirect_uris")),
        auth_method=_auth_method(members.get("token_endpoint_auth_method", _DEFAULT_AUTH_METHOD)),
        grant_types=_grant_types(members),
        name=_name(members.get("client_name", "")),
        client_uri=_web_address(members, "client_uri"),
        logo_uri=_web_address(members, "logo_uri"),
    )


def visible(text: str) -> str:
    """Return a text on one line without invisible characters, such as those that turn the direction of writing."""
    kept = (" " if character.isspace() else character for character in unicodedata.normalize("NFC", text))
    return " ".join("".join(one for one in kept if unicodedata.category(one) not in _INVISIBLE).split())


def _redirect_uris(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidRedirectUri("redirect_uris: must be an array of one URL at least")
    if len(value) > MAX_REDIRECT_URIS:
        raise InvalidRedirectUri(f"redirect_uris: at most {MAX_REDIRECT_URIS} are allowed (got {len(value)})")
    return tuple(dict.fromkeys(check_redirect_uri(uri) for uri in value))


def _auth_method(value: object) -> AuthMethod:
    for method in AUTH_METHODS:
        if value == method:
            return method
    raise InvalidClientMetadata(
        f"token_endpoint_auth_method: must be one of {', '.join(AUTH_METHODS)} (got {shown(value)})"
    )


def _grant_types(members: Mapping[str, Any]) -> tuple[str, ...]:
    if "code" not in _texts(members, "response_types", ["code"]):
        raise InvalidClientMetadata("response_types: must contain code")
    wanted = _texts(members, "grant_types", list(GRANT_TYPES))
    if AUTHORIZATION_CODE not in wanted:
        raise InvalidClientMetadata(f"grant_types: must contain {AUTHORIZATION_CODE}")
    return tuple(known for known in GRANT_TYPES if known in wanted)


def _texts(members: Mapping[str, Any], name: str, default: list[str]) -> list[str]:
    value = members.get(name, default)
    if not isinstance(value, list) or len(value) > _MAX_VALUES or not all(isinstance(one, str) for one in value):
        raise InvalidClientMetadata(f"{name}: must be an array of at most {_MAX_VALUES} strings")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME_LENGTH:
        raise InvalidClientMetadata(f"client_name: must be a string of at most {MAX_NAME_LENGTH} characters")
    return visible(value)[:MAX_NAME_LENGTH]


def _web_address(members: Mapping[str, Any], name: str) -> str:
    """Return a URL that may be shown as a link: https, or nothing for any other."""
    value = members.get(name, "")
    if not isinstance(value, str) or len(value) > _MAX_URI_LENGTH:
        raise InvalidClientMetadata(f"{name}: must be a URL of at most {_MAX_URI_LENGTH} characters")
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    return value if parts.scheme == "https" and parts.netloc and value.isascii() and value.isprintable() else ""
