"""Redirects of sites and their problems: chains, loops, and unreachable targets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from pressroom.sdk import FetchFailed, FetchRefused, InvalidInput, PluginContext

from pressroom_content.builtin_site.routes import fetched
from pressroom_content.contract import RemoteRedirect
from pressroom_content.websites.domains import Domains

MAX_CHECKED: Final = 100
_AT_ONCE: Final = 4
_MAX_CHAIN_LENGTH: Final = 20


@dataclass(frozen=True, slots=True)
class RedirectReview:
    """A redirect with its final target and the messages about its problems."""

    redirect: RemoteRedirect
    final: str
    hops: int
    problems: tuple[str, ...]
    status: int | None = None


def review_redirects(redirects: Sequence[RemoteRedirect], site_url: str) -> list[RedirectReview]:
    """Follow redirects within the list. Nothing is fetched."""
    targets = {redirect.source: redirect.target for redirect in redirects}
    return [_followed(redirect, targets, site_url) for redirect in redirects]


async def check_targets(
    plugin: PluginContext, reviews: Sequence[RedirectReview], site_url: str
) -> list[RedirectReview]:
    """Check that the first 100 targets can be reached."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def check(review: RedirectReview) -> RedirectReview:
        async with slots:
            status, problem = await _status(plugin, absolute(review.final, site_url))
        problems = (*review.problems, *([problem] if problem else []))
        return RedirectReview(review.redirect, review.final, review.hops, problems, status)

    checked = await asyncio.gather(*(check(review) for review in reviews[:MAX_CHECKED]))
    return [*checked, *reviews[MAX_CHECKED:]]


def read_path(text: str) -> str:
    """Return the path of a redirect's source. Raises `InvalidInput`."""
    if not text.startswith("/") or text.startswith("//") or len(text) > 500 or not text.isprintable() or " " in text:
        raise InvalidInput("from_path", "must be a path of the site that begins with one slash, such as /old-path")
    return text


def read_target(text: str, from_path: str) -> str:
    """Return the target of a redirect. Raises `InvalidInput`."""
    try:
        parts = urlsplit(text)
        valid = text.isprintable() and " " not in text and len(text) <= 2000 and "\\" not in text
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid, is_url = False, False
    if not valid or not (is_url or (text.startswith("/") and not text.startswith("//"))):
        raise InvalidInput("to", "must be a path such as /new-path, or an http or https URL")
    if text == from_path:
        raise InvalidInput("to", "is the same as from_path: it would lead to itself")
    return text


def absolute(target: str, site_url: str) -> str:
    """Return a target as a URL."""
    if not target.startswith("/"):
        return urljoin(f"{site_url}/", target)
    # Paths are relative to the site, which may be below the root of its host.
    return f"{site_url}{target}"


def _followed(redirect: RemoteRedirect, targets: Mapping[str, str], site_url: str) -> RedirectReview:
    visited, at = [redirect.source], redirect.target
    while True:
        path = at.removeprefix(site_url) if at.startswith(f"{site_url}/") else at
        if path in visited:
            return RedirectReview(redirect, at, len(visited), (f"it leads back to {path}: a loop",))
        if path not in targets or len(visited) > _MAX_CHAIN_LENGTH:
            break
        visited.append(path)
        at = targets[path]
    problems = () if len(visited) == 1 else (f"a chain of {len(visited)} redirects; point it directly to {at}",)
    return RedirectReview(redirect, at, len(visited), problems)


async def _status(plugin: PluginContext, url: str) -> tuple[int | None, str]:
    try:
        if await Domains(plugin).site_path_of(url) is not None:
            status = (await fetched(plugin, url)).status
        else:
            response = await plugin.services.fetcher.request("HEAD", url, max_bytes=100_000, seconds=10, redirects=5)
            status = response.status
    except (FetchFailed, FetchRefused) as error:
        return None, f"its target does not respond: {error.message}"
    return status, f"its target responds with {status}" if status >= 400 and status != 405 else ""
