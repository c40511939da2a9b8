"""One spelling for every URL (URL standard, RFC 3986 section 6), so that no page is fetched twice.

URLs are read as browsers read them; `ada_url` is the parser of a browser-like runtime. Whether a URL may be fetched
at all is decided elsewhere, by the host's fetcher, which reads the normalised form once more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ada_url import URL

from pressroom_seo.document.markup import clean_text

MAX_URL_LENGTH: Final = 2048
"""How many characters a URL may have."""

TRACKING: Final = re.compile(
    r"utm_[a-z_]+|[dgm]clid|[gw]braid|gclsrc|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|mkt_tok"
)
"""Parameters that tell visits apart, and not pages."""

SESSION: Final = re.compile(r"phpsessid|jsessionid|aspsessionid[a-z]*|session_?id|cftoken|cfid", re.IGNORECASE)
"""Parameters that name a visitor's session."""

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SESSION_SEGMENT = re.compile(r";(?:jsessionid|phpsessid|sessionid)=[^/;?]*", re.IGNORECASE)
_VISIBLE = re.compile(r"[!-\[\]-~]+")
_DIGITS = re.compile(r"[0-9]+")
_SCHEMES = ("http:", "https:")


def normalise(reference: str, base: str | None = None) -> str | None:
    """Return the one spelling of a URL, without its fragment.

    Scheme and host are lower case, the host in its ASCII form (UTS #46), a default port is left out, dot segments are
    resolved, escapes are upper case and only where they are needed; parameters of tracking and sessions are dropped.
    The order of the others stays: to some servers it matters.

    Args:
        reference: what a document says, absolute or relative.
        base: what a relative one is relative to.

    Returns:
        `None` if it is not an http or https URL, has a user name or password, or is too long.
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
    """Write escapes in upper case, and unescape what needs no escape (RFC 3986, section 2.3)."""
    once = _ESCAPE.sub(_unescaped, text)
    # Unescaping must not put a new escape together: `%2%35` is not `%25`.
    return once if _ESCAPE.sub(_unescaped, once) == once else text


def _unescaped(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _without_visits(query: str) -> str:
    if "=" not in query:
        return query
    kept = [part for part in query.split("&") if part and not _is_of_a_visit(part.partition("=")[0])]
    return "&".join(kept)


def _is_of_a_visit(name: str) -> bool:
    return bool(TRACKING.fullmatch(name.lower()) or SESSION.fullmatch(name))


def has_session(url: str) -> bool:
    """Return whether a URL, as written, contains a visitor's session ID."""
    if _SESSION_SEGMENT.search(url):
        return True
    query = url.partition("#")[0].partition("?")[2]
    return any(SESSION.fullmatch(part.partition("=")[0]) for part in query.split("&"))


def shape(url: str) -> str:
    """Return what URLs of one kind have in common: the path with its numbers as `#`, and the parameters' names.

    Calendars, listings and other things that a program makes without end have one shape.
    """
    parts = urlsplit(url)
    names = sorted({part.partition("=")[0] for part in parts.query.split("&") if part})
    return f"{_DIGITS.sub('#', parts.path)}?{_DIGITS.sub('#', '&'.join(names))}"


def host_of(url: str) -> str:
    """Return the host of a normalised URL, with its port where it has one."""
    return urlsplit(url).netloc


def origin_of(url: str) -> str:
    """Return scheme, host and port of a normalised URL: `https://www.example.org`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True, slots=True)
class SiteScope:
    """Which URLs belong to a site: its host with and without `www.`, by http and https, or a folder of it."""

    origin: str
    """Scheme, host and port that the site is known by."""

    folder: str = "/"
    """The path above all of its URLs, with a trailing slash."""

    @classmethod
    def at(cls, url: str) -> SiteScope:
        """Return the site that a normalised URL belongs to: its whole host."""
        return cls(origin_of(url))

    @classmethod
    def under(cls, url: str) -> SiteScope:
        """Return the site whose first page is at a normalised URL: everything below its path."""
        return cls(origin_of(url), f"{urlsplit(url).path.rstrip('/')}/")

    @property
    def home(self) -> str:
        """The URL of the site's first page."""
        return f"{self.origin}{self.folder}"

    def contains(self, url: str) -> bool:
        """Return whether a normalised URL belongs to the site."""
        return self.is_host_of(url) and f"{urlsplit(url).path}/".startswith(self.folder)

    def is_host_of(self, url: str) -> bool:
        """Return whether a normalised URL is on the site's host."""
        return _bare(host_of(url)) == _bare(host_of(self.origin))


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def split_address(address: str) -> SplitResult | None:
    """Return the parts of a URL, or None if the text is not a URL."""
    try:
        parts = urlsplit(clean_text(address).strip())
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts if address.strip() else None
