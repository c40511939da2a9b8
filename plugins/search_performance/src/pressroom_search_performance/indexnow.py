"""Reporting changed URLs to search engines (IndexNow, indexnow.org), and the keys that prove ownership."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from pressroom.sdk import (
    CallError,
    FetchFailed,
    FetchRefused,
    FetchUnknown,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    Route,
)
from pressroom_content.contract import BUILTIN, Website, content_services, is_below, note_control
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.host import content_of
from pressroom_search_performance.tables import IndexNowKeyRow

_FILE = r"[0-9a-f]{32}\.txt"


async def key_of(plugin: PluginContext[SearchPerformanceConfig], website_id: str) -> str:
    """Return the key of a website, creating it on first use."""
    database = plugin.services.database
    async with database.reading() as session:
        row = await session.get(IndexNowKeyRow, website_id)
    if row is not None:
        return str(row.key)
    key = secrets.token_hex(16)
    try:
        async with database.writing() as session:
            session.add(IndexNowKeyRow(website_id=website_id, key=key, created_at=datetime.now(UTC)))
    except IntegrityError:  # a concurrent call inserted the row
        async with database.reading() as session:
            return str((await session.get_one(IndexNowKeyRow, website_id)).key)
    return key


def routes(plugin: PluginContext[SearchPerformanceConfig]) -> Sequence[Route]:
    """Return the route of the key files of built-in sites: at the root of the host, so that keys cover all paths."""
    return [Route(f"/<key_file:{_FILE}>", _serve(plugin), on_virtual_hosts=True)]


def _serve(plugin: PluginContext[SearchPerformanceConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def serve(request: HttpRequest) -> HttpResponse:
        key = request.path_params["key_file"].removesuffix(".txt")
        # Serving the key of an external website would prove that this server is that website.
        holder = select(IndexNowKeyRow.website_id).where(IndexNowKeyRow.key == key)
        async with plugin.services.database.reading() as session:
            website_id = await session.scalar(holder)
        url = "" if website_id is None else await content_services(plugin).websites.builtin_url(website_id)
        # Under its own domain, a site serves its own key only: another key would grant control of that domain.
        if not url or request.virtual_host not in ("", urlsplit(url).hostname):
            raise NotFound(f"there is nothing at {request.path}")
        return HttpResponse(key.encode(), media_type="text/plain; charset=utf-8")

    return serve


MAX_URLS: Final = 10_000
_SECONDS: Final = 30.0
_MAX_BODY_BYTES: Final = 65_536
_ACCEPTED: Final = frozenset({200, 202})


class IndexNowFailed(CallError):
    """The key file is missing or wrong, or the search engines did not accept the URLs."""

    code = "indexnow_failed"


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission: number of URLs, status of the response, and URL of the key file."""

    count: int
    status: int
    key_url: str


async def submit(plugin: PluginContext[SearchPerformanceConfig], website: Website, urls: Sequence[str]) -> Submission:
    """Submit URLs of a website. Idempotent.

    Raises:
        InvalidInput: there are too many URLs, or one is not the website's.
        IndexNowFailed: the key file or the submission failed.
    """
    urls = list(dict.fromkeys(urls))
    if len(urls) > MAX_URLS:
        raise InvalidInput("urls", f"at most {MAX_URLS} at once (got {len(urls)})")
    for url in urls:
        _check(url, website.url)
    if website.platform != BUILTIN and is_below(website.url, f"{plugin.base_url}/"):
        raise InvalidInput("website_id", "has a URL of this server, which only built-in sites have; connect it again")
    key = await key_of(plugin, website.id)
    parts = urlsplit(website.url)
    if website.platform == BUILTIN:
        base_url = website.url if website.url != website.server_url else plugin.base_url
        key_url = f"{base_url}/{key}.txt"
    else:
        key_url = f"{parts.scheme}://{parts.netloc}/{key}.txt"
        await _check_key_file(plugin, key, key_url)
        await note_control(content_of(plugin), website.id, website.url)
    body = {"host": parts.netloc, "key": key, "keyLocation": key_url, "urlList": urls}
    status = await _send(plugin, json.dumps(body).encode())
    return Submission(len(urls), status, key_url)


async def _send(plugin: PluginContext[SearchPerformanceConfig], content: bytes) -> int:
    try:
        response = await plugin.services.fetcher.request(
            "POST",
            plugin.config.indexnow_url,
            headers={"Content-Type": "application/json; charset=utf-8"},
            content=content,
            max_bytes=_MAX_BODY_BYTES,
            seconds=_SECONDS,
        )
    except (FetchFailed, FetchRefused, FetchUnknown) as error:
        raise IndexNowFailed(f"IndexNow did not respond: {error.message}. Repeating the call is safe") from None
    if response.status not in _ACCEPTED:
        reason = {
            400: "it could not read the request",
            403: "it did not find the key at its URL",
            422: "it says that URLs do not belong to the host, or that the key does not fit",
            429: "it received too many submissions; wait a few hours",
        }.get(response.status, "it does not work at the moment; call again later")
        raise IndexNowFailed(f"IndexNow returned HTTP {response.status}: {reason}")
    return response.status


async def _check_key_file(plugin: PluginContext[SearchPerformanceConfig], key: str, key_url: str) -> None:
    """Check that the key file is where search engines look for it. Raises `IndexNowFailed`."""
    advice = f"put a text file at {key_url} that holds nothing but {key}, then call again"
    try:
        response = await plugin.services.fetcher.get(
            key_url, accept="text/plain", max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS, redirects=0
        )
    except (FetchFailed, FetchRefused) as error:
        raise IndexNowFailed(f"the key file cannot be read: {error.message}. If it is missing: {advice}") from None
    if response.status != 200 or response.content.decode("utf-8", "replace").strip("\ufeff \r\n\t") != key:
        raise IndexNowFailed(f"search engines want proof that the website is yours: {advice}")


def _check(url: str, website_url: str) -> None:
    if not is_below(url, website_url) or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput("urls", f"{url[:200]!r} is not a percent-encoded URL below {website_url}")
