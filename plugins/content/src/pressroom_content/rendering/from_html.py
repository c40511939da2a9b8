"""Converting HTML to equivalent Markdown and to plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_content.rendering.markdown import check_html
from pressroom_content.rendering.sanitising import sanitise

_SPACES = re.compile(r"[ \t\r\n\f]+")
_BLANK_LINES = re.compile(r"\n\s*\n")
_SPECIAL = re.compile(r"([\\`*\[\]<>]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|&(?=#?\w+;)|!(?=\[))")
_LINE_START = re.compile(
    r"^([^\S\n]*+)(#{1,6}(?=\s|$)|[-+](?=\s|$)|=++[^\S\n]*+$|-++[^\S\n]*+$|\d{1,9}(?=[.)](?:\s|$))|:(?=\s))",
    re.MULTILINE,
)
_TICKS = re.compile(r"`+")
_CODE_LANGUAGE = re.compile(r"language-([\w+#-]+)")
_AS_HTML: Final = frozenset({"dl", "figure", "details", "iframe"})
_INLINE_HTML: Final = frozenset(
    {"abbr", "cite", "ins", "kbd", "mark", "q", "samp", "small", "sub", "sup", "time", "u", "var"}
)
_LINK_HTML: Final = frozenset({"dir", "hreflang", "lang", "rel", "target"})
"""Link attributes that Markdown cannot express: `rel="sponsored"` is an obligation, a lost `target` a surprise."""

_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
)
_BLOCKS: Final = frozenset(
    {
        "p", "div", "section", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "table",
        *_AS_HTML,
    }
)  # fmt: skip

_ANY_BLOCK: Final = ", ".join(sorted(_BLOCKS))
_WRAPPERS: Final = frozenset({"span", *_MARKS})
"""Inline elements that pages put around blocks, as Google Docs does with whole documents. Such marks are left out."""

_RULES: Final[Mapping[str, str]] = MappingProxyType({"left": ":---", "right": "---:", "center": ":---:"})
_SPACED: Final = _BLOCKS - {"ul", "ol"}


def to_markdown(html: str) -> str:
    """Convert HTML to Markdown, sanitised. Tables that Markdown cannot express, figures and frames remain HTML.

    Raises:
        InvalidInput: the HTML is nested too deeply, or has too many tags.
    """
    body = LexborHTMLParser(sanitise(html).html).body
    return "" if body is None else "\n\n".join(_blocks(body)).strip() + "\n"


def _blocks(parent: LexborNode) -> Iterator[str]:
    """Yield the blocks of an element. Text between them forms a paragraph."""
    waiting: list[LexborNode] = []
    for child in parent.iter(include_text=True):
        is_block = child.tag in _BLOCKS
        if not is_block and not (child.tag in _WRAPPERS and child.css_first(_ANY_BLOCK) is not None):
            waiting.append(child)
            continue
        yield from _paragraph(waiting)
        waiting = []
        yield from _block(child) if is_block else _blocks(child)
    yield from _paragraph(waiting)


def _paragraph(nodes: list[LexborNode]) -> Iterator[str]:
    text = _line("".join(map(_inline, nodes)))
    if text:
        yield _escaped_start(text)


def _block(node: LexborNode) -> Iterator[str]:
    tag = node.tag or ""
    if tag in _AS_HTML:
        yield _BLANK_LINES.sub("\n", node.html or "").strip()
    elif tag in ("p", "div", "section", "li"):
        yield from _blocks(node)
    elif tag == "hr":
        yield "---"
    elif tag == "pre":
        yield _fenced(node)
    elif tag == "blockquote":
        yield _indented("\n\n".join(_blocks(node)), "> ", "> ")
    elif tag in ("ul", "ol"):
        yield from _list(node)
    elif tag == "table":
        yield _table(node) or _BLANK_LINES.sub("\n", node.html or "")
    else:
        text = _line("".join(map(_inline, node.iter(include_text=True)))).replace("\n", " ")
        if text:
            yield f"{'#' * int(tag[1])} {text}"


def _fenced(node: LexborNode) -> str:
    code = node.css_first("code")
    language = _CODE_LANGUAGE.search((code.attributes.get("class") if code is not None else None) or "")
    text = (node.text() or "").removesuffix("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}{language[1] if language else ''}\n{text}\n{fence}"


def _list(node: LexborNode) -> Iterator[str]:
    ordered = node.tag == "ol"
    start = node.attributes.get("start") or "1"
    number = int(start) if ordered and start.isascii() and start.isdecimal() and len(start) < 9 else 1
    children = list(node.iter())
    # A list without paragraphs in its items is a tight list.
    gap = "\n\n" if any(part.tag in _SPACED for child in children for part in child.iter()) else "\n"
    items: list[str] = []
    for child in children:
        marker = f"{number}. " if ordered else "- "
        number += 1
        items.append(_indented(gap.join(_blocks(child)), marker, " " * len(marker)) or marker.rstrip())
    if items:
        yield gap.join(items)


def _table(node: LexborNode) -> str:
    """Return a table as Markdown; empty if its cells span rows or columns, or contain blocks."""
    rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in node.css("tr")]
    cells = [cell for row in rows for cell in row]
    if not cells or node.css_first("caption, ul, ol, pre, blockquote, p + p, h1, h2, h3, h4, h5, h6"):
        return ""
    spans = any(cell.attributes.get("colspan") or cell.attributes.get("rowspan") for cell in cells)
    if spans or len(node.css("table")) > 1:
        return ""
    width = max(len(row) for row in rows)
    texts = [[_cell(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in texts]
    aligned = [_RULES.get((cell.attributes.get("align") or "").lower(), "---") for cell in rows[0]]
    rule = " | ".join(aligned + ["---"] * (width - len(aligned)))
    return "\n".join([lines[0], f"| {rule} |", *lines[1:]])


def _cell(cell: LexborNode) -> str:
    text = _line("".join(map(_inline, cell.iter(include_text=True))))
    return text.replace("\\\n", "<br>").replace("\n", " ").replace("|", "\\|")


def _inline(node: LexborNode) -> str:
    tag = node.tag or ""
    if tag == "-text":
        return _SPECIAL.sub(r"\\\1", _SPACES.sub(" ", node.text_content or ""))
    if tag.startswith("-"):
        return ""
    if tag == "br":
        return "\\\n"
    if tag in _INLINE_WRITERS:
        return _INLINE_WRITERS[tag](node)
    text = "".join(map(_inline, node.iter(include_text=True)))
    if tag in _MARKS:
        return _marked(text, _MARKS[tag])
    if tag in _INLINE_HTML:
        return f"<{tag}{_attributes(node)}>{text}</{tag}>"
    if tag == "span" and node.attributes.keys() & {"dir", "lang"} and text.strip():
        return f"<span{_attributes(node)}>{text}</span>"
    return f" {text} " if tag in _BLOCKS else text


def _marked(text: str, mark: str) -> str:
    """Return text between marks, moving outer white space outside: Markdown does not allow it inside."""
    inner = text.strip()
    if not inner:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{inner}{mark}{after}"


def _code(node: LexborNode) -> str:
    text = _SPACES.sub(" ", node.text() or "")
    if not text.strip():
        return text
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") or (text[0] == " " and text[-1] == " ") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _link(node: LexborNode) -> str:
    text = "".join(map(_inline, node.iter(include_text=True)))
    href = node.attributes.get("href")
    if not href or not text.strip():
        return text
    inner = text.strip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if node.attributes.keys() & _LINK_HTML:
        return f"{before}<a{_attributes(node)}>{inner}</a>{after}"
    return f"{before}[{inner}]({_target(href)}{_title(node)}){after}"


def _image(node: LexborNode) -> str:
    source = node.attributes.get("src")
    if not source:
        return ""
    alt = _SPECIAL.sub(r"\\\1", _SPACES.sub(" ", node.attributes.get("alt") or ""))
    return f"![{alt}]({_target(source)}{_title(node)})"


_INLINE_WRITERS: Final[Mapping[str, Callable[[LexborNode], str]]] = MappingProxyType(
    {"code": _code, "a": _link, "img": _image}
)


def _target(url: str) -> str:
    url = url.replace("\n", "").replace("\r", "").replace("<", "%3C").replace(">", "%3E")
    return f"<{url}>" if re.search(r"[\s()]", url) else url.replace("\\", "%5C")


def _attributes(node: LexborNode) -> str:
    """Return the attributes of an element as written in its tag, on one line."""
    pairs = ((name, _SPACES.sub(" ", value or "")) for name, value in node.attributes.items())
    return "".join(f' {name}="{escape(value)}"' for name, value in pairs)


def _title(node: LexborNode) -> str:
    title = _SPACES.sub(" ", node.attributes.get("title") or "").strip()
    escaped = title.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f' "{escaped}"' if title else ""


def _line(text: str) -> str:
    """Return inline text without white space at its ends and around its line breaks."""
    lines = [line.strip(" ") for line in re.sub(r" {2,}", " ", text).split("\\\n")]
    nonblank = [at for at, line in enumerate(lines) if line.strip()]
    return "\\\n".join(lines[nonblank[0] : nonblank[-1] + 1]).strip() if nonblank else ""


def _escaped_start(text: str) -> str:
    """Escape text that would start another block at the beginning of a line."""
    return _LINE_START.sub(
        lambda match: match[1] + (f"\\{match[2]}" if not match[2].isdigit() else f"{match[2]}\\"), text
    )


def _indented(text: str, first: str, following: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        ((first if number == 0 else following) + line).rstrip() if line or number == 0 else following.rstrip()
        for number, line in enumerate(lines)
    )


_UNREAD: Final = frozenset({"script", "style", "template", "noscript", "iframe", "head", "svg", "math"})
_INLINE: Final = frozenset(
    {
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark",
        "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
    }
)  # fmt: skip
_BLANKS = re.compile(r"[ \t\r\f\n]+")


_CODE: Final = frozenset({"code", "kbd", "pre", "samp"})
_LINE_OF_CODE = re.compile(r"\S(?:[^\n]*\S)?")


def text_of(html: str, *, with_code: bool = True) -> str:
    """Return the text of HTML: an empty line between blocks, line breaks kept, other white space collapsed.

    Without code, an ellipsis replaces each line of it.

    Raises:
        InvalidInput: it has too many tags, or too many of them are open at once.
    """
    check_html(html)
    body = LexborHTMLParser(html).body
    return "" if body is None else text_of_node(body, with_code=with_code)


def text_of_node(node: LexborNode, *, with_code: bool = True) -> str:
    """Return the text of an element; see `text_of`."""
    parts: list[str] = []
    stack: list[tuple[LexborNode | str, bool, bool]] = [(node, False, False)]
    while stack:
        item, preformatted, in_code = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        tag = item.tag or ""
        if tag == "-text":
            text = item.text_content or ""
            if in_code and not with_code:
                text = _LINE_OF_CODE.sub("…", text)
            after_break = not preformatted and parts and parts[-1].endswith("\n")
            collapsed = text if preformatted else _BLANKS.sub(" ", text)
            parts.append(collapsed.lstrip(" ") if after_break else collapsed)
        elif tag == "br":
            parts.append("\n")
        elif tag not in _UNREAD and not tag.startswith("-"):
            block = tag not in _INLINE
            if block:
                parts.append("\n\n")
                stack.append(("\n\n", False, False))
            in_pre, in_code = preformatted or tag == "pre", in_code or tag in _CODE
            stack += [(child, in_pre, in_code) for child in reversed(list(item.iter(include_text=True)))]
    return "\n".join(_lines("".join(parts)))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, with multiple empty lines collapsed to one, and without an indent after it."""
    empty = False
    for line in text.strip().split("\n"):
        stripped = line.rstrip()
        if stripped:
            yield stripped.lstrip() if empty else stripped
        elif not empty:
            yield ""
        empty = not stripped
