"""Bodies as served to readers: image dimensions, `srcset`, and highlighted code.

The work is done in a worker process: lexers are regular expressions, and the code is untrusted.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from html import escape as html_escape
from html import unescape
from typing import TYPE_CHECKING, Any, Final

import structlog
from markupsafe import escape
from pressroom.sdk import CallError, PluginContext

from pressroom_content.builtin_site.files import SiteImage, names_in
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website
from pressroom_content.websites.domain_names import with_current_links

if TYPE_CHECKING:
    from pygments.lexer import Lexer


_IMG = re.compile(r"<img [^<>]*+>")
_TASK = re.compile(r"<li>(?=\s*(?:<p>)?[\u2610\u2611])")
_SRC = re.compile(r'\ssrc="([^"<>]*)"')
_SIZE = re.compile(r"\s(?:width|height)=")
_MAX_CACHED: Final = 16_000_000
"""The size of each cache of bodies, in characters: one for highlighted bodies, one for rendered ones."""

_QUICK_LENGTH: Final = 65_536
"""The maximum length of a body that is processed inline, in characters. A longer one takes up to 0.25 s."""

_SECONDS: Final = 5.0
_TRY_AGAIN: Final = 60.0
"""Seconds until a body that took too long is processed again: the server may just have been busy."""

log = structlog.get_logger()


class _BodyCache:
    """An LRU cache of bodies by post ID. An entry is replaced if its version differs or it has expired."""

    def __init__(self) -> None:
        self._bodies: OrderedDict[str, tuple[Hashable, str, float]] = OrderedDict()
        self._size = 0

    def get(self, post_id: str, version: Hashable) -> str | None:
        entry = self._bodies.get(post_id)
        if entry is None or entry[0] != version or time.monotonic() >= entry[2]:
            return None
        self._bodies.move_to_end(post_id)
        return entry[1]

    def keep(self, post_id: str, version: Hashable, html: str, seconds: float) -> None:
        if (earlier := self._bodies.pop(post_id, None)) is not None:
            self._size -= len(earlier[1])
        self._bodies[post_id] = (version, html, time.monotonic() + seconds)
        self._size += len(html)
        while self._size > _MAX_CACHED:
            _, (_, oldest, _) = self._bodies.popitem(last=False)
            self._size -= len(oldest)


_highlighted, _shown = _BodyCache(), _BodyCache()


async def body_of(plugin: PluginContext, row: BuiltinPostRow, owner: str) -> str:
    """Return the body of a post with its code highlighted, or unchanged if that takes too long."""
    if not has_code(row.html):
        return row.html
    return await _converted(plugin, _highlighted, row, row.revision, owner, highlighted, row.html)


async def display_body(
    plugin: PluginContext,
    row: BuiltinPostRow,
    website: Website,
    images: Mapping[str, SiteImage],
    root: str,
    table_label: str,
) -> str:
    """Return the body of a post as served to readers; see `for_readers`. Long bodies are processed in a worker."""
    owner = website.user_id
    html = await body_of(plugin, row, owner)
    urls = (website.url, website.server_url)
    if len(html) <= _QUICK_LENGTH:
        return for_readers(html, images, root, table_label, urls)
    version = (row.revision, len(html), repr(sorted(images.items())), root, table_label, urls)
    return await _converted(plugin, _shown, row, version, owner, for_readers, html, images, root, table_label, urls)


async def _converted(
    plugin: PluginContext,
    cache: _BodyCache,
    row: BuiltinPostRow,
    version: Hashable,
    owner: str,
    work: Callable[..., str],
    html: str,
    *more: Any,
) -> str:
    """Return a body processed by a worker, from the cache if possible, or unchanged if that fails or takes too long."""
    if (cached := cache.get(row.id, version)) is not None:
        return cached
    run = plugin.services.workers.run
    try:
        processed = await run(work, html, *more, owner=owner, what="the body of a post", seconds=_SECONDS)
    except CallError as error:
        log.warning("the body of a post is shown plain", post=row.id, error=error.message)
        if error.code != "timeout":
            return html
        # Until then, readers of a body that always takes too long do not occupy the workers.
        cache.keep(row.id, version, html, _TRY_AGAIN)
        return html
    cache.keep(row.id, version, processed, math.inf)
    return processed


def for_readers(
    html: str, images: Mapping[str, SiteImage], root: str, table_label: str, urls: tuple[str, str] = ("", "")
) -> str:
    """Return a body with image dimensions, `srcset` and lazy loading, and with wide elements that scroll.

    `root` is the path of the site's files, `table_label` the accessible name of a scrollable table. `urls` are the
    site's own URL and its URL on this server: links are rewritten to the first.
    """
    html = with_current_links(html, *urls)

    def with_attributes(match: re.Match[str]) -> str:
        element, source = match[0], _SRC.search(match[0])
        image = next((images[name] for name in names_in(source[1]) if name in images), None) if source else None
        added = []
        if image is not None and not _SIZE.search(element):
            added.append(f'width="{image.width}" height="{image.height}"')
        if image is not None and image.copies and "srcset=" not in element:
            added.append(f'srcset="{escape(image.srcset(root))}" sizes="(max-width: 46rem) calc(100vw - 2rem), 46rem"')
        if "loading=" not in element:
            added.append('loading="lazy" decoding="async"')
        return " ".join(["<img", *added, element.removeprefix("<img ")])

    text = _IMG.sub(with_attributes, html).replace("<pre", '<pre tabindex="0"')
    text = _TASK.sub('<li class="task">', text)
    scroll = f'<div class="scroll" role="group" aria-label="{escape(table_label)}" tabindex="0"><table'
    return text.replace("<table", scroll).replace("</table>", "</table></div>")


MAX_BLOCK: Final = 50_000
"""The maximum length of one highlighted block, in characters. Longer ones are shown plain."""

MAX_CODE: Final = 200_000
"""The maximum length of all highlighted blocks of one post, in characters. Later ones are shown plain."""

_BLOCK = re.compile(
    r"(?P<head><pre(?=[\s>])[^<>]*+>\s*+<code(?=\s)[^<>]*?\bclass=\"[^\"<>]*?\blanguage-(?P<name>[\w+#-]+)[^<>]*+>)"
    r"(?P<code>[^<]*+)(?=</code>)"
)
_PLAIN: Final = frozenset({"console-output", "none", "output", "plain", "plaintext", "text", "txt"})


def has_code(html: str) -> bool:
    """Check whether a body has a code block with a language."""
    return any(match["name"].lower() not in _PLAIN for match in _BLOCK.finditer(html))


def highlighted(html: str) -> str:
    """Return a sanitised body with its code highlighted; the text of each block is unchanged.

    Blocks in languages that Pygments does not support, and those beyond the limits, are returned unchanged.
    """
    remaining = MAX_CODE

    def highlight(match: re.Match[str]) -> str:
        nonlocal remaining
        name, code = match["name"].lower(), match["code"]
        if name in _PLAIN or len(code) > min(remaining, MAX_BLOCK) or (lexer := _lexer(name)) is None:
            return match[0]
        remaining -= len(code)
        return match["head"] + "".join(_spans(lexer, unescape(code)))

    return _BLOCK.sub(highlight, html)


def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - Pygments is loaded only in the worker
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _spans(lexer: Lexer, code: str) -> Iterator[str]:
    """Yield the code as HTML, with one span for consecutive tokens of the same role."""
    role, text = "", ""
    for token, value in lexer.get_tokens(code):
        token_role = _role(str(token)) if value.strip() else role
        if token_role != role:
            yield _span(role, text)
            role, text = token_role, ""
        text += value
    yield _span(role, text)


def _span(role: str, text: str) -> str:
    return f'<span class="hl-{role}">{html_escape(text)}</span>' if role and text else html_escape(text)


_ROLES: Final = (
    ("Token.Comment.Preproc", "keyword"),
    ("Token.Comment", "comment"),
    ("Token.Keyword.Constant", "number"),
    ("Token.Keyword.Type", "type"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "type"),
    ("Token.Name.Namespace", "type"),
    ("Token.Name.Builtin", "type"),
    ("Token.Name.Exception", "type"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "name"),
    ("Token.Name.Constant", "number"),
    ("Token.Generic.Deleted", "deleted"),
    ("Token.Generic.Inserted", "inserted"),
    ("Token.Generic.Heading", "keyword"),
    ("Token.Generic.Subheading", "type"),
    ("Token.Generic.Prompt", "comment"),
    ("Token.Generic.Output", "comment"),
)


def _role(token: str) -> str:
    return next((role for kind, role in _ROLES if token == kind or token.startswith(f"{kind}.")), "")
