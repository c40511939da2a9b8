"""Conversion of Lexical blocks to HTML, for blocks that HTML can represent completely."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, Final

from pressroom.sdk import InvalidInput
from pressroom_content.contract import render_body
from selectolax.lexbor import LexborHTMLParser

FORMATS: Final[Mapping[int, str]] = MappingProxyType(
    {1: "strong", 2: "em", 4: "s", 8: "u", 128: "mark", 32: "sub", 64: "sup", 16: "code"}
)
"""The HTML elements for the bits of a text's format."""

ASIDE_CLASS: Final = "kg-blockquote-alt"
MAX_LIST_DEPTH: Final = 25
_MAX_NAME: Final = 40

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paragraph": "paragraph",
        "heading": "heading",
        "extended-heading": "heading",
        "list": "list",
        "quote": "quote",
        "extended-quote": "quote",
        "aside": "alternative quote",
        "codeblock": "code block",
        "horizontalrule": "divider",
        "image": "image",
        "html": "HTML card",
        "markdown": "markdown card",
        "embed": "embed",
        "toggle": "toggle",
        "audio": "audio",
        "bookmark": "bookmark",
        "button": "button",
        "call-to-action": "call to action",
        "callout": "callout",
        "email": "e-mail content",
        "email-cta": "e-mail call to action",
        "file": "file",
        "gallery": "gallery",
        "header": "header",
        "paywall": "end of the public preview",
        "product": "product",
        "signup": "signup form",
        "transistor": "podcast",
        "video": "video",
    }
)

_SAFE_URL = re.compile(r"(?:https?:|mailto:|tel:)|[^:]*+(?:[/?#]|\Z)", re.IGNORECASE)
_CARD_WIDTHS: Final = frozenset({"wide", "full"})
_LANGUAGE = re.compile(r"[\w+#-]{1,40}")
_TAG_IN_MARKDOWN = re.compile(r"<(?!https?://)[A-Za-z/!?]")
_PAGE_TAG = re.compile(r"<(?:html|head|body|frameset)[\s/>]", re.IGNORECASE)
_LEVEL = re.compile(r"h[1-6]")


class _NotConvertible(Exception):
    """HTML cannot represent the block."""


def display(node: Any) -> tuple[str, str | None]:
    """Return the display name of a block and its HTML, or `None` instead of HTML for a block specific to Ghost."""
    kind = node.get("type") if isinstance(node, dict) else None
    if not isinstance(kind, str):
        return "unknown block", None
    name = NAMES.get(kind) or f"{''.join(filter(str.isprintable, kind))[:_MAX_NAME]} card"
    writer = _WRITERS.get(kind)
    if writer is None:
        return name, None
    try:
        return name, writer(node)
    except (_NotConvertible, RecursionError):
        return name, None


def harmless(html: str) -> bool:
    """Return whether sanitising leaves the HTML unchanged."""
    if "<" not in html and "&" not in html:
        return True
    if _PAGE_TAG.search(html):
        return False  # parsers merge the attributes of such a tag into the enclosing page
    try:
        cleaned = render_body(html, "html")
    except InvalidInput:
        return False
    return _normal(cleaned) == _normal(html)


def _normal(html: str) -> str:
    body = parsed_html(html).body
    return "" if body is None else (body.inner_html or "").strip()


def parsed_html(html: str) -> LexborHTMLParser:
    """Parse HTML as the content of `body`, including elements that would otherwise go into `head`."""
    return LexborHTMLParser(f"<body>{html}")


def _string(node: Mapping[str, Any], name: str) -> str:
    value = node.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _NotConvertible
    return value


def _html(node: Mapping[str, Any], name: str) -> str:
    """Return an HTML member. Raises `_NotConvertible` if it is not harmless."""
    value = _string(node, name)
    if not harmless(value):
        raise _NotConvertible
    return value


def _children(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    children = node.get("children")
    if not isinstance(children, list) or not all(isinstance(child, dict) for child in children):
        raise _NotConvertible
    return children


def _url(node: Mapping[str, Any], name: str) -> str:
    url = _string(node, name).strip()
    if not _SAFE_URL.match(url):
        raise _NotConvertible
    return url


def _inline(nodes: Sequence[Mapping[str, Any]]) -> str:
    """Convert texts, links and line breaks. An element stays open while the following texts have its format."""
    parts: list[str] = []
    opened: list[int] = []
    last = _last_of_runs(nodes)
    for at, node in enumerate(nodes):
        kind = node.get("type")
        if kind == "linebreak":
            parts.append("<br>")
            continue
        if kind == "link":
            parts += _closed(opened, 0)
            parts.append(_link(node))
            continue
        bits = _format(node)
        parts += _closed(opened, bits)
        missing = [bit for bit in FORMATS if bits & bit and bit not in opened]
        for bit in sorted(missing, key=lambda bit: -last[at].get(bit, at)):
            opened.append(bit)
            parts.append(f"<{FORMATS[bit]}>")
        parts.append(escape(_string(node, "text"), quote=False))
    parts += _closed(opened, 0)
    return "".join(parts)


def _format(node: Mapping[str, Any]) -> int:
    bits = node.get("format", 0)
    if node.get("type") not in ("text", "extended-text", "tk") or not isinstance(bits, int) or bits & ~sum(FORMATS):
        raise _NotConvertible
    return bits


def _last_of_runs(nodes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[int, int]]:
    """Return for each node, by format, the index of the last node in the run of texts with that format."""
    runs: list[Mapping[int, int]] = []
    following: dict[int, int] = {}
    for at in range(len(nodes) - 1, -1, -1):
        kind = nodes[at].get("type")
        if kind != "linebreak":
            bits = 0 if kind == "link" else _format(nodes[at])
            following = {bit: following.get(bit, at) for bit in FORMATS if bits & bit}
        runs.append(following)
    return runs[::-1]


def _closed(opened: list[int], bits: int) -> Iterator[str]:
    """Close the elements whose format the next text lacks, and those nested in them."""
    while any(not bits & bit for bit in opened):
        yield f"</{FORMATS[opened.pop()]}>"


def _link(node: Mapping[str, Any]) -> str:
    inner = _children(node)
    if any(child.get("type") == "link" for child in inner):
        raise _NotConvertible
    rel = _string(node, "rel")
    relation = f' rel="{escape(rel)}"' if rel else ""
    return f'<a href="{escape(_url(node, "url"))}"{relation}>{_inline(inner)}</a>'


def _paragraph(node: Mapping[str, Any]) -> str:
    inner = _inline(_children(node))
    if not inner.strip():
        raise _NotConvertible
    return f"<p>{inner}</p>"


def _heading(node: Mapping[str, Any]) -> str:
    tag = _string(node, "tag")
    if not _LEVEL.fullmatch(tag):
        raise _NotConvertible
    return f"<{tag}>{_inline(_children(node))}</{tag}>"


def _quote(node: Mapping[str, Any]) -> str:
    return f"<blockquote><p>{_inline(_children(node))}</p></blockquote>"


def _aside(node: Mapping[str, Any]) -> str:
    return f'<blockquote class="{ASIDE_CLASS}"><p>{_inline(_children(node))}</p></blockquote>'


def _list(node: Mapping[str, Any], depth: int = 0) -> str:
    """Convert a list. Ghost stores a nested list in a separate item after its parent item."""
    tag, start = node.get("tag"), node.get("start", 1)
    if tag not in ("ul", "ol") or node.get("listType") == "check" or depth > MAX_LIST_DEPTH:
        raise _NotConvertible
    items: list[str] = []
    for item in _children(node):
        inner = _children(item)
        if item.get("type") != "listitem" or item.get("checked") is not None:
            raise _NotConvertible
        if inner and inner[0].get("type") == "list":
            if not items or len(inner) > 1:
                raise _NotConvertible
            items[-1] += _list(inner[0], depth + 1)
        else:
            items.append(_inline(inner))
    begin = f' start="{start}"' if tag == "ol" and isinstance(start, int) and start != 1 else ""
    return f"<{tag}{begin}>{''.join(f'<li>{item_html}</li>' for item_html in items)}</{tag}>"


def _code(node: Mapping[str, Any]) -> str:
    language = _string(node, "language")
    if language and not _LANGUAGE.fullmatch(language):
        raise _NotConvertible
    class_attribute = f' class="language-{escape(language)}"' if language else ""
    return _captioned(f"<pre><code{class_attribute}>{escape(_string(node, 'code'), quote=False)}</code></pre>", node)


def _image(node: Mapping[str, Any]) -> str:
    source = _url(node, "src")
    if not source:
        raise _NotConvertible
    attributes = {"src": source, "alt": _string(node, "alt"), "title": _string(node, "title")}
    width, height = node.get("width"), node.get("height")
    if isinstance(width, int) and isinstance(height, int):
        attributes |= {"width": str(width), "height": str(height)}
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value or name == "alt")
    image, href = f"<img{written}>", _url(node, "href")
    if href:
        image = f'<a href="{escape(href)}">{image}</a>'
    card = node.get("cardWidth")
    if card in _CARD_WIDTHS:
        return _captioned(image, node, f' class="kg-width-{card}"')
    return _captioned(image, node) if node.get("caption") else f"<p>{image}</p>"


def _captioned(html: str, node: Mapping[str, Any], attributes: str = "") -> str:
    caption = _html(node, "caption")
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure{attributes}>{html}{below}</figure>" if below or attributes else html


def _embed(node: Mapping[str, Any]) -> str:
    """Convert an embed that consists of a single frame from an allowed host."""
    try:
        frame = render_body(_string(node, "html"), "html").strip()
    except InvalidInput:
        raise _NotConvertible from None
    body = parsed_html(_string(node, "html")).body
    children = (
        []
        if body is None
        else [child for child in body.iter(include_text=True) if child.tag != "-text" or child.text()]
    )
    is_single = [child.tag for child in children if (child.text() or "").strip() or child.tag != "-text"] == ["iframe"]
    if not is_single or not frame.startswith("<iframe ") or ' src="' not in frame:
        raise _NotConvertible
    return _captioned(frame, node)


def _html_card(node: Mapping[str, Any]) -> str:
    html = _html(node, "html")
    if not html.strip() or _is_for_some(node.get("visibility")):
        raise _NotConvertible
    return html


def _is_for_some(visibility: Any) -> bool:
    """Return whether a card is only visible to some readers."""
    web = visibility.get("web") if isinstance(visibility, dict) else None
    if web is None:
        return bool(visibility)
    segment = web.get("memberSegment") if isinstance(web, dict) else None
    return not isinstance(web, dict) or web.get("nonMember") is not True or segment != "status:free,status:-free"


def _markdown(node: Mapping[str, Any]) -> str:
    text = _string(node, "markdown")
    if not text.strip() or _TAG_IN_MARKDOWN.search(text):
        raise _NotConvertible
    try:
        return render_body(text, "markdown").strip()
    except InvalidInput:
        raise _NotConvertible from None


def _toggle(node: Mapping[str, Any]) -> str:
    return f"<details><summary>{_html(node, 'heading')}</summary>{_html(node, 'content')}</details>"


_WRITERS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType(
    {
        "paragraph": _paragraph,
        "heading": _heading,
        "extended-heading": _heading,
        "list": _list,
        "quote": _quote,
        "extended-quote": _quote,
        "aside": _aside,
        "codeblock": _code,
        "horizontalrule": lambda _: "<hr>",
        "image": _image,
        "html": _html_card,
        "markdown": _markdown,
        "embed": _embed,
        "toggle": _toggle,
    }
)
