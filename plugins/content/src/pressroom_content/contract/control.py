"""Control of a URL: which URL a website can represent, and how that was proven.

Anyone can enter any URL in a form. Before anything relies on a website's URL (a page of this server that links there, a
text that is shown as that page's, the operator's credential at a search engine), the website has to prove that it
controls the URL. Only `require_control` decides this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, cast
from urllib.parse import unquote, urlsplit

from pressroom.sdk import PluginContext

from pressroom_content.contract.services import BUILTIN, Website
from pressroom_content.contract.site_errors import (
    SiteError,
)

ControlMethod = Literal["server", "platform", "file", "meta"]
"""How control was proven: the site is on this server; its platform accepted an administrator's credential and returns
the URL as its own; a file below the URL, or a meta tag in its page, contains the website's token."""

FILE_NAME: Final = "pressroom-verification.txt"
META_NAME: Final = "pressroom-verification"

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PLAIN: Final = re.compile(r'[^\s\x00-\x20\x7f\\"<>]{1,2048}')
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


class ControlNotProven(SiteError):
    """The website has not proven that it controls its URL. The message tells its owner how to prove it."""

    code = "control_not_proven"


@dataclass(frozen=True, slots=True)
class Control:
    """A website's control of its URL. `method` is empty while nothing is proven."""

    url: str
    method: ControlMethod | Literal[""] = ""
    proven_at: datetime | None = None

    @property
    def proven(self) -> bool:
        """Whether the website controls its URL and everything below it."""
        return bool(self.method)

    def covers(self, url: str) -> bool:
        """Return whether the website controls a URL."""
        return self.proven and is_below(url, self.url)


def control_of(website: Website) -> Control:
    """Return the stored proof of a website's control of its URL, without checking it again."""
    if website.platform == BUILTIN:
        return Control(website.url, "server", website.created_at)
    if not website.control_method or (website.url and website.control_place != url_key(website.url)):
        return Control(website.url)
    url = website.url or f"https://{website.control_place}"
    return Control(url, cast("ControlMethod", website.control_method), website.control_at)


async def require_control(content: PluginContext, user_id: str, website_id: str, use: str) -> Control:
    """Return the proof that a website controls its URL. A proof that is older than a day is renewed.

    Args:
        content: the context of the content plugin.
        user_id: the owner of the website.
        website_id: the website.
        use: the feature that needs the proof, as the subject of a sentence, such as "The operator's Google account".

    Raises:
        NotFound: the account has no such website.
        ControlNotProven: control is not proven; the message tells the owner what to do.
    """
    from pressroom_content.websites.control import Controls  # noqa: PLC0415 - it needs the contract

    return await Controls(content).require(user_id, website_id, use)


async def note_control(content: PluginContext, website_id: str, url: str) -> None:
    """Record that a file at the root of a website's host just contained a secret of this website.

    `url` is the website's URL at the time when the file was read.
    """
    from pressroom_content.websites.control import Controls  # noqa: PLC0415 - it needs the contract

    await Controls(content).note(website_id, url, "file")


def url_key(url: str) -> str:
    """Return a website's URL without its scheme, query and trailing slash: `example.com/blog`.

    URLs that are the same to browsers have the same key. Returns an empty text for anything that is not a plain http
    or https URL, such as one with credentials, segments such as `..`, backslashes, or an invalid host.
    """
    if not _PLAIN.fullmatch(url):
        return ""
    try:
        url.encode()
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return ""
    if parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc or not host:
        return ""
    host = f"[{host}]" if ":" in host else host
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    host = host.removesuffix(".")
    if not _HOST.fullmatch(host):
        return ""
    plain = unquote(parts.path)
    if "\\" in plain or any(part.partition(";")[0] in (".", "..") for part in plain.split("/")):
        return ""
    at = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{host}{at}{parts.path}".rstrip("/")


def is_below(url: str, website_url: str) -> bool:
    """Return whether a page's URL is the URL of a website, or below it, whatever the scheme."""
    site, page = url_key(website_url), url_key(url)
    return bool(site and page) and (page == site or page.startswith(f"{site}/"))


def web_url(url: str) -> str:
    """Return a URL that a site returned for a page if browsers can be sent there, and an empty text otherwise."""
    return url if url_key(url) else ""


def is_on_this_server(url: str, base_url: str) -> bool:
    """Return whether a URL is on the origin of this server, whatever its scheme and spelling."""
    server, requested = url_key(base_url).partition("/")[0], url_key(url).partition("/")[0]
    return bool(server) and server == requested
