"""Conversion of HTML to Lexical nodes: native blocks of Ghost's editor if possible, otherwise HTML cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborNode

from pressroom_ghost.lexical_html import ASIDE_CLASS, MAX_LIST_DEPTH, parsed_html
from pressroom_ghost.lexical_nodes import Node, card, element, is_rendered_correctly, line_break, link, list_of, text

_BITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "strong": 1, "b": 1, "em": 2, "i": 2, "s": 4, "del": 4, "u": 8, "code": 16, "sub": 32, "sup": 64, "mark": 128,
    }
)  # fmt: skip
_INLINE: Final = frozenset(
    {
        "-text", "a", "abbr", "br", "cite", "ins", "kbd", "q", "samp", "small", "span", "time", "var", *_BITS,
    }
)  # fmt: skip
"""Inline elements. A paragraph with an image or a frame between them becomes a card."""

_SPACES = re.compile(r"[ \t\r\n\f]+")
_LANGUAGE = re.compile(r"language-([\w+#-]{1,40})")
_PIXELS = re.compile(r"(\d{1,5})(?:px)?", re.ASCII)
_FROM_ELSEWHERE = re.compile(
    r"wp-(?:block|image)[\w-]*|kg-(?:card|image|image-card|card-hascaption|code-card|embed-card)"
)
"""Classes that only have a meaning on the site they come from, or that Ghost adds itself."""

_INVISIBLE_ATTRIBUTES: Final = frozenset({"decoding", "loading", "sizes", "srcset"})
"""Image attributes that Ghost generates itself."""

_MAX_DEPTH: Final = 60
_MAX_TEXTS: Final = 2_000
"""Maximum number of nodes in a paragraph: Ghost's renderer takes quadratic time."""


class _NotLexical(Exception):
    """The element has no equivalent in Ghost's editor."""


def nodes_of(html: str) -> list[Node]:
    """Convert sanitised HTML to nodes."""
    body = parsed_html(html).body
    return [] if body is None else [*_blocks(body, 0)]


def _blocks(parent: LexborNode, depth: int) -> Iterator[Node]:
    waiting: list[LexborNode] = []
    for child in parent.iter(include_text=True):
        if child.tag in _INLINE:
            waiting.append(child)
            continue
        yield from _loose(waiting)
        waiting = []
        if child.tag in ("div", "section") and not child.attributes and depth < _MAX_DEPTH:
            yield from _blocks(child, depth + 1)
        elif not (child.tag or "-").startswith("-"):
            yield from _block(child)
    yield from _loose(waiting)


def _loose(nodes: Sequence[LexborNode]) -> Iterator[Node]:
    """Yield a paragraph for inline content outside of any block."""
    if any((node.html or "").strip() for node in nodes):
        yield from _or_card(lambda: _filled("paragraph", nodes), "".join(node.html or "" for node in nodes))


def _block(node: LexborNode) -> Iterator[Node]:
    writer = _WRITERS.get(node.tag or "")
    html = node.html or ""
    if writer is None:
        yield card("html", html=html)
    else:
        yield from _or_card(lambda: writer(node), html)


def _or_card(make: Callable[[], list[Node]], html: str) -> Iterator[Node]:
    try:
        yield from make()
    except _NotLexical:
        yield card("html", html=html.strip())


def _filled(kind: str, nodes: Iterable[LexborNode], **more: object) -> list[Node]:
    children = _inline(nodes)
    return [element(kind, children, **more)] if children else []


def _inline(nodes: Iterable[LexborNode]) -> list[Node]:
    """Convert inline content to nodes. Raises `_NotLexical`."""
    writer = _Line()
    for node in nodes:
        writer.add(node, 0, 0)
    return writer.finished()


class _Line:
    """Builds text, link and line break nodes, collapsing white space as browsers do."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._space = True

    def add(self, node: LexborNode, bits: int, depth: int) -> None:
        """Add an element. Raises `_NotLexical` if it has no equivalent in Lexical."""
        tag = node.tag or ""
        if tag == "-text":
            self._text(node.text_content or "", bits)
        elif tag == "br":
            _plain(node)
            self._end()
            self._nodes.append(line_break())
            self._space = True
        elif tag == "a":
            self._link(node, bits, depth)
        elif depth > _MAX_DEPTH or (tag not in _BITS and tag != "span"):
            if not tag.startswith("-"):
                raise _NotLexical
        else:
            _plain(node)
            for child in node.iter(include_text=True):
                self.add(child, bits | _BITS.get(tag, 0), depth + 1)

    def finished(self) -> list[Node]:
        """Return the nodes. Raises `_NotLexical` if Ghost would render their formats incorrectly."""
        self._end()
        if len(self._nodes) > _MAX_TEXTS or not is_rendered_correctly(self._nodes):
            raise _NotLexical
        return self._nodes

    def _text(self, words: str, bits: int) -> None:
        words = _SPACES.sub(" ", words)
        if self._space:
            words = words.removeprefix(" ")
        if not words:
            return
        self._space = words.endswith(" ")
        if self._nodes and self._nodes[-1].get("format") == bits and "text" in self._nodes[-1]:
            self._nodes[-1]["text"] += words
        else:
            self._nodes.append(text(words, bits))

    def _link(self, node: LexborNode, bits: int, depth: int) -> None:
        if set(node.attributes) - {"href", "rel"}:
            raise _NotLexical
        inner = _Line()
        inner._space = self._space
        for child in node.iter(include_text=True):
            if child.tag == "a" or child.css_first("a, img"):
                raise _NotLexical
            inner.add(child, bits, depth + 1)
        if not inner._nodes:
            return
        if not is_rendered_correctly(inner._nodes):
            raise _NotLexical
        self._space = inner._space
        self._nodes.append(link(node.attributes.get("href") or "", inner._nodes, node.attributes.get("rel")))

    def _end(self) -> None:
        """Remove the space at the end of a line."""
        nodes = self._nodes
        while nodes and self._space and nodes[-1]["type"] != "linebreak":
            last = nodes[-1]
            if last["type"] == "link":
                last = last["children"][-1]
            last["text"] = last.get("text", "").removesuffix(" ")
            if last["text"] or nodes[-1]["type"] == "link":
                return
            nodes.pop()
            self._space = bool(nodes) and nodes[-1].get("text", "").endswith(" ")


def _plain(node: LexborNode, *allowed: str) -> Mapping[str, str | None]:
    """Return the attributes of an element. Raises `_NotLexical` if it has any besides `allowed`."""
    attributes = node.attributes
    if set(attributes) - set(allowed):
        raise _NotLexical
    return attributes


def _paragraph(node: LexborNode) -> list[Node]:
    _plain(node)
    children = _elements(node)
    if len(children) == 1 and children[0].tag in ("img", "iframe"):
        return [_media(children[0], "", "")]
    if len(children) == 1 and children[0].tag == "a" and [child.tag for child in _elements(children[0])] == ["img"]:
        return [_media(children[0], "", "")]
    return _filled("paragraph", node.iter(include_text=True))


def _elements(node: LexborNode) -> list[LexborNode]:
    """Return the child nodes of an element except white space."""
    nodes = node.iter(include_text=True)
    return [child for child in nodes if child.tag != "-text" or (child.text_content or "").strip(" \t\r\n\f")]


def _heading(node: LexborNode) -> list[Node]:
    _plain(node)
    return _filled("extended-heading", node.iter(include_text=True), tag=node.tag)


def _quote(node: LexborNode) -> list[Node]:
    """Return a quote. Ghost's quotes have a single paragraph."""
    kind = "aside" if _plain(node, "class").get("class") == ASIDE_CLASS else "extended-quote"
    if kind != "aside" and node.attributes:
        raise _NotLexical
    children = _elements(node)
    if len(children) == 1 and children[0].tag == "p":
        _plain(children[0])
        return _filled(kind, children[0].iter(include_text=True))
    return _filled(kind, node.iter(include_text=True))


def _list(node: LexborNode) -> list[Node]:
    return [_list_node(node, 0)]


def _list_node(node: LexborNode, depth: int) -> Node:
    if depth > MAX_LIST_DEPTH:
        raise _NotLexical
    ordered = node.tag == "ol"
    start = _plain(node, *(("start",) if ordered else ())).get("start") or "1"
    if not (start.isascii() and start.isdecimal() and len(start) < 9):
        raise _NotLexical
    items = []
    for child in _elements(node):
        if child.tag != "li":
            raise _NotLexical
        _plain(child)
        items.append(_item(child, depth))
    if not items:
        raise _NotLexical
    return list_of(node.tag or "ul", int(start), items, depth)


def _item(node: LexborNode, depth: int) -> tuple[list[Node], Node | None]:
    """Return the text nodes of a list item and the list nested at its end, if any."""
    children = _elements(node)
    nested = children.pop() if children and children[-1].tag in ("ul", "ol") else None
    if nested is not None and not children:
        raise _NotLexical
    if len(children) == 1 and children[0].tag == "p":
        _plain(children[0])
        texts = _inline(children[0].iter(include_text=True))
    else:
        texts = _inline(
            child for child in node.iter(include_text=True) if nested is None or child.mem_id != nested.mem_id
        )
    if nested is not None and not texts:
        raise _NotLexical
    return texts, _list_node(nested, depth + 1) if nested is not None else None


def _code(node: LexborNode, caption: str = "") -> list[Node]:
    _plain(node)
    children = [*node.iter(include_text=True)]
    inner = node
    language = ""
    if len(children) == 1 and children[0].tag == "code":
        inner = children[0]
        name = _plain(inner, "class").get("class") or ""
        match = _LANGUAGE.fullmatch(name)
        if name and match is None:
            raise _NotLexical
        language = match[1] if match else ""
    if any(child.tag != "-text" for child in inner.iter(include_text=True)):
        raise _NotLexical
    code = inner.text() or ""
    if not code.strip():
        raise _NotLexical
    return [card("codeblock", code=code.removesuffix("\n"), language=language, caption=caption)]


def _rule(node: LexborNode) -> list[Node]:
    _plain(node)
    return [card("horizontalrule")]


def _figure(node: LexborNode) -> list[Node]:
    """Return the image, code block or frame of a figure, with its caption."""
    names = (_plain(node, "class").get("class") or "").split()
    widths = [name.removeprefix("kg-width-") for name in names if name in ("kg-width-wide", "kg-width-full")]
    if any(not name.startswith("kg-width-") and not _FROM_ELSEWHERE.fullmatch(name) for name in names):
        raise _NotLexical
    children = _elements(node)
    caption = ""
    if len(children) > 1 and children[-1].tag == "figcaption":
        _plain(children[-1])
        caption = (children.pop().inner_html or "").strip()
    if len(children) != 1:
        raise _NotLexical
    if children[0].tag == "pre":
        return _code(children[0], caption)
    return [_media(children[0], caption, widths[0] if widths else "")]


def _media(node: LexborNode, caption: str, width: str) -> Node:
    if node.tag == "iframe":
        source = node.attributes.get("src") or ""
        return card("embed", url=source, embedType="rich", html=node.html or "", metadata={}, caption=caption)
    href = ""
    if node.tag == "a":
        href = _plain(node, "href").get("href") or ""
        children = _elements(node)
        if len(children) != 1 or not href:
            raise _NotLexical
        [node] = children
    if node.tag != "img":
        raise _NotLexical
    attributes = _plain(node, "alt", "class", "height", "src", "title", "width", *_INVISIBLE_ATTRIBUTES)
    alt, title = attributes.get("alt") or "", attributes.get("title") or ""
    classes = (attributes.get("class") or "").split()
    # Ghost does not escape these attributes, and reads a comment as the end of the public preview.
    if "<!--" in alt + title or not attributes.get("src") or not all(map(_FROM_ELSEWHERE.fullmatch, classes)):
        raise _NotLexical
    size = [_PIXELS.fullmatch(attributes[name] or "") for name in ("width", "height") if name in attributes]
    pixels = [int(match[1]) for match in size if match]
    if len(pixels) not in (0, 2) or len(pixels) != len(size):
        raise _NotLexical
    return card(
        "image",
        src=attributes["src"],
        width=pixels[0] if pixels else None,
        height=pixels[1] if pixels else None,
        title=title,
        alt=alt,
        caption=caption,
        cardWidth=width or "regular",
        href=href,
    )


def _details(node: LexborNode) -> list[Node]:
    """Return a toggle. Its content is HTML; the editor only supports paragraphs and lists in it."""
    _plain(node)
    summary, *content = _elements(node) or [node]
    if summary.tag != "summary" or not content:
        raise _NotLexical
    _plain(summary)
    if not _inline(summary.iter(include_text=True)):
        raise _NotLexical
    for child in content:
        nodes = {"p": _paragraph, "ul": _list, "ol": _list}[child.tag](child) if child.tag in ("p", "ul", "ol") else []
        if not nodes or nodes[0]["type"] not in ("paragraph", "list"):
            raise _NotLexical
    inner = "".join((child.html or "").strip() for child in content)
    return [card("toggle", heading=(summary.inner_html or "").strip(), content=inner)]


def _frame(node: LexborNode) -> list[Node]:
    return [_media(node, "", "")]


_WRITERS: Final[Mapping[str, Callable[[LexborNode], list[Node]]]] = MappingProxyType(
    {
        "p": _paragraph, "h1": _heading, "h2": _heading, "h3": _heading, "h4": _heading, "h5": _heading,
        "h6": _heading, "blockquote": _quote, "ul": _list, "ol": _list, "pre": _code, "hr": _rule, "figure": _figure,
        "img": _frame, "iframe": _frame, "details": _details,
    }
)  # fmt: skip
