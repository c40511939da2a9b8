"""An article with every construct, and how each construct is rendered on a platform's page."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pressroom.sdk import PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.contract import SiteConnector
from pressroom_content.publishing.losses import all_losses, loss_messages
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import UNDER_WAY
from pressroom_content.publishing.structure_reading import structure_of
from pressroom_content.publishing.verifying import RECHECK_DELAYS, sent_body
from pressroom_content.records import Publication
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser, LexborNode

from support.publishing_world import ADA, recheck, write
from support.standin_plugin import DRAWING

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


def _in(selector: str, word: str) -> Check:
    return lambda page: page.has(selector, word)


def _attribute(selector: str, word: str, name: str, *values: str) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find(selector, word)
        while node is not None:
            if (value := node.attributes.get(name)) is not None:
                return value in values
            node = node.parent if name in ("dir", "lang") else None
        return False

    return check


def _breaks(word: str, count: int) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("p", word)
        return node is not None and "last line" in node.text() and len(node.css("br")) == count

    return check


def _both(*checks: Check) -> Check:
    return lambda page: all(check(page) for check in checks)


def _list(word: str, kind: str, depth: int) -> Check:
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


def _ancestors(node: LexborNode, count: int) -> Iterator[LexborNode]:
    """Yield up to `count` ancestors of an element, innermost first."""
    for _ in range(count):
        if node.parent is None:
            return
        node = node.parent
        yield node


def _code(word: str, text: str, language: str = "") -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("pre", word)
        if page.code(word) != text or node is None:
            return False
        around = [node, *node.css("*"), *_ancestors(node, 2)]
        marks = " ".join(str(value) for node in around for value in node.attributes.values())
        return not language or re.search(rf"(?<!\w){re.escape(language)}(?!\w)", marks) is not None

    return check


def _inline_code(word: str, text: str) -> Check:
    def check(page: ShownPage) -> bool:
        node = page.find("code", word)
        return node is not None and node.text() == text

    return check


def _aligned(page: ShownPage) -> bool:
    cell = page.find("td", "fxright")
    if cell is None:
        return False
    marks = " ".join(str(value) for value in cell.attributes.values())
    return "right" in marks


def _task(word: str, done: bool) -> Check:
    def check(page: ShownPage) -> bool:
        item = page.find("li", word)
        return item is not None and ("☑" if done else "☐") in item.text()

    return check


def _checkbox(word: str, done: bool) -> Check:
    def check(page: ShownPage) -> bool:
        item = page.find("li", word)
        box = item.css_first("input[type=checkbox]") if item is not None else None
        return box is not None and ("checked" in box.attributes) == done

    return check


def _footnote(page: ShownPage) -> bool:
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


def _embed(page: ShownPage) -> bool:
    return any("fxEmbedId01" in (node.attributes.get("src") or "") for node in page.tree.css("iframe"))


def _image(page: ShownPage) -> bool:
    return any("fxalt" in (node.attributes.get("alt") or "") for node in page.tree.css("img[src], img[data-src]"))


def _link(word: str, target: str, title: str = "") -> Check:
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


def _fence(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


CONSTRUCTS: Final[Sequence[Construct]] = (
    Construct(
        "headings",
        "Headings, levels 2 to 4",
        "fxheading",
        "## Title fxheading\n\n### Below fxheadingthree\n\n#### Below fxheadingfour",
        _both(_in("h2", "fxheading"), _in("h3", "fxheadingthree"), _in("h4", "fxheadingfour")),
    ),
    Construct(
        "wrapped_paragraphs",
        "Paragraphs over several lines of markdown",
        "fxwrapped",
        "A paragraph fxwrapped\nover some lines of\nmarkdown, this is the last line.",
        _breaks("fxwrapped", 0),
    ),
    Construct(
        "line_breaks",
        "Line breaks",
        "fxbreak",
        "A line fxbreak  \nanother\\\nand the last line.",
        _breaks("fxbreak", 2),
    ),
    Construct(
        "emphasis",
        "Emphasis and bold",
        "fxemphasis",
        "Some *words fxemphasis* and **bold fxstrong** and ***both fxboth***.",
        _both(_in("em, i", "fxemphasis"), _in("strong, b", "fxstrong"), _in("em, i", "fxboth")),
    ),
    Construct(
        "strikethrough", "Strikethrough", "fxstruck", "Some ~~words fxstruck~~.", _in("del, s, strike", "fxstruck")
    ),
    Construct(
        "inline_elements",
        "Keys, sub- and superscript, marked words, abbreviations",
        "fxkeys",
        "Press <kbd>Ctrl fxkeys</kbd>, <sub>fxsub</sub>, <sup>fxsup</sup>, <mark>fxmark</mark>, "
        '<abbr title="Long form">fxabbr</abbr>.',
        _both(
            _in("kbd", "fxkeys"), _in("sub", "fxsub"), _in("sup", "fxsup"), _in("mark", "fxmark"), _in("abbr", "fxabbr")
        ),
    ),
    Construct(
        "code_spans",
        "Code in a line",
        "fxspan",
        'Call `fxspan(a <b> && c, "--")` here.',
        _inline_code("fxspan", 'fxspan(a <b> && c, "--")'),
    ),
    Construct(
        "templates_in_code_spans",
        "Shortcodes, Liquid and mustache in code in a line",
        "fxshortspan",
        "Write `[gallery] fxshortspan {{< x >}} {% raw %} {{ fx }}` here.",
        _inline_code("fxshortspan", "[gallery] fxshortspan {{< x >}} {% raw %} {{ fx }}"),
    ),
    Construct(
        "templates_in_text",
        "Shortcodes, Liquid and mustache in text",
        "fxshorttext",
        "The words fxshorttext \\[gallery\\] and {{ fx.text }} and {% raw %} are text.",
        lambda page: (
            page.has("p", "fxshorttext")
            and all(
                source in (page.find("p", "fxshorttext") or page.tree.body).text()  # type: ignore[union-attr]
                for source in ("[gallery]", "{{ fx.text }}", "{% raw %}")
            )
        ),
    ),
    Construct(
        "links",
        "Links, with titles, by reference and bare",
        "fxlink",
        '[a link fxlink](https://example.com/a "fx title"), [by reference fxlinkref][fxref] and '
        "<https://example.com/fxlinkbare>.\n\n[fxref]: https://example.com/b",
        _both(
            _link("fxlink", "https://example.com/a", "fx title"),
            _link("fxlinkref", "https://example.com/b"),
            _link("fxlinkbare", "https://example.com/fxlinkbare"),
        ),
        _both(
            _link("fxlink", "https://example.com/a"),
            _link("fxlinkref", "https://example.com/b"),
            _link("fxlinkbare", "https://example.com/fxlinkbare"),
        ),
        "links have no titles",
    ),
    Construct(
        "images",
        "Images with alternative text",
        "fxalt",
        f"![A photo fxalt](https://library.example/{DRAWING}.png)",
        _image,
        warned=r"fxalt",
    ),
    Construct(
        "captions",
        "Captions of images",
        "fxcaption",
        f'<figure><img src="https://library.example/{DRAWING}.png" alt="Another photo"><figcaption>Below it fxcaption'
        "</figcaption></figure>",
        _in("figcaption", "fxcaption"),
        _in("p, div", "fxcaption"),
        "a paragraph below the image",
        warned=r"fxcaption|Another photo",
    ),
    Construct(
        "quotes",
        "Quotes, also in each other",
        "fxquote",
        "> A quote fxquote\n>\n> > inside fxquoteinner",
        _both(_in("blockquote", "fxquote"), _in("blockquote blockquote", "fxquoteinner")),
        _both(_in("blockquote", "fxquote"), _in("blockquote", "fxquoteinner")),
        "quotes in a quote become part of it",
    ),
    Construct(
        "lists",
        "Lists in lists",
        "fxitem",
        "- one fxitem\n- two fxitemtwo\n  - nested fxnested\n    1. deep fxdeep",
        _both(_list("fxitem", "ul", 1), _list("fxnested", "ul", 2), _list("fxdeep", "ol", 3)),
    ),
    Construct(
        "numbering",
        "Numbered lists that begin at another number",
        "fxthird",
        "3. third fxthird\n4. fourth fxfourth",
        lambda page: (
            _list("fxthird", "ol", 1)(page)
            and (page.find("ol", "fxthird") or page.tree.body).attributes.get("start") == "3"  # type: ignore[union-attr]
        ),
        warned=r"fxthird|fxfourth",
    ),
    Construct(
        "task_lists",
        "Task lists",
        "fxtodo",
        "- [ ] to do fxtodo\n- [x] done fxdone",
        _both(_checkbox("fxtodo", done=False), _checkbox("fxdone", done=True)),
        _both(_task("fxtodo", done=False), _task("fxdone", done=True)),
        "boxes are characters",
    ),
    Construct(
        "definition_lists",
        "Definition lists",
        "fxterm",
        "<dl><dt>Term fxterm</dt><dd>What it means fxmeaning</dd></dl>",
        _both(_in("dt", "fxterm"), _in("dd", "fxmeaning")),
    ),
    Construct(
        "rules",
        "Horizontal rules",
        "fxrule",
        "Before fxrule\n\n* * *\n\nAfter it",
        lambda page: bool(page.tree.css("hr.fx, hr")),
        warned=r"horizontal rule|fxrule",
    ),
    Construct(
        "code_python",
        "Code blocks: Python",
        "fxpython",
        _fence("python", PYTHON),
        _code("fxpython", PYTHON, "python"),
        warned=r"code block \d+ \(python\)",
    ),
    Construct(
        "code_php",
        "Code blocks: PHP",
        "fxphp",
        _fence("php", PHP),
        _code("fxphp", PHP, "php"),
        warned=r"code block \d+ \(php\)",
    ),
    Construct(
        "code_javascript",
        "Code blocks: JavaScript",
        "fxjavascript",
        _fence("javascript", JAVASCRIPT),
        _code("fxjavascript", JAVASCRIPT, "javascript"),
        warned=r"code block \d+ \(javascript\)",
    ),
    Construct(
        "code_html",
        "Code blocks: HTML",
        "fxhtml",
        _fence("html", HTML),
        _code("fxhtml", HTML, "html"),
        warned=r"code block \d+ \(html\)",
    ),
    Construct(
        "code_shell",
        "Code blocks: shell",
        "fxshell",
        _fence("bash", SHELL),
        _code("fxshell", SHELL, "bash"),
        warned=r"code block \d+ \(bash\)",
    ),
    Construct(
        "templates_in_code",
        "Shortcodes, Liquid, Hugo's templates and mustache in code blocks",
        "fxtemplates",
        _fence("", TEMPLATES),
        _code("fxtemplates", TEMPLATES),
        warned=r"code block 6 ",
    ),
    Construct(
        "indented_code",
        "Indented code",
        "fxindented",
        "Code:\n\n    first fxindented\n        second",
        _code("fxindented", "first fxindented\n    second"),
        warned=r"code block 7 ",
    ),
    Construct(
        "tables",
        "Tables with a header",
        "fxcell",
        "| Column fxcolumn | Price fxprice |\n|:---|---:|\n"
        "| a *cell* fxcell | 1.50 fxright |\n| more `code` fxmore | 2.75 |",
        _both(_in("table th", "fxcolumn"), _in("table td", "fxcell"), _in("table td em, table td i", "cell")),
        warned=r"the table .* (is not|lacks|lost its header)",
    ),
    Construct("table_alignment", "Alignment of columns", "fxcolumn", "", _aligned, warned=r"lost the alignment"),
    Construct(
        "footnotes",
        "Footnotes",
        "fxnoteref",
        "A claim fxnoteref[^fx].\n\n[^fx]: The note fxnotetext.",
        _footnote,
        _both(_in("p", "fxnoteref"), _in("li, p", "fxnotetext")),
        "the notes are at the end, without links",
        warned=r"footnote|fxnote",
    ),
    Construct(
        "details",
        "Collapsible sections",
        "fxsummary",
        "<details><summary>More fxsummary</summary>\n\nHidden *words* fxhidden.\n\n</details>",
        _both(_in("details > summary", "fxsummary"), _in("details", "fxhidden")),
        _both(_in(".kg-toggle-heading", "fxsummary"), _in(".kg-toggle-card", "fxhidden")),
        "a toggle of Ghost",
    ),
    Construct(
        "embeds",
        "Videos and other embedded pages",
        "fxEmbedId01",
        '<iframe src="https://www.youtube-nocookie.com/embed/fxEmbedId01" width="560" height="315"></iframe>',
        _embed,
        lambda page: any("fxEmbedId01" in (link.attributes.get("href") or "") for link in page.tree.css("a")),
        "a link",
        warned=r"fxEmbedId01",
    ),
    Construct(
        "direction",
        "Text from right to left",
        "الشاي",
        '<p dir="rtl" lang="ar">الشاي الأخضر مفيد للصحة، ويشربه الناس كل يوم.</p>',
        _attribute("p", "الشاي", "dir", "rtl"),
        warned=r"lost its direction|الشاي.* is not",
    ),
    Construct(
        "languages",
        "Languages of paragraphs",
        "fxfrench",
        '<p lang="fr">Le thé vert fxfrench est bon.</p>',
        _attribute("p", "fxfrench", "lang", "fr"),
        warned=r"language \((fr|ar)\)|fxfrench.* is not",
    ),
    Construct(
        "cjk",
        "Chinese, Japanese and Korean",
        "緑茶",
        "緑茶は健康に良いです。**毎日**飲みます。\n\n中文段落,没有空格。 한국어 문장입니다.",
        _both(
            _in("p", "緑茶は健康に良いです。毎日飲みます。"), _in("strong, b", "毎日"), _in("p", "한국어 문장입니다.")
        ),
        warned=r"緑茶|毎日|한국어|中文",
    ),
    Construct(
        "characters",
        "Special characters, entities and escapes",
        "fxcharacters",
        "Signs fxcharacters: 1 < 2 & 3 > 2, &copy; \\*no emphasis\\*, C:\\new, ½ \N{MULTIPLICATION SIGN} 🙂.",
        _in("p", "fxcharacters: 1 < 2 & 3 > 2, © *no emphasis*, C:\\new, ½ \N{MULTIPLICATION SIGN} 🙂."),
    ),
    Construct(
        "typography",
        "Straight quotes, dashes and dots",
        "fxstraight",
        'They\'re "straight fxstraight" -- with dots...',
        _in("p", 'They\'re "straight fxstraight" -- with dots...'),
        _in("p", "fxstraight"),
        "quotes, dashes and dots are set as in print",
    ),
    Construct(
        "small_headings",
        "Headings, levels 5 and 6",
        "fxheadingfive",
        "##### Small fxheadingfive\n\n###### Smallest fxheadingsix",
        _both(_in("h5", "fxheadingfive"), _in("h6", "fxheadingsix")),
    ),
    Construct(
        "inline_images",
        "Images in a line of text",
        "fxinline",
        f"Text before fxinline ![An icon fxicon](https://library.example/{DRAWING}.png) and after fxafter it.",
        _both(_in("p", "fxinline"), _in("p", "fxafter"), lambda page: bool(page.tree.css("p img[alt*=fxicon]"))),
        _both(_in("p", "fxinline"), _in("p", "fxafter"), lambda page: bool(page.tree.css("img[alt*=fxicon]"))),
        "images stand by themselves",
    ),
    Construct(
        "linked_images",
        "Images that are links",
        "fxlinkedalt",
        f"[![A photo fxlinkedalt](https://library.example/{DRAWING}.png)](https://example.com/fxlinkedtarget)",
        lambda page: bool(page.tree.css("a[href*=fxlinkedtarget] img[alt*=fxlinkedalt]")),
    ),
    Construct(
        "blocks_in_lists",
        "Paragraphs, code and quotes in a list item",
        "fxfirstpart",
        "1. first fxfirstpart\n\n   second fxsecondpart\n\n   ```python\n   fxlistcode = 1\n   ```\n\n"
        "   > quoted fxlistquote\n\n2. next fxnextitem",
        _both(
            *(_in(f"ol li {tag}", word) for tag, word in (("pre", "fxlistcode"), ("blockquote", "fxlistquote"))),
            _in("ol li", "fxsecondpart"),
            lambda page: any(
                "fxfirstpart" in node.text() and "fxnextitem" in node.text() for node in page.tree.css("ol")
            ),
        ),
        _both(_in("li", "fxfirstpart"), _in("pre", "fxlistcode"), _in("blockquote", "fxlistquote")),
        "code and quotes follow the list",
        warned=r"fxfirstpart|fxsecondpart|fxlistquote|fxnextitem|code block 8 ",
    ),
    Construct(
        "merged_cells",
        "Tables with merged cells",
        "fxmerged",
        "<table><thead><tr><th>One fxmergedhead</th><th>Two fxmergedtwo</th></tr></thead>"
        '<tbody><tr><td colspan="2">Both fxmerged</td></tr></tbody></table>',
        lambda page: any("fxmerged" in node.text() for node in page.tree.css("td[colspan='2']")),
        _in("td", "fxmerged"),
        "cells are by themselves",
    ),
    Construct(
        "direction_of_blocks",
        "Headings, lists and quotes from right to left",
        "عنوان",
        '<h3 dir="rtl">عنوان القهوة</h3>\n\n<ul dir="rtl"><li>بند القهوة</li></ul>\n\n'
        '<blockquote dir="rtl"><p>اقتباس القهوة</p></blockquote>',
        _both(
            _attribute("h3", "عنوان", "dir", "rtl"),
            _attribute("li", "بند", "dir", "rtl"),
            _attribute("blockquote", "اقتباس", "dir", "rtl"),
        ),
        warned=r"القهوة.* (lost its direction|is not)",
    ),
    Construct(
        "code_in_words",
        "Code and emphasis in links, headings and tables",
        "fxcodelink",
        "### The `fxcodehead()` *call*\n\n[The `fxcodelink()` **call**](https://example.com/c)\n\n"
        "| Name `fxcodecell` |\n|---|\n| a \\| pipe fxpipe |",
        _both(
            _in("h3 code", "fxcodehead()"),
            _in("a code", "fxcodelink()"),
            _in("th code", "fxcodecell"),
            lambda page: "a | pipe" in (page.find("td", "fxpipe") or page.tree.body).text(),  # type: ignore[union-attr]
        ),
    ),
    Construct(
        "top_headings",
        "Headings of level 1 in the text",
        "fxheadingone",
        "# Part fxheadingone\n\n## Within fxheadingtwo",
        _both(_in("h1", "fxheadingone"), _in("h2", "fxheadingtwo")),
        _in("h2, h3", "fxheadingone"),
        "a heading of a lower level",
    ),
    Construct(
        "image_titles",
        "Titles of images",
        "fxtitledalt",
        f'![A photo fxtitledalt](https://library.example/{DRAWING}.png "Shown fximagetitle")',
        lambda page: bool(page.tree.css("img[alt*=fxtitledalt][title*=fximagetitle]")),
        lambda page: bool(page.tree.css("img[alt*=fxtitledalt]")),
        "images have no titles",
    ),
)

BODY: Final = "\n\n".join(construct.source for construct in CONSTRUCTS if construct.source)

EVERYTHING: Final = "Fidelity of everything"
"""The title of the article."""


def judged(html: str, warned_before: Sequence[str], lost: Sequence[str]) -> dict[str, str]:
    """Return a note for each construct on a page that is not kept.

    `warned_before` are the warnings issued before publishing, `lost` the losses detected on the page.

    Raises:
        AssertionError: a construct is lost without a warning, or is kept despite a warning.
    """
    page, notes, problems = ShownPage(html), {}, []
    for construct in CONSTRUCTS:
        fate, warnings = (
            construct.fate(page),
            [warning for warning in (*warned_before, *lost) if construct.warning.search(warning)],
        )
        if fate == "lost" and not warnings:
            problems.append(f"{construct.name} is lost in silence: {_around(page, construct)}")
        if fate == "kept" and warnings:
            problems.append(f"{construct.name} is there, but: {'; '.join(warnings)}: {_around(page, construct)}")
        if fate == "converted":
            notes[construct.name] = f"converted: {construct.as_what}"
        elif fate == "lost":
            notes[construct.name] = "lost with a warning"
    assert not problems, "\n".join(problems)
    return notes


def _around(page: ShownPage, construct: Construct) -> str:
    node = page.find("*", construct.word)
    while node is not None and node.parent is not None and len(node.html or "") < 80:
        node = node.parent
    return (node.html or "")[:400] if node is not None else "not on the page"


async def publish_everything(
    plugin: PluginContext,
    platform: str,
    url: str,
    credential: Mapping[str, str],
    *,
    title: str = EVERYTHING,
    body: str = BODY,
) -> Publication:
    """Publish `body`, by default the complete article, on a platform; return the publication once published."""
    website = await Websites(plugin).add(ADA, platform, name="Fidelity", url=url, credential=credential)
    article = await write(
        plugin,
        title=title,
        body=body,
        author="",
        tags=(),
        categories=(),
        featured_media_id="",
        excerpt="",
        meta_title="",
    )
    publication = await Publications(plugin).publish(ADA, article, website.id)
    for _ in range(600):
        publication = await Publications(plugin).wait(publication, 0.1)
        if publication.status not in UNDER_WAY:
            break
    assert publication.status == "published", publication
    return publication


async def looked_at(plugin: PluginContext, publication: Publication) -> Publication:
    """Return a publication after its scheduled page checks; a site can take a while to show a new page."""
    for _ in RECHECK_DELAYS:
        if publication.due_at is None:
            break
        publication = await recheck(plugin, publication)
    return publication


async def notes_of(plugin: PluginContext, publication: Publication, html: str) -> dict[str, str]:
    """Return the notes of `judged`; check that the publication's warnings cover all losses. Raises like `judged`."""
    website = await Websites(plugin).get(ADA, publication.website_id)
    article = await Articles(plugin).get(ADA, publication.article_id)
    sent = await sent_body(plugin, publication, article, website, "")
    losses = all_losses(structure_of(sent, publication.url), structure_of(html, publication.url))
    assert set(loss_messages(losses)) <= set(publication.warnings), publication.warnings
    return judged(
        html,
        [warning for warning in publication.warnings if warning.startswith("removed")],
        [loss.message for loss in losses],
    )


def compare(notes: Mapping[str, str], connector: SiteConnector, module: str, generator: str = "") -> None:
    """Check that a connector's `FIDELITY` equals `notes`; with `PRESSROOM_TEST_UPDATE`, rewrite it instead.

    `module` is its file below the folder of plugins. `generator` is the static site generator of the page, if any.
    """
    file = Path(__file__).parents[2] / "plugins" / module
    if not os.environ.get("PRESSROOM_TEST_UPDATE"):
        declared = connector.fidelity_for({"generator": generator})
        assert dict(declared) == dict(notes), "write it anew with PRESSROOM_TEST_UPDATE=1"
        return
    text = file.read_text("utf-8")
    match = _FIDELITY.search(text)
    assert match is not None, f"{file} has no FIDELITY"
    if generator:
        by_generator = {**ast.literal_eval(match[2].strip()), generator: dict(notes)}
        rows = "".join(f'"{name}": {_shown(by_generator[name])},' for name in sorted(by_generator))
        written = f"{{{rows}}}"
    else:
        written = _shown(notes)
    file.write_text(f"{text[: match.start(2)]}{written}{text[match.end(2) :]}", "utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(file)], check=True)


def _shown(notes: Mapping[str, str]) -> str:
    rows = "".join(f'"{name}": "{note}",' for name, note in notes.items())
    return f"{{{rows}}}"


_FIDELITY: Final = re.compile(r"^(FIDELITY: Final\[.*\] = MappingProxyType\()(.*?)^\)", re.DOTALL | re.MULTILINE)
"""The `FIDELITY` constant of a connector's module, which `compare` rewrites."""


def table(connectors: Sequence[SiteConnector]) -> str:
    """Return the Markdown table of constructs by platform and static site generator."""
    columns: dict[str, Mapping[str, str]] = {}
    for connector in connectors:
        generators = connector.fidelity_by.get("generator", {})
        columns |= {generator.title(): connector.fidelity_for({"generator": generator}) for generator in generators}
        if not generators:
            columns[connector.title] = connector.fidelity
    lines = [f"| Construct | Name | {' | '.join(columns)} |", f"|---|---|{'---|' * len(columns)}"]
    for construct in CONSTRUCTS:
        cells = [notes.get(construct.name, "kept") for notes in columns.values()]
        lines.append(f"| {construct.title} | `{construct.name}` | {' | '.join(cells)} |")
    return "\n".join(lines)
