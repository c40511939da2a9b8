"""What pages are checked for: how a platform renders a construct of an article."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

Fate = Literal["kept", "converted", "lost"]


class ShownPage:
    """A page as readers see it."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.tree = LexborHTMLParser(html)
        for node in self.tree.css("script, style, head, noscript, template"):
            node.decompose()

    def find(self, selector: str, word: str) -> LexborNode | None:
        """Return the innermost element that matches a selector and contains a word in its text."""
        nodes = [node for node in self.tree.css(selector) if word in " ".join(node.text().split())]
        return min(nodes, key=lambda node: len(node.text()), default=None)

    def has(self, selector: str, word: str) -> bool:
        """Return whether such an element exists."""
        return self.find(selector, word) is not None

    def code(self, word: str) -> str:
        """Return the code block that contains a word."""
        node = self.find("pre", word)
        return (node.text() if node is not None else "").strip("\n")


Check = Callable[[ShownPage], bool]


@dataclass(frozen=True, slots=True)
class Construct:
    """A construct that an article can contain. `word` occurs only in it; `kept` and `converted` check a page."""

    name: str
    title: str
    word: str
    source: str
    kept: Check
    converted: Check | None = None
    as_what: str = ""
    warned: str = ""

    @property
    def warning(self) -> re.Pattern[str]:
        """A pattern that matches every warning about the construct."""
        words = {*re.findall(r"fx\w+", self.source), self.word}
        return re.compile(self.warned or "|".join(re.escape(word) for word in sorted(words)))

    def fate(self, page: ShownPage) -> Fate:
        """Return whether the construct is kept, converted or lost on a page."""
        if self.kept(page):
            return "kept"
        return "converted" if self.converted is not None and self.converted(page) else "lost"


def in_element(selector: str, word: str) -> Check:
    return lambda page: page.has(selector, word)


def with_attribute(selector: str, word: str, name: str, *values: str) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find(selector, word)
        while node is not None:
            if (value := node.attributes.get(name)) is not None:
                return value in values
            node = node.parent if name in ("dir", "lang") else None
        return False

    return check


def with_breaks(word: str, count: int) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("p", word)
        return node is not None and "last line" in node.text() and len(node.css("br")) == count

    return check


def all_of(*checks: Check) -> Check:
    return lambda page: all(check(page) for check in checks)


def in_list(word: str, kind: str, depth: int) -> Check:
    """Check that an item is in a list of the given kind, at the given nesting depth."""

    def check(page: ShownPage) -> bool:
        item = page.find("li", word)
        if item is None:
            return False
        lists, node = [], item.parent
        while node is not None:
            lists += [node.tag] if node.tag in ("ol", "ul") else []
            node = node.parent
        return lists[:1] == [kind] and len(lists) == depth

    return check


def ancestors(node: LexborNode, count: int) -> Iterator[LexborNode]:
    """Yield up to `count` ancestors of an element, innermost first."""
    for _ in range(count):
        if node.parent is None:
            return
        node = node.parent
        yield node


def code_block(word: str, text: str, language: str = "") -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("pre", word)
        if page.code(word) != text or node is None:
            return False
        around = [node, *node.css("*"), *ancestors(node, 2)]
        marks = " ".join(str(value) for node in around for value in node.attributes.values())
        return not language or re.search(rf"(?<!\w){re.escape(language)}(?!\w)", marks) is not None

    return check


def inline_code(word: str, text: str) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("code", word)
        return node is not None and node.text() == text

    return check


def is_aligned(page: ShownPage) -> bool:
    cell = page.find("td", "fxright")
    if cell is None:
        return False
    marks = " ".join(str(value) for value in cell.attributes.values())
    return "right" in marks


def task(word: str, done: bool) -> Check:
    def check(page: ShownPage) -> bool:
        item = page.find("li", word)
        return item is not None and ("☑" if done else "☐") in item.text()

    return check


def checkbox(word: str, done: bool) -> Check:
    def check(page: ShownPage) -> bool:
        item = page.find("li", word)
        box = item.css_first("input[type=checkbox]") if item is not None else None
        return box is not None and ("checked" in box.attributes) == done

    return check


def has_footnote(page: ShownPage) -> bool:
    """Check that the footnote reference links to the note, and the note back to the reference."""
    reference = page.find("p", "fxnoteref")
    link = reference.css_first("a[href*='#']") if reference is not None else None
    note = page.find("li", "fxnotetext")
    if link is None or note is None:
        return False
    target = (link.attributes.get("href") or "").partition("#")[2]
    note_ids = {node.attributes.get("id") for node in [note, *note.css("*")]}
    backlinks = [(link.attributes.get("href") or "").partition("#")[2] for link in note.css("a[href*='#']")]
    ids = {node.attributes.get("id") for node in page.tree.css("[id]")}
    return bool(target) and target in note_ids and bool(backlinks) and set(backlinks) <= ids


def has_embed(page: ShownPage) -> bool:
    return any("fxEmbedId01" in (node.attributes.get("src") or "") for node in page.tree.css("iframe"))


def has_image(page: ShownPage) -> bool:
    return any("fxalt" in (node.attributes.get("alt") or "") for node in page.tree.css("img[src], img[data-src]"))


def link(word: str, target: str, title: str = "") -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("a", word)
        return (
            node is not None
            and (node.attributes.get("href") or "").partition("?")[0] == target
            and (not title or node.attributes.get("title") == title)
        )

    return check


PHP: Final = "<?php\n// fxphp\n$line = \"two  spaces\";\n\techo '<b>' . $line . '</b>'; // a tab & more"
PYTHON: Final = 'def fxpython(text: str) -> str:\n    return f"{text}" if 1 < 2 else "--"'
JAVASCRIPT: Final = "const fxjavascript = `${a}`;\n\n\nif (a && b) { render('{{ fx.mustache }}'); }"
HTML: Final = '<div class="fxhtml">\n  <p>Text &amp; more</p>\n  <!-- fxcomment -->\n</div>'
SHELL: Final = "# fxshell\necho \"$HOME\" | sed 's/a/b/' > out.txt \\\n  && cat *.md"
TEMPLATES: Final = (
    "fxtemplates [gallery] [caption]a[/caption] [fx]\n{{< figure src=x >}} {{% nothing %}}\n"
    "{% raw %}{{ page.title }}{% endraw %} {% include x %}\n<%= fx %> ${fx} {{{ fx }}} {{#if fx}}{{/if}}"
)


def fence(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"
