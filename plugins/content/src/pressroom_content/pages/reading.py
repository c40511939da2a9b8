"""An article as its owner reads it in the dashboard: sanitised, and without anything that other servers send."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from html import escape, unescape
from typing import Final
from urllib.parse import urlsplit

from pressroom.sdk import PluginContext

from pressroom_content.contract import SiteUnavailable
from pressroom_content.publishing.pictures import PostImage, inline_ids, placed, read_pictures
from pressroom_content.records import Article
from pressroom_content.rendering.sanitising import render

_EMBEDDED: Final = re.compile(r'<(?:img|iframe)\b(?:[^<>"]|"[^"<>]*+")*+>(?:</iframe>)?')
"""An image, or a frame, in sanitised HTML: `<` and `>` are escaped in attributes, and nothing stands inside a frame."""

_ATTRIBUTE: Final = re.compile(r'\s(src|srcset|alt|title)="([^"]*)"')
_MAX_ALT_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Cover:
    """The featured image. `src` is empty where it is on another server; `credit` is safe HTML, caption included."""

    src: str
    url: str
    alt: str
    credit: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ReadingView:
    """Safe HTML, what sanitising took away, and what else there is to know, in words."""

    html: str
    removed: tuple[str, ...]
    warnings: tuple[str, ...]
    cover: Cover | None


async def reading(plugin: PluginContext, article: Article) -> ReadingView:
    """Return an article for its owner. Raises `InvalidInput` where the body cannot be rendered."""
    run = plugin.services.workers.run
    made = await run(render, article.body, article.body_format, owner=article.user_id, what="the article")
    featured = [article.featured_media_id] if article.featured_media_id else []
    warnings: tuple[str, ...] = ()
    try:
        pictures, unread = await read_pictures(
            plugin,
            article.user_id,
            dict.fromkeys([*featured, *inline_ids(made.html)]),
            policy="hotlink",
            can_upload=False,
        )
        warnings = tuple(unread)
        html, _ = await asyncio.to_thread(placed, made.html, "", pictures, {})
    except SiteUnavailable as error:
        pictures, warnings, html = {}, (error.message,), made.html
    html = await asyncio.to_thread(_without_others, html, plugin.base_url)
    return ReadingView(html, made.removed, warnings, _cover(pictures.get(article.featured_media_id), article, plugin))


def _cover(picture: PostImage | None, article: Article, plugin: PluginContext) -> Cover | None:
    if picture is None:
        return None
    file = picture.file
    own = is_own(file.url, plugin.base_url)
    return Cover(
        src=urlsplit(file.url).path if own else "",
        url=file.url if file.url.startswith(("https://", "http://")) else "",
        alt=article.featured_alt or file.alt,
        credit=" ".join(filter(None, [escape(picture.caption), picture.credit_html or escape(file.credit_text)])),
        width=file.width,
        height=file.height,
    )


def is_own(url: str, base_url: str) -> bool:
    """Tell whether a URL is one of this server."""
    return url.startswith(f"{base_url}/") or (url.startswith("/") and not url.startswith("//") and "\\" not in url)


def _without_others(html: str, base_url: str) -> str:
    """Put a note in place of images and frames of other servers, which the pages' security policy does not load."""

    def shown(match: re.Match[str]) -> str:
        found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[0])}
        src, is_image = found.get("src", ""), match[0].startswith("<img")
        if is_image and is_own(src, base_url):
            return re.sub(r'\ssrcset="[^"]*"', "", match[0])
        what = "Image" if is_image else "Embedded page"
        said = (found.get("alt") or found.get("title") or "").strip()[:_MAX_ALT_LENGTH]
        host = _host(src)
        text = f"{what}{f' from {host}' if host else ''}{f': {said}' if said else ''}"
        return f'<span class="outside" title="{escape(src)}">{escape(text)}</span>'

    return _EMBEDDED.sub(shown, html)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
