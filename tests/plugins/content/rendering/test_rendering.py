"""Rendering of Markdown, HTML and plain text, and sanitising."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_content.contract.articles import as_slug, slug_of
from pressroom_content.language import count_words
from pressroom_content.rendering.extraction import extract
from pressroom_content.rendering.from_html import text_of, to_markdown
from pressroom_content.rendering.pasting import pasted_markdown
from pressroom_content.rendering.sanitising import Sanitiser, render, sanitise
from selectolax.lexbor import LexborHTMLParser

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src='https://evil.example/'></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src='https://www.youtube.com.evil.example/embed/1'></iframe>",
    "<iframe src='https://user@www.youtube.com:444/embed/1'></iframe>",
    "<object data=x></object><embed src=x>",
    "<form action=/x><input name=a><button>x</button></form>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<img srcset='javascript:alert(1) 1x'>",
    "<base href=https://evil.example/><meta http-equiv=refresh content=0>",
    "<div id='__proto__' class='evil'>x</div>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "[x](javascript:alert(1)) ![x](data:text/html,x) <javascript:alert(1)>",
]


def dangers(html: str) -> list[str]:
    """Return whatever in HTML a browser's parser would let run, load or take over something."""
    problems = []
    for node in LexborHTMLParser(html).css("body *"):
        if node.tag in {"script", "style", "form", "input", "object", "embed", "svg", "math", "base", "meta", "link"}:
            problems.append(str(node.tag))
        for name, value in node.attributes.items():
            plain = re.sub(r"[\s\x00-\x1f]", "", value or "").lower()
            if name.startswith("on") or name in {"style", "srcdoc", "formaction"}:
                problems.append(name)
            if name in {"href", "src", "srcset", "cite"} and re.match(r"(javascript|data|vbscript):", plain):
                problems.append(f"{name}={plain[:20]}")
        if node.tag == "iframe" and not (node.attributes.get("src") or "").startswith("https://www.youtube.com/"):
            problems.append("iframe")
    return problems


@pytest.mark.parametrize("html", HOSTILE)
@pytest.mark.parametrize("form", ["markdown", "html"])
@pytest.mark.parametrize("sanitiser", ["full", "basic"])
def test_everything_dangerous_is_removed_and_reported(html: str, form: str, sanitiser: str) -> None:
    rendered = render(f"before\n\n{html}\n\nafter", form, sanitiser)  # type: ignore[arg-type]
    assert dangers(rendered.html) == []
    assert "before" in rendered.html
    assert rendered.removed


@given(st.text(alphabet=st.sampled_from("<>/=\"' abpsvgimonerrclick:;&#x3!-[]()`*\n\0\u2028é"), max_size=200))
def test_no_text_becomes_dangerous(text: str) -> None:
    for form in ("markdown", "html"):
        assert dangers(render(text, form).html) == []


@given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE), st.sampled_from(["", "<p>", "<table><tr>", "`", "<!--"]))
def test_sanitised_html_stays_as_it_is(one: str, two: str, between: str) -> None:
    once = sanitise(one + between + two).html
    assert sanitise(once) == type(sanitise(""))(once)


def test_allowed_html_is_unchanged() -> None:
    html = (
        '<figure><img src="/a.png" alt="A" loading="lazy"><figcaption>C</figcaption></figure>'
        '<iframe src="https://www.youtube.com/embed/x" width="560"></iframe>'
        '<table><tbody><tr><td colspan="2">1</td></tr></tbody></table><p class="language-x" lang="de">x</p>'
    )
    assert render(html, "html").html == html
    assert render(html, "html").removed == ()
    basic = render(html, "html", "basic")
    assert basic.html == '<img src="/a.png" alt="A" loading="lazy">C1<p class="language-x" lang="de">x</p>'
    assert set(basic.removed) >= {"<figure>", "<table>", "<iframe>"}


def test_markdown_has_tables_strikethrough_and_footnotes() -> None:
    html = render("| a |\n|---|\n| ~~b~~ |\n\nText[^1].\n\n[^1]: Note.\n", "markdown").html
    for part in ("<td><s>b</s></td>", 'href="#fn1"', 'id="fnref1"', '<li id="fn1"'):
        assert part in html


@pytest.mark.parametrize("sanitiser", ["full", "basic"])
def test_table_cells_keep_their_alignment_without_a_warning(sanitiser: Sanitiser) -> None:
    rendered = render("| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |\n", "markdown", sanitiser)
    cells = LexborHTMLParser(rendered.html).css("th, td")
    if sanitiser == "full":
        assert [cell.attributes.get("align") for cell in cells] == ["left", "center", "right", None] * 2
        assert rendered.removed == ()
        assert "| :--- | :---: | ---: | --- |" in to_markdown(rendered.html)
    assert not any("style" in removal for removal in rendered.removed)


@pytest.mark.parametrize("sanitiser", ["full", "basic"])
def test_task_lists_are_rendered_with_boxes(sanitiser: Sanitiser) -> None:
    text = "- [x] Buy **beans**\n- [ ] Grind\n  1. [X] finely\n- [a] no\n- [x]none\n- `[x] code`\n\n[x] Not a list\n"
    rendered = render(text, "markdown", sanitiser)
    words = text_of(rendered.html).split()
    assert " ".join(words) == "☑ Buy beans ☐ Grind ☑ finely [a] no [x]none [x] code [x] Not a list"
    assert rendered.removed == ()


BOMBS = {
    "brackets": "[" * 100_000,
    "images": "![" * 100_000,
    "quotes": ">" * 5_000 + "x",
    "lists": "- " * 300 + "x",
    "many quotes": ("> " * 25 + "x\n") * 20_000,
    "emphasis": "*a_ " * 200_000,
    "footnotes": "[^1]: a\n\n" + "[^1]" * 100_000,
    "lines": "a\n" * 300_000,
    "cells": "|a" * 300_000,
    "elements": "<div>" * 100_000,
    "bold": "<b>" * 100_000,
    "unfinished": "<a " * 300_000,
    "comments": "<!--" * 150_000,
    "paragraphs": "<p>" * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_or_rendered_in_seconds(name: str) -> None:
    for form in ("markdown", "html"):
        output = ""
        with suppress(InvalidInput):
            output = render(BOMBS[name], form).html
        assert len(output) < 20 * len(BOMBS[name]) + 1000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, world: it's 3.14 e-mails!", 6),
        ("今天天气很好", 3),
        ("日本語の文章です", 4),
        ("ภาษาไทยง่ายนิดเดียว", 5),
        ("हिन्दी में लिखना", 3),
        ("Привет, мир", 2),
        ("مرحبا بالعالم", 2),
        ("— 🎉 …", 0),
        ("", 0),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_html_is_converted_to_plain_text() -> None:
    html = "<h1>A</h1><p>b <b>c</b><br>\n d</p><pre>x\n  y</pre><ul><li>1<li>2</ul><script>no</script>"
    assert text_of(html) == "A\n\nb c\nd\n\nx\n  y\n\n1\n\n2"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>A <em>b</em></h2><p>c</p>", "## A *b*\n\nc\n"),
        ("<p><strong>a </strong>b</p>", "**a** b\n"),
        ("<ol start=3><li>a<li>b<ul><li>c</ul></ol>", "3. a\n4. b\n   - c\n"),
        ('<a href="/x (y)" title="t">z</a>', '[z](</x (y)> "t")\n'),
        ("<pre><code class=language-py>a\n```\n</code></pre>", "````py\na\n```\n````\n"),
        (
            "<table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 |  |\n",
        ),
        ("<p># a</p><p>1. b</p><p>- c</p><p>a_b *c* [d]</p>", "\\# a\n\n1\\. b\n\n\\- c\n\na_b \\*c\\* \\[d\\]\n"),
        ("a<br>b", "a\\\nb\n"),
        ("H<sub>2</sub>O", "H<sub>2</sub>O\n"),
        (
            '<a href="https://shop.example/?a=1&amp;b=2" rel="sponsored nofollow" target="_blank">a <b>shop</b> </a>',
            '<a href="https://shop.example/?a=1&amp;b=2" rel="sponsored nofollow" target="_blank">a **shop**</a>\n',
        ),
        (
            '<a href="/de" hreflang="de" title="&quot;Hallo&quot;">b</a>',
            '<a href="/de" hreflang="de" title="&quot;Hallo&quot;">b</a>\n',
        ),
        ('<abbr title="World Wide Web">WWW</abbr>', '<abbr title="World Wide Web">WWW</abbr>\n'),
        ('<time datetime="2026-01-02">today</time>', '<time datetime="2026-01-02">today</time>\n'),
        ('a <span lang="fr">mot</span> <span>b</span>', 'a <span lang="fr">mot</span> b\n'),
        ('<a href="/x" class="footnote-ref" id="r1">1</a>', "[1](/x)\n"),
        (
            '<b style="font-weight:normal" id="docs-internal-guid-1"><h1>A</h1><p>b</p><ul><li>c</li></ul><p>d</p></b>',
            "# A\n\nb\n\n- c\n\nd\n",
        ),
        ("x <span><em><p>a</p></em> b</span>", "x\n\na\n\nb\n"),
    ],
)
def test_html_is_converted_to_markdown(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            (
                '<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><h1><span>A</span></h1>'
                "<p><span>b </span>"
                '<span style="font-size:11pt;font-weight:700;">c</span><span style="font-style:italic"> d'
                "</span></p></b>"
            ),
            "# A\n\nb **c** *d*\n",
        ),
        (
            (
                "<p class=MsoNormal>a<o:p></o:p></p>"
                "<p class=MsoListParagraphCxSpFirst><![if !supportLists]><span>·<span> </span></span><![endif]>b</p>"
                "<p class=MsoListParagraphCxSpLast><![if !supportLists]><span>·</span><![endif]>c<o:p></o:p></p>"
                "<p class=MsoListParagraph><![if !supportLists]><span>1.&nbsp;</span><![endif]>d</p>"
            ),
            "a\n\n- b\n- c\n\n1. d\n",
        ),
    ],
)
def test_html_of_word_processors_is_converted_to_markdown(html: str, markdown: str) -> None:
    assert pasted_markdown(html) == markdown


@pytest.mark.parametrize(
    "part",
    ["<p MsoListParagraph", "<p MsoListParagraph><![if !supportLists]>", "<span", '<span style="', "MsoListParagraph "],
)
def test_pasted_html_is_converted_in_linear_time(part: str) -> None:
    started = time.process_time()
    with suppress(InvalidInput):  # too many tags
        pasted_markdown("<p <span " + part * (1_000_000 // len(part)))
    assert time.process_time() - started < 5


ELEMENTS = st.recursive(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp", "Zs", "Co", "Cn"]),
        max_size=12,
    ).map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;")),
    lambda inner: (
        st.tuples(st.sampled_from(["p", "b", "em", "h2", "li", "blockquote", "code", "div"]), inner).map(
            lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0]}>"
        )
        | st.lists(inner, max_size=3).map(" ".join)
    ),
    max_leaves=8,
)


@given(ELEMENTS)
def test_markdown_says_the_same_as_the_html_that_it_came_from(html: str) -> None:
    before = "".join(text_of(render(html, "html").html).split())
    after = "".join(text_of(render(to_markdown(html), "markdown").html).split())
    assert after == before


@pytest.mark.parametrize(
    "html",
    [
        '<p>a <a href="/x?a=1&amp;b=2" rel="sponsored" target="_blank">b <em>c</em></a> d</p>',
        '<p><abbr title="&quot;A&quot; &amp; B">AB</abbr> <q cite="/y">z</q></p>',
        '<ul>\n<li><a href="/x" hreflang="de">b</a></li>\n</ul>',
        '<p><span dir="rtl">a</span></p>',
    ],
)
def test_attributes_survive_conversion_to_markdown_and_back(html: str) -> None:
    assert render(to_markdown(html), "markdown").html.strip() == html


@given(st.text(max_size=100))
def test_slugs(title: str) -> None:
    slug = slug_of(title)
    assert as_slug(slug) == slug
    assert len(slug) <= 80
    assert not re.search(r"[\s/?#%<>\"'\\]", slug)


def test_the_article_of_a_page_without_semantic_markup_is_extracted() -> None:
    text = "This is a sentence of the article, which is long enough to count. " * 5
    page = f"<body><div><ul>{'<li><a href=/x>Link</a>' * 20}</ul></div><div><div><p>{text}<p>{text}</div></div></body>"
    extracted = extract(page, "https://example.com/a/")
    assert not extracted.sure
    assert "Link" not in extracted.html
    assert extracted.html.count("<p>") == 2
