"""Reading the structure of an article or a web page from HTML, in a single pass.

Pages can be crafted to keep a parser busy: parse them in a worker process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urldefrag, urljoin

from pressroom.sdk import InvalidInput
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from pressroom_content.publishing.code_blocks import code_of, language_of
from pressroom_content.publishing.structure import (
    MAX_VALUE,
    UNSEEN,
    CodeBlock,
    NoteReference,
    NumberedList,
    Passage,
    RunKind,
    ShownImage,
    ShownLink,
    Structure,
    Table,
    TableCell,
    TextMark,
    words_of,
)
from pressroom_content.rendering.markdown import check_depth, check_html

MAX_RUNS: Final = 40_000
"""The maximum number of passages that are read of an article. Later ones are ignored."""

MAX_PAGE_RUNS: Final = 60_000
"""The maximum number of passages that are read of a page, which has text besides the article."""

_INLINE: Final = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "img", "input", "ins", "kbd", "label", "mark", "picture", "q", "rp", "rt", "ruby", "s", "samp", "small",
        "source", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    }
)  # fmt: skip
_MARKS: Final[Mapping[str, str]] = {
    "em": "em", "i": "em", "strong": "strong", "b": "strong", "del": "del", "s": "del", "strike": "del", "ins": "ins",
    "u": "ins", "code": "code", "tt": "code", "kbd": "kbd", "mark": "mark", "sub": "sub", "sup": "sup", "abbr": "abbr",
    "acronym": "abbr", "q": "q",
}  # fmt: skip
_KINDS: Final[Mapping[str, RunKind]] = {
    "li": "item", "dt": "term", "dd": "definition", "td": "cell", "th": "cell", "summary": "summary",
    "figcaption": "caption", "caption": "caption", **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
}  # fmt: skip
_TOGGLE: Final = "kg-toggle-card"
_TOGGLE_HEADING: Final = "kg-toggle-heading-text"
_FRAMES: Final = frozenset({"iframe", "embed", "object", "video", "audio"})
_BOXES: Final[Mapping[str, bool]] = {"☐": False, "☑": True, "☒": True}
_SOURCES: Final = ("src", "data-src", "data-lazy-src", "data-original", "srcset", "data-srcset", "data-lazy-srcset")
_HIDDEN: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_ALIGN: Final = re.compile(r"text-align\s*:\s*(left|center|right|start|end|justify)", re.IGNORECASE)
_ALIGN_CLASS: Final = re.compile(r"(?:has-text-align|text|align|text-align|ta)-?(left|center|right|end)", re.IGNORECASE)
_DIRECTION: Final = re.compile(r"direction\s*:\s*(rtl|ltr)", re.IGNORECASE)
_NOTE: Final = re.compile(r"footnote|(?:^|\s)fn(?:$|\s|-)|noteref", re.IGNORECASE)
_BACK: Final = re.compile(r"back|return|reverse", re.IGNORECASE)
_MAX_ATTRIBUTES: Final = 500_000


def structure_of(html: str, url: str = "", max_runs: int = MAX_RUNS) -> Structure:
    """Return the structure of HTML, up to `max_runs` passages.

    `url` is the base URL. Without it, links and images are not resolved.

    Raises:
        InvalidInput: it is nested too deeply, or has too many tags.
    """
    check_html(html)
    try:
        tree = LexborHTMLParser(html)
    except SelectolaxError:
        raise InvalidInput("", "its HTML is nested too deep to be read") from None
    if tree.root is None:
        return Structure()
    check_depth(tree.root)
    return _Reader(url, max_runs).read(tree.root)


class _State(NamedTuple):
    """Properties that an element's descendants inherit."""

    element: int = -1
    kind: RunKind = "paragraph"
    level: int = 0
    lists: tuple[str, ...] = ()
    quotes: int = 0
    language: str = ""
    direction: str = ""
    align: str = ""
    superscript: bool = False
    spaced: bool = False
    unread: bool = False
    in_menu: bool = False


class _End(NamedTuple):
    """The end of an element: the state outside and inside of it, and where its text began."""

    tag: str
    element: int
    outer: _State
    inner: _State
    run: int
    start: int
    node: LexborNode


class _Reader:
    """Walks a tree once, without recursion."""

    def __init__(self, url: str, max_runs: int) -> None:
        self._url = url
        self._max_runs = max_runs
        self._page = urldefrag(url)[0].rstrip("/")
        self._structure = Structure()
        self._parts: list[str] = []
        self._breaks = self._pending = 0
        self._box: bool | None = None
        self._state = _State()
        self._tables: list[Table] = []
        self._cells: list[list[str]] = []
        self._details: list[int] = []
        self._data: list[str] = []
        self._data_length = 0

    def read(self, root: LexborNode) -> Structure:
        """Return the structure of a tree."""
        stack: list[tuple[LexborNode, _State] | _End] = [(root, self._state)]
        while stack and len(self._structure.runs) < self._max_runs:
            item = stack.pop()
            if isinstance(item, _End):
                self._close(item)
                continue
            node, state = item
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "", state)
            elif not tag.startswith("-") and tag not in UNSEEN:
                stack += self._open(node, tag, state)
        self._flush()
        structure = self._structure
        for at, end in enumerate(structure.ends):
            structure.ends[at] = end or len(structure.ends)
        structure.data = " ".join(self._data)
        return structure

    def _open(self, node: LexborNode, tag: str, outer: _State) -> Iterator[tuple[LexborNode, _State] | _End]:
        """Record the start of an element, and yield its end and children in reverse order."""
        attributes = {name: value or "" for name, value in node.attributes.items()}
        if "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")[:MAX_VALUE]):
            return
        element = len(self._structure.parents)
        self._structure.parents.append(outer.element)
        self._structure.ends.append(0)
        self._structure.ids.update(filter(None, (attributes.get("id"), attributes.get("name") if tag == "a" else None)))
        self._note_data(tag, attributes)
        state = _inside(tag, attributes, outer, element)
        if tag == "br":
            self._pending += bool(self._parts)
            self._write("\n", state)
            return
        if tag not in _INLINE:
            self._flush()
            self._state = state
        elif tag == "a" and self._is_of_note(node, state):
            state = state._replace(unread=True)
        elif tag == "a" and state.kind == "heading" and attributes.get("href", "").startswith("#"):
            state = state._replace(spaced=True)  # anchor links that themes put beside headings
        yield _End(tag, element, outer, state, len(self._structure.runs), len(self._parts), node)
        if tag == "pre":
            self._structure.code.append(CodeBlock(element, code_of(node), language_of(node)))
            return
        if tag in _FRAMES:
            self._structure.frames.append((element, attributes.get("src") or attributes.get("data-src") or ""))
            return
        self._note(element, node, tag, attributes)
        for child in reversed(list(node.iter(include_text=True))):
            yield child, state

    def _note(self, element: int, node: LexborNode, tag: str, attributes: Mapping[str, str]) -> None:
        """Record an element that is more than a passage."""
        match tag:
            case "img":
                self._image(element, attributes)
            case "hr" if "footnote" not in f"{attributes.get('class')} {_marks_of(node)}":
                self._structure.rules.append(element)
            case "table":
                self._tables.append(Table(element))
                self._structure.tables.append(self._tables[-1])
            case "tr" if self._tables:
                self._tables[-1].rows.append([])
            case "td" | "th" if self._tables:
                self._cells.append([])
                self._tables[-1].merged |= not {attributes.get(name, "1") for name in ("colspan", "rowspan")} <= {
                    "",
                    "1",
                }
            case _ if _is_collapsible(tag, attributes):
                self._details.append(len(self._structure.details))
                self._structure.details.append((element, ""))
            case "input" if attributes.get("type", "").lower() == "checkbox":
                self._box = "checked" in attributes
            case "ol":
                start = attributes.get("start", "")
                number = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 1
                self._structure.numbered.append(NumberedList(element, len(self._structure.runs), number))

    def _close(self, end: _End) -> None:
        tag, structure = end.tag, self._structure
        structure.ends[end.element] = len(structure.parents)
        if tag in _INLINE:
            self._close_inline(end)
            return
        self._flush()
        self._state = end.outer
        if tag in ("td", "th") and self._cells and self._tables:
            text = " ".join("".join(self._cells.pop()).split())
            if self._tables[-1].rows:
                self._tables[-1].rows[-1].append(TableCell(words_of(text), text, tag == "th", end.inner.align))
        elif tag == "table" and self._tables:
            self._tables.pop()
        elif _is_collapsible(tag, end.node.attributes) and self._details:
            self._details.pop()

    def _close_inline(self, end: _End) -> None:
        tag = end.tag
        if tag not in _MARKS and tag != "a":
            return
        run = len(self._structure.runs)
        text = " ".join("".join(self._parts[end.start if run == end.run else 0 :]).split())
        if tag != "a":
            if text:
                self._structure.marks.append(TextMark(end.element, run, _MARKS[tag], text))
            return
        attributes = end.node.attributes
        target = self._target(attributes.get("href") or "")
        if self._is_of_note(end.node, end.outer) and not _BACK.search(f"{_marks_of(end.node)} {target}"):
            label = " ".join(end.node.text()[:MAX_VALUE].split()).strip("[]()")
            if any(map(str.isalnum, label)):
                self._structure.notes.append(NoteReference(end.element, run, label, target[1:]))
                return
        if target:
            title = " ".join((attributes.get("title") or "").split())[:MAX_VALUE]
            self._structure.links.append(ShownLink(end.element, run, target, text, title))

    def _is_of_note(self, link: LexborNode, state: _State) -> bool:
        """Check whether a link leads to a footnote or back from one: its text is not part of the sentence."""
        is_near = self._target(link.attributes.get("href") or "").startswith("#")
        return is_near and (state.superscript or _NOTE.search(_marks_of(link)) is not None)

    def _text(self, text: str, state: _State) -> None:
        if not state.unread:
            self._write(text, state)

    def _write(self, text: str, state: _State) -> None:
        visible = bool(text) and not text.isspace()
        if not self._parts and not visible:
            return
        if visible:
            self._breaks, self._pending = self._breaks + self._pending, 0
        if state.superscript or state.spaced:
            text = f" {text} "
        self._parts.append(text)

    def _flush(self) -> None:
        """End the current passage."""
        state, text, breaks = self._state, " ".join("".join(self._parts).split()), self._breaks
        self._parts, self._breaks, self._pending = [], 0, 0
        box, self._box = self._box, None
        if not text:
            self._box = box
            return
        if text[0] in _BOXES:
            box, text = _BOXES[text[0]], text[1:].lstrip()
        words = words_of(text)
        if self._cells:
            self._cells[-1].append(f" {text} ")
        if self._tables and state.kind == "caption":
            self._tables[-1].caption = text
        if self._details and state.kind == "summary":
            self._structure.details[self._details[-1]] = (self._structure.details[self._details[-1]][0], text)
        run = Passage(
            at=state.element,
            text=text,
            words=words,
            kind=state.kind,
            level=state.level,
            lists=state.lists,
            quotes=state.quotes,
            language=state.language,
            direction=state.direction,
            breaks=breaks,
            box=box,
            in_menu=state.in_menu,
        )
        self._structure.runs.append(run)

    def _image(self, element: int, attributes: Mapping[str, str]) -> None:
        if "emoji" in attributes.get("class", "") or "smiley" in attributes.get("class", ""):
            self._write(attributes.get("alt", ""), self._state)
            return
        sources = [attributes[name] for name in _SOURCES if attributes.get(name)]
        self._structure.images.append(ShownImage(element, tuple(sources), attributes.get("alt", "")))

    def _target(self, href: str) -> str:
        href = href.strip()
        if not href or href.startswith("#"):
            return href
        try:
            full = urljoin(self._url, href)
            page, fragment = urldefrag(full)
        except ValueError:
            return href
        return f"#{fragment}" if fragment and self._page and page.rstrip("/") == self._page else full

    def _note_data(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Keep the attributes from which scripts create embedded pages."""
        if self._data_length > _MAX_ATTRIBUTES:
            return
        all_attributes = tag in _FRAMES or "-" in tag
        for name, value in attributes.items():
            if all_attributes or name.startswith("data-"):
                self._data.append(value[:MAX_VALUE])
                self._data_length += len(value[:MAX_VALUE])


def _is_collapsible(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Check whether an element is a collapsible section: `details`, or Ghost's equivalent."""
    return tag == "details" or _TOGGLE in (attributes.get("class") or "")[:MAX_VALUE].split()


def _inside(tag: str, attributes: Mapping[str, str], state: _State, element: int) -> _State:
    """Return the state inside an element."""
    style, classes = attributes.get("style", "")[:MAX_VALUE], attributes.get("class", "")[:MAX_VALUE]
    changes: dict[str, object] = {"element": element}
    if tag in _KINDS:
        changes |= {"kind": _KINDS[tag], "level": int(tag[1]) if _KINDS[tag] == "heading" else 0}
    if _TOGGLE_HEADING in classes.split():
        changes |= {"kind": "summary", "level": 0}
    if tag in ("ol", "ul"):
        changes["lists"] = (*state.lists, tag)[-20:]
    if tag == "blockquote" or (tag == "q" and not state.quotes):
        changes["quotes"] = state.quotes + (tag == "blockquote")
    if language := attributes.get("lang", attributes.get("xml:lang", "")):
        changes["language"] = language[:40].lower()
    direction = attributes.get("dir", "").lower() or ((match := _DIRECTION.search(style)) and match[1].lower())
    if direction:
        changes["direction"] = direction
    align = _alignment(attributes.get("align", ""), style, classes)
    if align:
        changes["align"] = align
    return state._replace(
        **changes,  # type: ignore[arg-type]
        superscript=state.superscript or tag in ("sup", "sub"),
        unread=state.unread or attributes.get("aria-hidden") == "true" or tag == "noscript",
        in_menu=state.in_menu or tag == "nav" or attributes.get("role") == "navigation",
    )


def _alignment(attribute: str, style: str, classes: str) -> str:
    """Return the alignment of text; empty if it is not specified."""
    alignment = attribute.strip().lower()
    if match := _ALIGN.search(style):
        alignment = match[1].lower()
    elif not alignment:
        for name in classes.split():
            if match := _ALIGN_CLASS.fullmatch(name):
                alignment = match[1].lower()
    return {"end": "right", "justify": "left", "start": "left"}.get(alignment, alignment)


def _marks_of(node: LexborNode) -> str:
    """Return the identifying attributes of a link and its parent, such as class and role."""
    around = [node] if node.parent is None else [node, node.parent]
    names = ("class", "role", "rel", "id", "epub:type", "data-fn")
    values = (element.attributes.get(name) or "" for element in around for name in names)
    return " ".join(value[:MAX_VALUE] for value in values)
