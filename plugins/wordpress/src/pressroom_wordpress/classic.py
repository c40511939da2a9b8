"""Classic WordPress texts without the block editor, split at blank lines, elements and shortcodes.

WordPress adds paragraphs to such text when it is shown (`wpautop`): a blank line ends a paragraph, and a line break in
it is visible to readers. Articles get the text as readers see it. Shortcodes are written `[gallery ids="1,2"]` and
`[caption]…[/caption]` (developer.wordpress.org). The names that a site has registered cannot be queried, so anything
that looks like a shortcode counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pressroom_content.contract import BodyBlock

from pressroom_wordpress.markup import (
    INLINE,
    VOID,
    HtmlElement,
    after_space,
    parse,
    player_of,
    serialised,
    tokens,
    without_internals,
)

_TAG = re.compile(
    r"\[(/?)(\[?)([A-Za-z0-9_][\w:.-]{0,60}+)(?=[\s\]/])((?>(?:[^\[\]<\"']++|\"[^\"\[\]]*+\"|'[^'\[\]]*+')*))\]",
    re.ASCII,
)
_ARGUMENTS = re.compile(r"[=\"']|://|/\Z")
_WORDS: Final = frozenset({"sic", "ibid", "emphasis", "citation"})
"""Bracketed words of authors that WordPress does not treat as shortcodes."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n\s*+")
_LINE_BREAK = re.compile(r"\n\s*+")
_URL_LINE = re.compile(r"^[^\S\n]*+(https?://[^\s<>\"]++)[^\S\n]*+$", re.MULTILINE | re.IGNORECASE)
_COMMENT = re.compile(r"<!--\s*+(/?\w[\w:]{0,40})")
_ELEMENTS: Final = frozenset(
    {
        "address", "area", "article", "aside", "blockquote", "caption", "col", "colgroup", "dd", "details", "div", "dl",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hgroup", "hr", "iframe", "legend", "li", "map", "math", "menu", "nav", "ol", "p", "pre", "script", "section",
        "style", "summary", "svg", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
"""Elements that begin a new piece."""

_NAMES: Final = {
    "p": "paragraph", "ul": "list", "ol": "list", "blockquote": "quote", "pre": "preformatted", "hr": "separator",
    "figure": "image", "iframe": "embed", "dl": "list",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
}  # fmt: skip
Nodes = Sequence[HtmlElement | str]


class Shortcode(NamedTuple):
    """One tag of a shortcode, from `start` to `end`."""

    name: str
    start: int
    end: int
    closes: bool


def shortcodes(text: str) -> Iterator[Shortcode]:
    """Yield the shortcode tags in a text, including those in attributes and code."""
    for match in _TAG.finditer(text):
        closes, _, name, arguments = match.groups()
        arguments = arguments.strip()
        has_arguments = bool(arguments)
        if name.lower() in _WORDS or (has_arguments and not _ARGUMENTS.search(arguments)):
            continue
        if not any(map(str.isalpha, name)) or (len(name) == 1 and not has_arguments and not closes):
            continue
        yield Shortcode(name, match.start(), match.end(), closes=bool(closes))


def has_shortcodes(text: str) -> bool:
    """Check whether a text contains a shortcode."""
    return "[" in text and next(shortcodes(text), None) is not None


def classic_blocks(raw: str, *, paragraphs: bool) -> Iterator[BodyBlock]:
    """Yield the pieces of a text. Concatenated, their sources are the text.

    `paragraphs` is whether WordPress adds paragraphs. It does not in a body that also has blocks.
    """
    start = 0
    for end in [*_outside(_cuts(raw), _enclosed(raw)), len(raw)]:
        after = after_space(raw, end)
        if end > start and (after == len(raw) or not raw[start:end].isspace()):
            yield _piece(raw[start:after], paragraphs=paragraphs)
            start = after


def _cuts(raw: str) -> Iterator[int]:  # noqa: C901 - one pass over all kinds of tokens
    """Yield the positions at which pieces end, in ascending order."""
    depth, element = 0, ""
    for token in tokens(raw):
        if element:
            if token.name == element:
                depth += 1 if token.kind == "open" else -1
                if depth == 0:
                    element = ""
                    yield token.end
        elif token.kind == "text":
            for match in _BLANK_LINE.finditer(raw, token.start, token.end):
                yield match.start()
        elif token.kind == "comment":
            if raw[token.start - 1 : token.start] in ("", "\n") or raw.startswith("<!--more", token.start):
                yield token.start
                yield token.end
        elif token.kind == "close":
            if token.name == "p":
                yield token.end
        elif token.name in _ELEMENTS:
            yield token.start
            if token.name in VOID:
                yield token.end
            elif token.name != "p":
                element, depth = token.name, 1


def _enclosed(raw: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of enclosing shortcodes. Nested ones are part of the outer one."""
    tags = list(shortcodes(raw)) if "[/" in raw else []
    closings: dict[str, list[int]] = {}
    for tag in reversed(tags):
        if tag.closes:
            closings.setdefault(tag.name, []).append(tag.end)
    until = 0
    for tag in tags:
        ahead = closings.get(tag.name, [])
        while ahead and ahead[-1] <= tag.end:
            ahead.pop()
        if not tag.closes and ahead and tag.start >= until:
            until = ahead[-1]
            yield tag.start, until


def _outside(cuts: Iterator[int], regions: Iterator[tuple[int, int]]) -> Iterator[int]:
    """Yield the cuts that are not inside a region."""
    start, end = next(regions, (0, 0))
    for cut in cuts:
        while end and end <= cut:
            start, end = next(regions, (0, 0))
        if not (end and start < cut):
            yield cut


def _piece(source: str, *, paragraphs: bool) -> BodyBlock:
    content = source.strip()
    if not content:
        return BodyBlock(source, "white space", "")
    tag = next(shortcodes(content), None) if "[" in content else None
    if tag is not None:
        return BodyBlock(source, tag.name[:60])
    if "<!--" in content:
        comment = _COMMENT.match(content)
        name = comment[1] if comment else "text with a comment"
        return BodyBlock(source, "mark", "") if name.startswith("pressroom:") else BodyBlock(source, name)
    nodes = parse(content.replace("\r\n", "\n").replace("\r", "\n"))
    nonblank = [node for node in nodes or () if isinstance(node, HtmlElement) or node.strip()]
    root = nonblank[0] if len(nonblank) == 1 else ""
    if isinstance(root, HtmlElement) and root.name in _ELEMENTS:
        return BodyBlock(source, _NAMES.get(root.name, root.name), _html_of_element(root, paragraphs=paragraphs))
    if nodes is None or any(isinstance(node, HtmlElement) and node.name not in INLINE for node in nonblank):
        return BodyBlock(source, "HTML")
    if not paragraphs:
        return BodyBlock(source, "text")
    urls = _URL_LINE.findall(content)
    if urls:
        player = player_of(urls[0]) if urls[0] == content else None
        return BodyBlock(source, "embed", player.html if player else None)
    return BodyBlock(source, "paragraph", _html(_paragraphs(nodes, {})))


def _html_of_element(root: HtmlElement, *, paragraphs: bool) -> str | None:
    if not paragraphs or root.name == "pre":
        return _html([root])
    if root.name == "p":
        return _html(_paragraphs(root.children, root.attributes))
    visible = _displayed(root)
    return _html([visible]) if visible is not None else None


def _html(nodes: Nodes | None) -> str | None:
    visible = without_internals(nodes) if nodes is not None else None
    return serialised(visible).strip() if visible is not None else None


def _displayed(element: HtmlElement) -> HtmlElement | None:
    """Return an element as readers see it; `None` if WordPress would add paragraphs in it that are hard to predict."""
    if element.name == "pre":
        return element
    children: list[HtmlElement | str] = []
    for part in _parts(element.children):
        nodes = _part(part, element.name)
        if nodes is None:
            return None
        children += nodes
    return HtmlElement(element.name, element.attributes, children)


def _part(part: HtmlElement | Nodes, holder: str) -> Nodes | None:
    if isinstance(part, HtmlElement):
        if part.name == "p":
            return _paragraphs(part.children, part.attributes)
        visible = _displayed(part)
        return None if visible is None else [visible]
    if holder == "blockquote":
        return _paragraphs(part, {})
    runs = _runs(part)
    if runs is None or len(runs) > 1:
        return None
    return runs[0] if runs else []


def _parts(nodes: Nodes) -> Iterator[HtmlElement | Nodes]:
    """Yield the block-level elements, and the runs of nodes between them."""
    run: list[HtmlElement | str] = []
    for node in nodes:
        if isinstance(node, HtmlElement) and node.name not in INLINE:
            if run:
                yield run
            yield node
            run = []
        else:
            run.append(node)
    if run:
        yield run


def _paragraphs(nodes: Nodes, attributes: Mapping[str, str]) -> Sequence[HtmlElement] | None:
    """Return the paragraphs that WordPress makes of text."""
    if any(isinstance(node, HtmlElement) and node.name not in INLINE for node in nodes):
        return None
    runs = _runs(nodes)
    return None if runs is None else [HtmlElement("p", attributes, run) for run in runs]


def _runs(nodes: Nodes) -> list[list[HtmlElement | str]] | None:
    """Split text at blank lines and double line breaks, and strip the white space around each part."""
    runs: list[list[HtmlElement | str]] = [[]]
    for node in nodes:
        if isinstance(node, str):
            first, *more = _BLANK_LINE.split(node)
            runs[-1].append(first)
            runs += [[text] for text in more]
        else:
            if node.name == "br" and _ends_in_break(runs[-1]):
                runs.append([])
                continue
            runs[-1].append(node)
    broken_runs = [_broken(_trimmed(run)) for run in runs]
    if any(run is None for run in broken_runs):
        return None
    return [run for run in broken_runs if run]


def _ends_in_break(run: Nodes) -> bool:
    last = next((node for node in reversed(run) if isinstance(node, HtmlElement) or node.strip()), "")
    return isinstance(last, HtmlElement) and last.name == "br"


def _trimmed(run: list[HtmlElement | str]) -> list[HtmlElement | str]:
    while run and (not run[0].strip() if isinstance(run[0], str) else run[0].name == "br"):
        run.pop(0)
    while run and (not run[-1].strip() if isinstance(run[-1], str) else run[-1].name == "br"):
        run.pop()
    if run and isinstance(run[0], str):
        run[0] = run[0].lstrip()
    if run and isinstance(run[-1], str):
        run[-1] = run[-1].rstrip()
    return run


def _broken(run: Nodes) -> list[HtmlElement | str] | None:
    """Return text with a `br` element for each line break; `None` if its elements contain blank lines."""
    nodes: list[HtmlElement | str] = []
    for node in run:
        if isinstance(node, HtmlElement):
            children = _broken(node.children)
            if children is None or any(isinstance(child, str) and _BLANK_LINE.search(child) for child in node.children):
                return None
            nodes.append(HtmlElement(node.name, node.attributes, children))
            continue
        *broken, last = _LINE_BREAK.split(node)
        lines = [*(line.rstrip() for line in broken), last]
        if nodes and isinstance(nodes[-1], HtmlElement) and nodes[-1].name == "br" and not lines[0]:
            lines = lines[1:]
        for position, line in enumerate(lines):
            if position:
                nodes.append(HtmlElement("br"))
            nodes.append(line)
    return nodes
