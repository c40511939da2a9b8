"""URL normalisation (URL Standard, RFC 3986 section 6), so that no page is fetched twice, and site scopes.

`ada_url` parses URLs as browsers do. The host's fetcher parses the normalised form again and decides whether a URL may
be fetched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ada_url import URL

from pressroom_seo.document.markup import clean_text

MAX_URL_LENGTH: Final = 2048
"""Maximum number of characters of a URL."""

TRACKING: Final = re.compile(
    r"utm_[a-z_]+|[dgm]clid|[gw]braid|gclsrc|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|mkt_tok"
)
"""Tracking parameters, which identify visits, not pages."""

SESSION: Final = re.compile(r"phpsessid|jsessionid|aspsessionid[a-z]*|session_?id|cftoken|cfid", re.IGNORECASE)
"""Session ID parameters."""

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SESSION_SEGMENT = re.compile(r";(?:jsessionid|phpsessid|sessionid)=[^/;?]*", re.IGNORECASE)
_VISIBLE = re.compile(r"[!-\[\]-~]+")
_DIGITS = re.compile(r"[0-9]+")
_SCHEMES = ("http:", "https:")

_FILES = re.compile(
    r"(?:7z|avi|avif|bin|bmp|css|csv|dmg|docx?|epub|exe|gif|gz|ico|iso|jpe?g|js|json|mov|mp[34]|mpe?g|og[gv]|otf|pdf|"
    r"png|pptx?|rar|svg|tar|tiff?|ttf|wav|webm|webp|woff2?|xlsx?|xml|zip)",
    re.IGNORECASE,
)


def normalise(reference: str, base: str | None = None) -> str | None:
    """Normalise a URL and remove its fragment.

    Scheme and host become lower case, the host ASCII (UTS #46). The default port, unneeded percent-encoding, and
    tracking and session parameters are removed, dot segments resolved, and the remaining escapes written in upper case.
    Other parameters keep their order, since it matters to some servers.

    Args:
        reference: an absolute or relative URL, as written.
        base: the base URL of a relative one.

    Returns:
        The normalised URL, or `None` if it is not an http or https URL, has a user name or password, or is too long.
    """
    if len(reference) > 4 * MAX_URL_LENGTH:
        return None
    try:
        url = URL(reference, base=base) if base else URL(reference)
        if url.protocol not in _SCHEMES or url.username or url.password or not url.hostname.strip("."):
            return None
        url.hash = ""
        url.hostname = url.hostname.rstrip(".")
        url.pathname = _plain(_SESSION_SEGMENT.sub("", url.pathname)) or "/"
        url.search = _without_visits(_plain(url.search.removeprefix("?")))
        text = str(url.href)
    except ValueError:
        return None
    text = text.removesuffix("?")
    return text if len(text) <= MAX_URL_LENGTH and _VISIBLE.fullmatch(text) else None


def _plain(text: str) -> str:
    """Write escapes in upper case and decode unreserved characters (RFC 3986, section 2.3)."""
    decoded = _ESCAPE.sub(_unescaped, text)
    # Decoding must not create a new escape: `%2%35` is not `%25`.
    return decoded if _ESCAPE.sub(_unescaped, decoded) == decoded else text


def _unescaped(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _without_visits(query: str) -> str:
    if "=" not in query:
        return query
    remaining = [part for part in query.split("&") if part and not _is_of_a_visit(part.partition("=")[0])]
    return "&".join(remaining)


def _is_of_a_visit(name: str) -> bool:
    return bool(TRACKING.fullmatch(name.lower()) or SESSION.fullmatch(name))


def has_session(url: str) -> bool:
    """Return whether a URL, as written, contains a visitor's session ID."""
    if _SESSION_SEGMENT.search(url):
        return True
    query = url.partition("#")[0].partition("?")[2]
    return any(SESSION.fullmatch(part.partition("=")[0]) for part in query.split("&"))


def shape(url: str) -> str:
    """Return the pattern of a URL: its path and the names of its parameters, with each number replaced by `#`.

    The endless URLs of a calendar or a paginated listing share one shape.
    """
    parts = urlsplit(url)
    names = sorted({part.partition("=")[0] for part in parts.query.split("&") if part})
    return f"{_DIGITS.sub('#', parts.path)}?{_DIGITS.sub('#', '&'.join(names))}"


def is_file(url: str) -> bool:
    """Return whether a URL ends like that of a file rather than of a page."""
    _, dot, extension = urlsplit(url).path.rpartition("/")[2].rpartition(".")
    return bool(dot) and _FILES.fullmatch(extension) is not None


def host_of(url: str) -> str:
    """Return the host of a normalised URL, including any port."""
    return urlsplit(url).netloc


def origin_of(url: str) -> str:
    """Return scheme, host and port of a normalised URL: `https://www.example.org`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True, slots=True)
class SiteScope:
    """The URLs of a site: a host or a folder of it, with and without `www.`, over http and https."""

    origin: str
    """Scheme, host and port of the site's main URL."""

    folder: str = "/"
    """Path prefix of the site's URLs, with a trailing slash."""

    @classmethod
    def at(cls, url: str) -> SiteScope:
        """Return the site that consists of a normalised URL's whole host."""
        return cls(origin_of(url))

    @classmethod
    def under(cls, url: str) -> SiteScope:
        """Return the site with its home page at a normalised URL: everything below its path."""
        return cls(origin_of(url), f"{urlsplit(url).path.rstrip('/')}/")

    @property
    def home(self) -> str:
        """The URL of the site's home page."""
        return f"{self.origin}{self.folder}"

    def contains(self, url: str) -> bool:
        """Return whether a normalised URL belongs to the site."""
        return self.is_host_of(url) and f"{urlsplit(url).path}/".startswith(self.folder)

    def is_host_of(self, url: str) -> bool:
        """Return whether a normalised URL is on the site's host."""
        return _bare(host_of(url)) == _bare(host_of(self.origin))


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def split_url(url: str) -> SplitResult | None:
    """Split a URL into its parts; `None` if the text is empty or not a URL."""
    try:
        parts = urlsplit(clean_text(url).strip())
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts if url.strip() else None
