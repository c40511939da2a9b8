"""Conversion of HTML to pure Markdown, for generators that hide raw HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_SPACES = re.compile(r"[ \t\r\n\f]+")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~]|&(?=#?\w+;)|!(?=\[))")
_LINE_START = re.compile(r"^([^\S\n]*+)(#{1,6}(?=\s|$)|[-+](?=\s|$)|=++[^\S\n]*+$|-++[^\S\n]*+$|:(?=\s))", re.MULTILINE)
_NUMBER = re.compile(r"^([^\S\n]*+\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)
_FOOTNOTE = re.compile(r"\\\[\^([^\[\]\\\s]++)\\\]")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"language-([\w+#-]+)")
_VALUE = re.compile(r"[\w-]{1,40}")
_RULES: Final[Mapping[str, str]] = MappingProxyType({"left": ":---", "right": "---:", "center": ":---:"})
_BLOCKS: Final = frozenset(
    {
        "p", "div", "section", "article", "aside", "header", "footer", "main", "h1", "h2", "h3", "h4", "h5", "h6", "ul",
        "ol", "li", "blockquote", "pre", "hr", "table", "dl", "dt", "dd", "figure", "figcaption", "details", "summary",
        "iframe", "caption", "thead", "tbody", "tfoot", "tr", "td", "th",
    }
)  # fmt: skip
_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"strong": "**", "b": "**", "em": "*", "i": "*", "cite": "*", "dfn": "*", "del": "~~", "s": "~~"}
)
_CODE: Final = frozenset({"code", "kbd", "samp", "var", "tt"})
_RAISED = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_MAX_DEPTH: Final = 100
_MAX_COLUMNS: Final = 100


def blocks_of(html: str) -> Sequence[tuple[str, str]]:
    """Convert sanitised HTML to Markdown blocks, each with the attribute list of a heading or an empty string.

    All text is kept: elements without an equivalent in Markdown, captions, terms and links to frames become text.
    """
    body = LexborHTMLParser(html).body
    if body is None:
        return ()
    blocks = []
    for node, text in _blocks(body, 0):
        if text.strip():
            blocks.append((text.strip("\n"), _attributes(node)))
    return blocks


def _attributes(node: LexborNode | None) -> str:
    """Return the attribute list that follows a heading's text in Hugo; empty for other elements."""
    if node is None or not re.fullmatch("h[1-6]", node.tag or ""):
        return ""
    attributes = {name: node.attributes.get(name) or "" for name in ("id", "dir", "lang")}
    parts = [
        f"#{value}" if name == "id" else f'{name}="{value}"'
        for name, value in attributes.items()
        if _VALUE.fullmatch(value)
    ]
    return f" {{{' '.join(parts)}}}" if parts else ""


def _blocks(parent: LexborNode, depth: int) -> Iterator[tuple[LexborNode | None, str]]:
    waiting: list[LexborNode] = []
    for child in parent.iter(include_text=True):
        if child.tag not in _BLOCKS:
            waiting.append(child)
            continue
        if waiting:
            yield None, _paragraph(waiting)
            waiting = []
        if depth > _MAX_DEPTH:
            yield None, _escaped(child.text())
        elif child.tag in _CONTAINERS:
            yield from _blocks(child, depth + 1)
        else:
            yield child, _WRITERS[child.tag or ""](child, depth + 1)
    if waiting:
        yield None, _paragraph(waiting)


def _texts(parent: LexborNode, depth: int) -> list[str]:
    return [text.strip("\n") for _, text in _blocks(parent, depth) if text.strip()]


def _paragraph(nodes: Sequence[LexborNode]) -> str:
    return _started(_line("".join(_inline(node, 0) for node in nodes)))


def _text_block(node: LexborNode, depth: int) -> str:
    return "\n\n".join(_texts(node, depth))


def _heading(node: LexborNode, depth: int) -> str:
    del depth
    text = _line(_inside(node, 0)).replace("\\\n", " ")
    return f"{'#' * int((node.tag or 'h2')[1])} {text}" if text else ""


def _quote(node: LexborNode, depth: int) -> str:
    return _indented("\n\n".join(_texts(node, depth)), "> ", "> ")


def _list(node: LexborNode, depth: int) -> str:
    ordered, start = node.tag == "ol", node.attributes.get("start") or "1"
    number = int(start) if start.isascii() and start.isdecimal() and len(start) < 9 else 1
    items, spaced = [], False
    for child in node.iter():
        parts = _texts(child, depth)
        spaced = spaced or len([part for part in child.iter() if part.tag == "p"]) > 1
        mark = f"{number}. " if ordered else "- "
        number += 1
        items.append((parts, mark))
    gap = "\n\n" if spaced else "\n"
    return gap.join(_indented(gap.join(parts), mark, " " * len(mark)) or mark.rstrip() for parts, mark in items)


def _fenced(node: LexborNode, depth: int) -> str:
    del depth
    code = node.css_first("code")
    language = _LANGUAGE.search((code.attributes.get("class") if code is not None else None) or "")
    text = node.text().removesuffix("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}{language[1] if language else ''}\n{text}\n{fence}"


def _rule(node: LexborNode, depth: int) -> str:
    del node, depth
    return "---"


def _terms(node: LexborNode, depth: int) -> str:
    """Convert a definition list to Hugo's syntax."""
    lines: list[str] = []
    for child in node.iter():
        text = "\n\n".join(_texts(child, depth))
        if child.tag == "dd":
            lines.append(_indented(text, ": ", "  "))
        else:
            lines += ([""] if lines else []) + [text.replace("\n", " ")]
    return "\n".join(lines)


def _figure(node: LexborNode, depth: int) -> str:
    parts = [
        f"*{text}*" if child is not None and child.tag == "figcaption" and "\n" not in text else text
        for child, text in _blocks(node, depth)
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip(" *\n"))


def _details(node: LexborNode, depth: int) -> str:
    parts = [
        f"**{text}**" if child is not None and child.tag == "summary" and "\n" not in text else text
        for child, text in _blocks(node, depth)
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip(" *\n"))


def _frame(node: LexborNode, depth: int) -> str:
    del depth
    source = node.attributes.get("src") or ""
    title = _escaped(_SPACES.sub(" ", node.attributes.get("title") or "").strip())
    return f"[{title or _escaped(source)}]({_target(source)})" if source else ""


def _table(node: LexborNode, depth: int) -> str:
    caption = node.css_first("caption")
    rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in node.css("tr")]
    texts: list[list[str]] = []
    for row in rows:
        cell_texts: list[str] = []
        for cell in row:
            span = cell.attributes.get("colspan") or "1"
            width = int(span) if span.isascii() and span.isdecimal() and len(span) < 3 else 1
            words = " ".join(_texts(cell, depth + 1)).replace("\\\n", " ").replace("\n", " ")
            cell_texts += [words, *[""] * (max(1, width) - 1)]
        texts.append(
            cell_texts[:_MAX_COLUMNS]
            + [" ".join(filter(None, cell_texts[_MAX_COLUMNS:]))] * (len(cell_texts) > _MAX_COLUMNS)
        )
    columns = max((len(row) for row in texts), default=0)
    if not columns:
        return ""
    aligned = [_RULES.get((cell.attributes.get("align") or "").lower(), "---") for cell in rows[0]]
    lines = [f"| {' | '.join(row + [''] * (columns - len(row)))} |" for row in texts]
    lines.insert(1, f"| {' | '.join((aligned + ['---'] * columns)[:columns])} |")
    title = _line(_inside(caption, 0)) if caption is not None else ""
    return "\n".join([*([f"*{title}*", ""] if title else []), *lines])


def _inside(node: LexborNode, depth: int) -> str:
    return "".join(_inline(child, depth + 1) for child in node.iter(include_text=True))


def _inline(node: LexborNode, depth: int) -> str:
    tag = node.tag or ""
    if tag.startswith("-"):
        return _escaped(_SPACES.sub(" ", node.text_content or "")) if tag == "-text" else ""
    if depth > _MAX_DEPTH:
        return _escaped(node.text())
    if tag in _CODE and "\n" not in node.text().strip():
        return _code(node.text())
    if tag in _LEAVES:
        return _LEAVES[tag](node)
    return _styled(node, _inside(node, depth))


def _styled(node: LexborNode, text: str) -> str:
    """Format the text of an inline element with Markdown or plain text."""
    tag = node.tag or ""
    if tag in _MARKS:
        return _around(text, _MARKS[tag], _MARKS[tag])
    match tag:
        case "a":
            href = node.attributes.get("href")
            return _around(text, "[", f"]({_target(href)}{_title(node)})") if href else text
        case "sub" | "sup":
            return _raised(text, raised=tag == "sup")
        case "q":
            return _around(text, "\u201c", "\u201d")
        case "abbr" if node.attributes.get("title"):
            return f"{text} ({_escaped(_SPACES.sub(' ', node.attributes['title'] or '').strip())})"
    return f" {text} " if tag in _BLOCKS else text


def _raised(text: str, *, raised: bool) -> str:
    """Format a subscript or superscript with Unicode characters, or else with a leading `_` or `^`."""
    plain = text.strip()
    translated = plain.translate(_RAISED if raised else _LOWERED)
    if not any(character in translated for character in plain) or not plain:
        return translated
    if _FOOTNOTE.search(plain) or "](" in plain:
        return text
    return f"{'^' if raised else chr(92) + '_'}{plain if len(plain) == 1 else f'({plain})'}"


def _around(text: str, before: str, after: str) -> str:
    inner = text.strip()
    if not inner:
        return text
    return f"{text[: len(text) - len(text.lstrip())]}{before}{inner}{after}{text[len(text.rstrip()) :]}"


def _code(content: str) -> str:
    text = _SPACES.sub(" ", content)
    if not text.strip():
        return text
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") or (text[0] == " " and text[-1] == " ") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _image(node: LexborNode) -> str:
    source = node.attributes.get("src")
    alt = _escaped(_SPACES.sub(" ", node.attributes.get("alt") or ""))
    return f"![{alt}]({_target(source)}{_title(node)})" if source else alt


_LEAVES: Final[Mapping[str, Callable[[LexborNode], str]]] = MappingProxyType({"br": lambda _: "\\\n", "img": _image})


def _target(url: str) -> str:
    url = re.sub(r"[\r\n]", "", url).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    return f"<{url}>" if re.search(r"[\s()]", url) else url


def _title(node: LexborNode) -> str:
    title = _SPACES.sub(" ", node.attributes.get("title") or "").strip()
    escaped = title.replace("\\", "\\\\").replace('"', '\\"')
    return f' "{escaped}"' if title else ""


def _escaped(text: str) -> str:
    return _FOOTNOTE.sub(r"[^\1]", _SPECIAL.sub(r"\\\1", text))


def _line(text: str) -> str:
    lines = [line.strip(" ") for line in re.sub(r" {2,}", " ", text).split("\\\n")]
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return "\\\n".join(lines[filled[0] : filled[-1] + 1]).strip() if filled else ""


def _started(text: str) -> str:
    return _NUMBER.sub(r"\1\\", _LINE_START.sub(r"\1\\\2", text))


def _indented(text: str, first: str, other: str) -> str:
    lines = text.split("\n")
    return "\n".join(((first if number == 0 else other) + line).rstrip() for number, line in enumerate(lines))


_CONTAINERS: Final = frozenset(
    {"div", "section", "article", "aside", "header", "footer", "main", "thead", "tbody", "tr"}
)
_WRITERS: Final[Mapping[str, Callable[[LexborNode, int], str]]] = MappingProxyType(
    dict.fromkeys(_BLOCKS - _CONTAINERS, _text_block)
    | dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading)
    | {
        "p": lambda node, _: _started(_line(_inside(node, 0))),
        "blockquote": _quote,
        "ul": _list,
        "ol": _list,
        "pre": _fenced,
        "hr": _rule,
        "dl": _terms,
        "figure": _figure,
        "details": _details,
        "iframe": _frame,
        "table": _table,
    }
)
