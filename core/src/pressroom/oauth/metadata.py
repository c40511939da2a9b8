"""Validation of client metadata (RFC 7591, section 2), in particular of redirect URIs (RFC 8252, RFC 9700)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from pressroom.errors import InvalidClientMetadata, InvalidRedirectUri
from pressroom.oauth.records import AUTH_METHODS, AUTHORIZATION_CODE, GRANT_TYPES, AuthMethod, ClientMetadata
from pressroom.validation.echo import format_value, quoted

MAX_URI_LENGTH: Final = 2000

_NOT_ALLOWED: Final = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}*#]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]", re.ASCII)
_APP_HOST: Final = re.compile(r"//[A-Za-z0-9]")
_LOOPBACK: Final = re.compile(r"http://(127\.0\.0\.1|\[::1\]|localhost)(?::([0-9]{1,5}))?([/?].*)?", re.ASCII)
_LOOPBACK_HOSTS: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_FOREIGN_SCHEMES: Final = frozenset(
    {
        "about", "acrobat", "afp", "androidapp", "android-app", "bitcoin", "blob", "cal", "callto", "chrome",
        "chrome-devtools", "chrome-extension", "content", "data", "dav", "devtools", "dict", "edge", "facetime",
        "facetime-audio", "feed", "file", "filesystem", "finger", "ftp", "ftps", "geo", "git", "gopher", "hcp", "help",
        "im", "imap", "intent", "irc", "irc6", "ircs", "itms", "itms-apps", "itms-services", "its", "jar", "javascript",
        "jnlp", "jnlps", "ldap", "ldapi", "ldaps", "livescript", "macappstore", "magnet", "mailto", "market", "message",
        "mhtml", "mid", "mk", "mms", "mocha", "moz-extension", "mysql", "news", "nfs", "nntp", "onenote", "opaque",
        "pop", "postgres", "postgresql", "prefs", "redis", "res", "resource", "rlogin", "rtmp", "rtsp",
        "safari-extension", "search", "search-ms", "sftp", "shell", "shortcuts", "sip", "sips", "sms", "smsto", "smb",
        "snmp", "ssh", "stun", "svn", "tel", "telnet", "tn3270", "turn", "urn", "vbscript", "view-source", "vnc",
        "wais", "webcal", "webcals", "workflow", "ws", "wss", "x-apple", "xmpp",
    }
)  # fmt: skip
_FOREIGN_FAMILIES: Final = ("ms-", "microsoft-", "microsoft.", "windows-", "windows.", "windowsdefender", "x-apple")
"""Schemes that run scripts, show documents, open parts of the system, or belong to other protocols and programs."""


def check_redirect_uri(uri: object) -> str:
    """Check that a URL can be registered as a redirect URI, and return it.

    Allowed are https, http on loopback (RFC 8252, section 7.3), and private-use schemes that contain a dot, such as
    `com.example.app:/…` (section 7.1), or are followed by a host, such as `cursor://host/…`.

    Raises:
        InvalidRedirectUri: The URL has another form, or different parsers could read it differently.
    """
    if not isinstance(uri, str):
        raise InvalidRedirectUri("redirect_uris: each must be a string")
    subject = f"redirect_uris: {quoted(uri, 100)}"
    if not 1 <= len(uri) <= MAX_URI_LENGTH:
        raise InvalidRedirectUri(f"{subject} must have 1 to {MAX_URI_LENGTH} characters (got {len(uri)})")
    if _NOT_ALLOWED.search(uri):
        raise InvalidRedirectUri(
            f"{subject} must be an absolute URL of plain ASCII, without fragment, wildcard and backslash"
        )
    scheme = _SCHEME.match(uri)
    if scheme is None:
        raise InvalidRedirectUri(f"{subject} must be an absolute URL, such as https://client.example/callback")
    name = scheme[1].lower()
    if name in ("http", "https"):
        _check_web_uri(uri, name, subject)
    else:
        _check_app_uri(uri, name, subject)
    return uri


def _check_app_uri(uri: str, scheme: str, subject: str) -> None:
    after_scheme = uri[len(scheme) + 1 :]
    # System handlers, such as `ms-msdt:/…`, which ran programs, have one-word schemes. An app's own scheme is its
    # domain reversed, as RFC 8252 requires, or is followed by the host of a URL.
    of_an_app = after_scheme.startswith("/") and ("." in scheme or _APP_HOST.match(after_scheme) is not None)
    if scheme in _FOREIGN_SCHEMES or scheme.startswith(_FOREIGN_FAMILIES) or len(scheme) < 2 or not of_an_app:
        raise InvalidRedirectUri(
            f"{subject} must be https, http to the local machine, or an app's own com.example.app:/… or scheme://host/…"
        )
    if "@" in after_scheme.partition("?")[0]:
        raise InvalidRedirectUri(f"{subject} must not have a user name")
    try:
        urlsplit(uri)
    except ValueError:
        raise InvalidRedirectUri(f"{subject} cannot be read as a URL") from None


def _check_web_uri(uri: str, scheme: str, subject: str) -> None:
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        raise InvalidRedirectUri(f"{subject} cannot be read as a URL") from None
    if "@" in parts.netloc:
        raise InvalidRedirectUri(f"{subject} must not have a user name")
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    if not uri[len(scheme) :].startswith("://") or not _HOST.fullmatch(host) or port == 0 or ".." in host:
        raise InvalidRedirectUri(f"{subject} has no valid host and port")
    if scheme == "http" and parts.hostname not in _LOOPBACK_HOSTS:
        raise InvalidRedirectUri(f"{subject} must be https; plain http is for 127.0.0.1, [::1] and localhost only")


def matches(registered: str, requested: str) -> bool:
    """Return whether a requested URL equals the registered one as a string (RFC 9700, section 4.1.3).

    Only the port of an http loopback URL can differ, because a native app takes whichever port is free (RFC 8252,
    section 7.3).
    """
    if registered == requested:
        return True
    registered_match, requested_match = _LOOPBACK.fullmatch(registered), _LOOPBACK.fullmatch(requested)
    if registered_match is None or requested_match is None or not _is_port(requested_match[2]):
        return False
    return (registered_match[1], registered_match[3]) == (requested_match[1], requested_match[3])


def matching(registered: Iterable[str], requested: str) -> bool:
    """Return whether a requested URL matches any of the registered ones."""
    return any(matches(uri, requested) for uri in registered)


def same_redirects(one: Iterable[str], other: Iterable[str]) -> bool:
    """Return whether two clients registered the same URLs, ignoring the ports of http loopback URLs."""
    return {_without_port(uri) for uri in one} == {_without_port(uri) for uri in other}


def _without_port(uri: str) -> str:
    loopback = _LOOPBACK.fullmatch(uri)
    return f"http://{loopback[1]}{loopback[3] or ''}" if loopback else uri


def _is_port(text: str | None) -> bool:
    return text is None or 1 <= int(text) <= 65_535


def is_loopback(uri: str) -> bool:
    """Return whether a URL points to a program on the user's own machine."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS


def destination(uri: str) -> str:
    """Return the destination of a URL for display: host and port, or the scheme of an app."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def with_parameters(uri: str, parameters: dict[str, str]) -> str:
    """Add parameters to the query of a URL, keeping existing ones (RFC 6749, section 3.1.2)."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(parameters)}"


MAX_REDIRECT_URIS: Final = 10
MAX_NAME_LENGTH: Final = 200
_MAX_URI_LENGTH: Final = 2000
_MAX_VALUES: Final = 20
_DEFAULT_AUTH_METHOD: Final[AuthMethod] = "client_secret_basic"
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_metadata(document: Mapping[str, Any]) -> ClientMetadata:
    """Return a client's validated metadata. Unknown members are ignored, and `null` counts as absent.

    Unsupported grant types and response types are dropped, as RFC 7591 allows (section 2). A client that does not
    specify grant types can use refresh tokens.

    Raises:
        InvalidRedirectUri: A redirect URI is missing or not allowed.
        InvalidClientMetadata: Another member is invalid.
    """
    members = {name: value for name, value in document.items() if value is not None}
    return ClientMetadata(
        redirect_uris=_redirect_uris(members.get("redirect_uris")),
        auth_method=_auth_method(members.get("token_endpoint_auth_method", _DEFAULT_AUTH_METHOD)),
        grant_types=_grant_types(members),
        name=_name(members.get("client_name", "")),
        client_uri=_web_url(members, "client_uri"),
        logo_uri=_web_url(members, "logo_uri"),
    )


def visible(text: str) -> str:
    """Return a text on one line without invisible characters, such as bidirectional controls."""
    characters = (" " if character.isspace() else character for character in unicodedata.normalize("NFC", text))
    return " ".join(
        "".join(character for character in characters if unicodedata.category(character) not in _INVISIBLE).split()
    )


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
        f"token_endpoint_auth_method: must be one of {', '.join(AUTH_METHODS)} (got {format_value(value)})"
    )


def _grant_types(members: Mapping[str, Any]) -> tuple[str, ...]:
    if "code" not in _texts(members, "response_types", ["code"]):
        raise InvalidClientMetadata("response_types: must contain code")
    grant_types = _texts(members, "grant_types", list(GRANT_TYPES))
    if AUTHORIZATION_CODE not in grant_types:
        raise InvalidClientMetadata(f"grant_types: must contain {AUTHORIZATION_CODE}")
    return tuple(grant_type for grant_type in GRANT_TYPES if grant_type in grant_types)


def _texts(members: Mapping[str, Any], name: str, default: list[str]) -> list[str]:
    value = members.get(name, default)
    if not isinstance(value, list) or len(value) > _MAX_VALUES or not all(isinstance(text, str) for text in value):
        raise InvalidClientMetadata(f"{name}: must be an array of at most {_MAX_VALUES} strings")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME_LENGTH:
        raise InvalidClientMetadata(f"client_name: must be a string of at most {MAX_NAME_LENGTH} characters")
    return visible(value)[:MAX_NAME_LENGTH]


def _web_url(members: Mapping[str, Any], name: str) -> str:
    """Return a URL that can be shown as a link: an https URL, or an empty string for any other."""
    value = members.get(name, "")
    if not isinstance(value, str) or len(value) > _MAX_URI_LENGTH:
        raise InvalidClientMetadata(f"{name}: must be a URL of at most {_MAX_URI_LENGTH} characters")
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    return value if parts.scheme == "https" and parts.netloc and value.isascii() and value.isprintable() else ""
