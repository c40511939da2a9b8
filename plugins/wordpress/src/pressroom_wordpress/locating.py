"""Which post or page of a WordPress site a URL leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

_ENDINGS: Final = frozenset({"feed", "amp", "embed", "trackback"})
_PAGE_NUMBER = re.compile(r"(?:page|comment-page)-?\d*|\d{1,4}", re.ASCII)
_MAX_URL_LENGTH: Final = 2048
_ID = re.compile(r"\d{1,18}", re.ASCII)
_IN_LINK = re.compile(r"<([^<>]++)>\s*+;\s*+rel=\"?(shortlink|alternate)\"?")
_ROUTE = re.compile(r"/wp/v2/(posts|pages)/(\d{1,18})(?!\d)")


@dataclass(frozen=True, slots=True)
class PostUrl:
    """What a URL says: the number of a post or page, or the path of its page, with the slug at its end."""

    number: str = ""
    path: str = ""
    slug: str = ""


def read_url(url: str) -> PostUrl:
    """Return what a URL of a post says. Links to previews, to the editor and to short forms have its number."""
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, max_num_fields=50)
    except ValueError:
        return PostUrl()
    for name in ("p", "page_id", "preview_id", *(("post",) if "/wp-admin/" in parts.path else ())):
        number = query.get(name, [""])[0]
        if _ID.fullmatch(number):
            return PostUrl(number=number)
    segments = [unquote(one) for one in parts.path.split("/") if one]
    while len(segments) > 1 and (segments[-1] in _ENDINGS or _is_page_number(segments)):
        segments.pop()
    return PostUrl(path="/".join(segments), slug=segments[-1] if segments else "")


def _is_page_number(segments: list[str]) -> bool:
    """Tell whether a URL ends in the number of a page of comments, such as `/comment-page-2`."""
    return segments[-1].startswith("comment-page-") and bool(_PAGE_NUMBER.fullmatch(segments[-1]))


def is_at(row: Mapping[str, Any], path: str) -> bool:
    """Tell whether a post's own link has this path."""
    shown = str(row.get("link") or "")
    if len(shown) > _MAX_URL_LENGTH:
        return False
    try:
        link = urlsplit(shown)
    except ValueError:
        return False
    return not link.query and "/".join(unquote(one) for one in link.path.split("/") if one) == path


def routes_in_links(header: str) -> Iterator[tuple[str, str]]:
    """Yield the routes, `posts` or `pages`, and numbers in the header `Link` with which WordPress shows a page.

    A short link says the number alone: then the route is empty.
    """
    for url, relation in _IN_LINK.findall(header[:10_000]):
        route = _ROUTE.search(unquote(url))
        if route:
            yield route[1], route[2]
        elif relation == "shortlink" and (number := read_url(url).number):
            yield "", number


def is_of(url: str, *sites: str) -> bool:
    """Tell whether a URL is of one of these sites, whatever its scheme and with or without `www.`."""
    try:
        host, wanted = _host(url), {_host(site) for site in sites if site}
    except ValueError:
        return False
    return bool(host) and host in wanted


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower().rpartition("@")[2].removeprefix("www.")
