"""An article with every construct, each with the check of its rendering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from support.fidelity_checks import (
    HTML,
    JAVASCRIPT,
    PHP,
    PYTHON,
    SHELL,
    TEMPLATES,
    Construct,
    all_of,
    checkbox,
    code_block,
    fence,
    has_embed,
    has_footnote,
    has_image,
    in_element,
    in_list,
    inline_code,
    is_aligned,
    link,
    task,
    with_attribute,
    with_breaks,
)
from support.standin_plugin import DRAWING

CONSTRUCTS: Final[Sequence[Construct]] = (
    Construct(
        "headings",
        "Headings, levels 2 to 4",
        "fxheading",
        "## Title fxheading\n\n### Below fxheadingthree\n\n#### Below fxheadingfour",
        all_of(in_element("h2", "fxheading"), in_element("h3", "fxheadingthree"), in_element("h4", "fxheadingfour")),
    ),
    Construct(
        "wrapped_paragraphs",
        "Paragraphs over several lines of markdown",
        "fxwrapped",
        "A paragraph fxwrapped\nover some lines of\nmarkdown, this is the last line.",
        with_breaks("fxwrapped", 0),
    ),
    Construct(
        "line_breaks",
        "Line breaks",
        "fxbreak",
        "A line fxbreak  \nanother\\\nand the last line.",
        with_breaks("fxbreak", 2),
    ),
    Construct(
        "emphasis",
        "Emphasis and bold",
        "fxemphasis",
        "Some *words fxemphasis* and **bold fxstrong** and ***both fxboth***.",
        all_of(in_element("em, i", "fxemphasis"), in_element("strong, b", "fxstrong"), in_element("em, i", "fxboth")),
    ),
    Construct(
        "strikethrough",
        "Strikethrough",
        "fxstruck",
        "Some ~~words fxstruck~~.",
        in_element("del, s, strike", "fxstruck"),
    ),
    Construct(
        "inline_elements",
        "Keys, sub- and superscript, marked words, abbreviations",
        "fxkeys",
        "Press <kbd>Ctrl fxkeys</kbd>, <sub>fxsub</sub>, <sup>fxsup</sup>, <mark>fxmark</mark>, "
        '<abbr title="Long form">fxabbr</abbr>.',
        all_of(
            in_element("kbd", "fxkeys"),
            in_element("sub", "fxsub"),
            in_element("sup", "fxsup"),
            in_element("mark", "fxmark"),
            in_element("abbr", "fxabbr"),
        ),
    ),
    Construct(
        "code_spans",
        "Code in a line",
        "fxspan",
        'Call `fxspan(a <b> && c, "--")` here.',
        inline_code("fxspan", 'fxspan(a <b> && c, "--")'),
    ),
    Construct(
        "templates_in_code_spans",
        "Shortcodes, Liquid and mustache in code in a line",
        "fxshortspan",
        "Write `[gallery] fxshortspan {{< x >}} {% raw %} {{ fx }}` here.",
        inline_code("fxshortspan", "[gallery] fxshortspan {{< x >}} {% raw %} {{ fx }}"),
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
        all_of(
            link("fxlink", "https://example.com/a", "fx title"),
            link("fxlinkref", "https://example.com/b"),
            link("fxlinkbare", "https://example.com/fxlinkbare"),
        ),
        all_of(
            link("fxlink", "https://example.com/a"),
            link("fxlinkref", "https://example.com/b"),
            link("fxlinkbare", "https://example.com/fxlinkbare"),
        ),
        "links have no titles",
    ),
    Construct(
        "images",
        "Images with alternative text",
        "fxalt",
        f"![A photo fxalt](https://library.example/{DRAWING}.png)",
        has_image,
        warned=r"fxalt",
    ),
    Construct(
        "captions",
        "Captions of images",
        "fxcaption",
        f'<figure><img src="https://library.example/{DRAWING}.png" alt="Another photo"><figcaption>Below it fxcaption'
        "</figcaption></figure>",
        in_element("figcaption", "fxcaption"),
        in_element("p, div", "fxcaption"),
        "a paragraph below the image",
        warned=r"fxcaption|Another photo",
    ),
    Construct(
        "quotes",
        "Quotes, also in each other",
        "fxquote",
        "> A quote fxquote\n>\n> > inside fxquoteinner",
        all_of(in_element("blockquote", "fxquote"), in_element("blockquote blockquote", "fxquoteinner")),
        all_of(in_element("blockquote", "fxquote"), in_element("blockquote", "fxquoteinner")),
        "quotes in a quote become part of it",
    ),
    Construct(
        "lists",
        "Lists in lists",
        "fxitem",
        "- one fxitem\n- two fxitemtwo\n  - nested fxnested\n    1. deep fxdeep",
        all_of(in_list("fxitem", "ul", 1), in_list("fxnested", "ul", 2), in_list("fxdeep", "ol", 3)),
    ),
    Construct(
        "numbering",
        "Numbered lists that begin at another number",
        "fxthird",
        "3. third fxthird\n4. fourth fxfourth",
        lambda page: (
            in_list("fxthird", "ol", 1)(page)
            and (page.find("ol", "fxthird") or page.tree.body).attributes.get("start") == "3"  # type: ignore[union-attr]
        ),
        warned=r"fxthird|fxfourth",
    ),
    Construct(
        "task_lists",
        "Task lists",
        "fxtodo",
        "- [ ] to do fxtodo\n- [x] done fxdone",
        all_of(checkbox("fxtodo", done=False), checkbox("fxdone", done=True)),
        all_of(task("fxtodo", done=False), task("fxdone", done=True)),
        "boxes are characters",
    ),
    Construct(
        "definition_lists",
        "Definition lists",
        "fxterm",
        "<dl><dt>Term fxterm</dt><dd>What it means fxmeaning</dd></dl>",
        all_of(in_element("dt", "fxterm"), in_element("dd", "fxmeaning")),
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
        fence("python", PYTHON),
        code_block("fxpython", PYTHON, "python"),
        warned=r"code block \d+ \(python\)",
    ),
    Construct(
        "code_php",
        "Code blocks: PHP",
        "fxphp",
        fence("php", PHP),
        code_block("fxphp", PHP, "php"),
        warned=r"code block \d+ \(php\)",
    ),
    Construct(
        "code_javascript",
        "Code blocks: JavaScript",
        "fxjavascript",
        fence("javascript", JAVASCRIPT),
        code_block("fxjavascript", JAVASCRIPT, "javascript"),
        warned=r"code block \d+ \(javascript\)",
    ),
    Construct(
        "code_html",
        "Code blocks: HTML",
        "fxhtml",
        fence("html", HTML),
        code_block("fxhtml", HTML, "html"),
        warned=r"code block \d+ \(html\)",
    ),
    Construct(
        "code_shell",
        "Code blocks: shell",
        "fxshell",
        fence("bash", SHELL),
        code_block("fxshell", SHELL, "bash"),
        warned=r"code block \d+ \(bash\)",
    ),
    Construct(
        "templates_in_code",
        "Shortcodes, Liquid, Hugo's templates and mustache in code blocks",
        "fxtemplates",
        fence("", TEMPLATES),
        code_block("fxtemplates", TEMPLATES),
        warned=r"code block 6 ",
    ),
    Construct(
        "indented_code",
        "Indented code",
        "fxindented",
        "Code:\n\n    first fxindented\n        second",
        code_block("fxindented", "first fxindented\n    second"),
        warned=r"code block 7 ",
    ),
    Construct(
        "tables",
        "Tables with a header",
        "fxcell",
        "| Column fxcolumn | Price fxprice |\n|:---|---:|\n"
        "| a *cell* fxcell | 1.50 fxright |\n| more `code` fxmore | 2.75 |",
        all_of(
            in_element("table th", "fxcolumn"),
            in_element("table td", "fxcell"),
            in_element("table td em, table td i", "cell"),
        ),
        warned=r"the table .* (is not|lacks|lost its header)",
    ),
    Construct("table_alignment", "Alignment of columns", "fxcolumn", "", is_aligned, warned=r"lost the alignment"),
    Construct(
        "footnotes",
        "Footnotes",
        "fxnoteref",
        "A claim fxnoteref[^fx].\n\n[^fx]: The note fxnotetext.",
        has_footnote,
        all_of(in_element("p", "fxnoteref"), in_element("li, p", "fxnotetext")),
        "the notes are at the end, without links",
        warned=r"footnote|fxnote",
    ),
    Construct(
        "details",
        "Collapsible sections",
        "fxsummary",
        "<details><summary>More fxsummary</summary>\n\nHidden *words* fxhidden.\n\n</details>",
        all_of(in_element("details > summary", "fxsummary"), in_element("details", "fxhidden")),
        all_of(in_element(".kg-toggle-heading", "fxsummary"), in_element(".kg-toggle-card", "fxhidden")),
        "a toggle of Ghost",
    ),
    Construct(
        "embeds",
        "Videos and other embedded pages",
        "fxEmbedId01",
        '<iframe src="https://www.youtube-nocookie.com/embed/fxEmbedId01" width="560" height="315"></iframe>',
        has_embed,
        lambda page: any("fxEmbedId01" in (link.attributes.get("href") or "") for link in page.tree.css("a")),
        "a link",
        warned=r"fxEmbedId01",
    ),
    Construct(
        "direction",
        "Text from right to left",
        "الشاي",
        '<p dir="rtl" lang="ar">الشاي الأخضر مفيد للصحة، ويشربه الناس كل يوم.</p>',
        with_attribute("p", "الشاي", "dir", "rtl"),
        warned=r"lost its direction|الشاي.* is not",
    ),
    Construct(
        "languages",
        "Languages of paragraphs",
        "fxfrench",
        '<p lang="fr">Le thé vert fxfrench est bon.</p>',
        with_attribute("p", "fxfrench", "lang", "fr"),
        warned=r"language \((fr|ar)\)|fxfrench.* is not",
    ),
    Construct(
        "cjk",
        "Chinese, Japanese and Korean",
        "緑茶",
        "緑茶は健康に良いです。**毎日**飲みます。\n\n中文段落,没有空格。 한국어 문장입니다.",
        all_of(
            in_element("p", "緑茶は健康に良いです。毎日飲みます。"),
            in_element("strong, b", "毎日"),
            in_element("p", "한국어 문장입니다."),
        ),
        warned=r"緑茶|毎日|한국어|中文",
    ),
    Construct(
        "characters",
        "Special characters, entities and escapes",
        "fxcharacters",
        "Signs fxcharacters: 1 < 2 & 3 > 2, &copy; \\*no emphasis\\*, C:\\new, ½ \N{MULTIPLICATION SIGN} 🙂.",
        in_element("p", "fxcharacters: 1 < 2 & 3 > 2, © *no emphasis*, C:\\new, ½ \N{MULTIPLICATION SIGN} 🙂."),
    ),
    Construct(
        "typography",
        "Straight quotes, dashes and dots",
        "fxstraight",
        'They\'re "straight fxstraight" -- with dots...',
        in_element("p", 'They\'re "straight fxstraight" -- with dots...'),
        in_element("p", "fxstraight"),
        "quotes, dashes and dots are set as in print",
    ),
    Construct(
        "small_headings",
        "Headings, levels 5 and 6",
        "fxheadingfive",
        "##### Small fxheadingfive\n\n###### Smallest fxheadingsix",
        all_of(in_element("h5", "fxheadingfive"), in_element("h6", "fxheadingsix")),
    ),
    Construct(
        "inline_images",
        "Images in a line of text",
        "fxinline",
        f"Text before fxinline ![An icon fxicon](https://library.example/{DRAWING}.png) and after fxafter it.",
        all_of(
            in_element("p", "fxinline"),
            in_element("p", "fxafter"),
            lambda page: bool(page.tree.css("p img[alt*=fxicon]")),
        ),
        all_of(
            in_element("p", "fxinline"),
            in_element("p", "fxafter"),
            lambda page: bool(page.tree.css("img[alt*=fxicon]")),
        ),
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
        all_of(
            *(in_element(f"ol li {tag}", word) for tag, word in (("pre", "fxlistcode"), ("blockquote", "fxlistquote"))),
            in_element("ol li", "fxsecondpart"),
            lambda page: any(
                "fxfirstpart" in node.text() and "fxnextitem" in node.text() for node in page.tree.css("ol")
            ),
        ),
        all_of(
            in_element("li", "fxfirstpart"), in_element("pre", "fxlistcode"), in_element("blockquote", "fxlistquote")
        ),
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
        in_element("td", "fxmerged"),
        "cells are by themselves",
    ),
    Construct(
        "direction_of_blocks",
        "Headings, lists and quotes from right to left",
        "عنوان",
        '<h3 dir="rtl">عنوان القهوة</h3>\n\n<ul dir="rtl"><li>بند القهوة</li></ul>\n\n'
        '<blockquote dir="rtl"><p>اقتباس القهوة</p></blockquote>',
        all_of(
            with_attribute("h3", "عنوان", "dir", "rtl"),
            with_attribute("li", "بند", "dir", "rtl"),
            with_attribute("blockquote", "اقتباس", "dir", "rtl"),
        ),
        warned=r"القهوة.* (lost its direction|is not)",
    ),
    Construct(
        "code_in_words",
        "Code and emphasis in links, headings and tables",
        "fxcodelink",
        "### The `fxcodehead()` *call*\n\n[The `fxcodelink()` **call**](https://example.com/c)\n\n"
        "| Name `fxcodecell` |\n|---|\n| a \\| pipe fxpipe |",
        all_of(
            in_element("h3 code", "fxcodehead()"),
            in_element("a code", "fxcodelink()"),
            in_element("th code", "fxcodecell"),
            lambda page: "a | pipe" in (page.find("td", "fxpipe") or page.tree.body).text(),  # type: ignore[union-attr]
        ),
    ),
    Construct(
        "top_headings",
        "Headings of level 1 in the text",
        "fxheadingone",
        "# Part fxheadingone\n\n## Within fxheadingtwo",
        all_of(in_element("h1", "fxheadingone"), in_element("h2", "fxheadingtwo")),
        in_element("h2, h3", "fxheadingone"),
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
