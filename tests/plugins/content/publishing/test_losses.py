"""Losses between an article and its page: reported if something is missing, silent otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_content.publishing.losses import MAX_LISTED, losses, read_losses
from pressroom_content.publishing.structure_reading import structure_of
from pressroom_content.rendering.sanitising import render
from support.fidelity_constructs import BODY

URL = "https://blog.example/tea"

ARTICLE = render(
    """## Prices

They're "fair" -- and *low*, see [the list](https://shop.example/list) and our [tea](/tea/green).
Prices are of today.

| Kind | Price |
|:---|---:|
| Green tea | 3.50 |
| Black tea | 2.75 |

![A cup of tea](https://blog.example/files/cup-of-tea.png)

1. Boil the water
   - not too hot
2. Wait for three minutes

- [ ] Buy some tea
- [x] Buy a cup

> Tea is good for you.

```php
<?php echo "[gallery]";
  // wait
```

### Water

Water matters a lot for the taste[^1].

A line\\
and another.

<p dir="rtl" lang="ar">الشاي الأخضر مفيد للصحة</p>

<details><summary>More about cups</summary>

Cups are small.

</details>

<iframe src="https://www.youtube-nocookie.com/embed/Abc123xyz"></iframe>

[^1]: Soft water is best.
""",
    "markdown",
).html


def page(body: str) -> str:
    """Return a themed page with much content around the article."""
    return f"""<!doctype html><html lang="en"><head><title>Tea</title><style>p {{}}</style></head><body>
    <header><nav><ul><li><a href="/">Home</a></li><li><a href="/tea/green">Green tea</a></li></ul></nav></header>
    <div class="layout"><main><article><h1>Tea</h1><p class="meta">By Ada on Monday</p>
    <div class="content">{body}</div><div class="share"><a href="https://social.example/?u=x">Share</a></div></article>
    <section id="comments"><ol><li><p>Water matters!</p></li></ol></section></main>
    <aside><h2>Recent posts</h2><ul><li><a href="/coffee">Coffee prices</a></li></ul><img src="/ad.png" alt="">
    </aside></div>
    <footer><p>All rights reserved.</p><script>const a = "<p>b</p>";</script></footer></body></html>"""


def compared(body: str, article: str = ARTICLE) -> list[str]:
    """Return the losses of an article on a page that shows `body`."""
    return losses(structure_of(article, URL), structure_of(page(body), URL))


def test_a_page_that_shows_the_article_needs_no_remark() -> None:
    assert compared(ARTICLE) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('They\'re "fair" --', "They\N{RIGHT SINGLE QUOTATION MARK}re “fair” \N{EN DASH}"),
        ("<h2>Prices</h2>", '<h2 id="prices">Prices<a class="anchor" href="#prices">Link to this</a></h2>'),
        ("<h3>Water</h3>", "<h3><span>Wa&shy;ter</span></h3>"),
        ("<table>", '<figure class="wp-block-table"><div class="scroll"><table class="t">'),
        ('<td align="right">', '<td class="has-text-align-right" data-align="right">'),
        ('<td align="right">', '<td style="padding: 0; text-align: end">'),
        ("files/cup-of-tea.png", "cdn/w=800/CUP-OF-TEA-1024x768.webp?v=2"),
        (
            'src="https://blog.example/files/cup-of-tea.png"',
            'src="data:image/gif;base64,R0" data-src="/cup-of-tea.png"',
        ),
        ('src="https://blog.example/files/cup-of-tea.png"', 'src="/8f3a91.avif" srcset="/8f3a91-2.avif 2x"'),
        ('href="https://shop.example/list"', 'href="http://www.shop.example/list/?ref=blog.example" rel="noopener"'),
        ('href="https://shop.example/list"', 'href="/go?to=https%3A%2F%2Fshop.example%2Flist"'),
        ('href="/tea/green"', 'href="https://blog.example/tea/green/"'),
        ('<pre><code class="language-php">', '<div class="highlight"><button>Copy</button><pre data-lang="php"><code>'),
        ("  // wait", '<span class="ln">2</span>  <span class="c">// wait</span>   '),
        ("<li>☐ Buy", '<li><input type="checkbox" disabled> Buy'),
        ("<li>☑ Buy a cup</li>", '<li><label><input type="checkbox" checked> <p>Buy a cup</p></label></li>'),
        ("<iframe src=", '<div class="ratio"><iframe loading="lazy" src="about:blank" data-lazy-src='),
        ("www.youtube-nocookie.com/embed/Abc123xyz", "www.youtube.com/embed/Abc123xyz?feature=oembed"),
        ('id="fn1"', 'id="fn:1"'),
        ("<p>A line", '<div class="ad"><p>Buy this.</p></div><p>A line'),
        ("Soft water is best.", "<p>Soft water</p> is best."),
        ("<em>low</em>", "<i>lo<b>w</b></i>"),
        ("<h3>Water</h3>\n<p>W", "<h3>Water</h3>\n<p><span class='drop'>W</span>"),
    ],
)
def test_changes_by_platforms_and_themes_are_not_losses(before: str, after: str) -> None:
    assert before in ARTICLE
    changed = ARTICLE.replace(before, after)
    if before == 'id="fn1"':
        changed = changed.replace('"#fn1"', '"https://blog.example/tea#fn:1"')
    assert compared(changed) == []


def test_a_theme_may_shift_all_headings_down_a_level() -> None:
    assert compared(ARTICLE.replace("h3", "h4").replace("h2", "h3")) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("<h2>Prices</h2>", "<p>Prices</p>", 'the heading "Prices" is not shown as a heading'),
        ("<h3>Water</h3>", "<h2>Water</h2>", 'the heading "Water" is shown at level 2 instead of 3'),
        (
            "<p>Water matters a lot",
            "<p hidden>Water matters a lot",
            'the paragraph "Water matters a lot for the taste." is not shown',
        ),
        ("matters a lot for", "matters for", "is not shown as written: the page lacks a, lot"),
        (".\nPrices are", ".<br>\nPrices are", "a line break was put into the paragraph \"They're"),
        ("<br>\nand another", "\nand another", 'a line break of the paragraph "A line and another." is lost'),
        ("<em>low</em>", "low", '"low" lost its emphasis'),
        (
            '<a href="https://shop.example/list">the list</a>',
            "the list",
            '"the list" is not a link to https://shop.example/list',
        ),
        (
            'href="https://shop.example/list"',
            'href="/404"',
            'the link "the list" leads to https://blog.example/404 instead of https://shop',
        ),
        (' align="right"', "", 'the table "Kind | Price" lost the alignment of its columns'),
        ("<th", "<td", 'the table "Kind | Price" lost its header'),
        ("Black tea", "", 'the table "Kind | Price" lacks the cell "Black tea"'),
        ("<img", "<imgx", 'the image "A cup of tea" is not shown'),
        (' alt="A cup of tea"', ' alt=""', 'the image "A cup of tea" lost its alternative text'),
        (
            "<ul>\n<li>not too hot</li>\n</ul>",
            "<br>not too hot",
            'the list item "not too hot" is not nested as written',
        ),
        ("water\n<ul>\n<li>not", "waternot", 'the list item "Boil the water" is not shown'),
        ("ol>", "ul>", 'the list item "Boil the water" is shown with a bullet'),
        ("☐", "[ ]", 'the list item "Buy some tea" lost the box of its task'),
        ("blockquote", "div", '"Tea is good for you." is not shown as a quote'),
        ('echo "[gallery]"', "echo", 'code block 1 (php) is not shown as written: "<?php echo'),
        (' class="language-php"', "", "code block 1 (php) lost its language"),
        ("pre>", "p>", "code block 1 (php) is not shown as code"),
        ('id="fn1"', "", "footnote 1 leads nowhere"),
        (' href="#fn1"', "", "the reference to footnote 1 is not a link"),
        ('dir="rtl"', "", "lost its direction, from right to left"),
        ('lang="ar"', "", "lost the mark of its language (ar)"),
        ("summary", "p", 'the section "More about cups" cannot be collapsed'),
        ("<iframe", "<x", 'the embedded page "youtube-nocookie.com: Abc123xyz" is not shown'),
    ],
)
def test_a_loss_is_reported_with_the_lost_part(before: str, after: str, expected: str) -> None:
    assert before in ARTICLE
    problems = compared(ARTICLE.replace(before, after))
    assert [problem for problem in problems if expected in problem], problems
    assert len(problems) <= 4, problems


def test_a_page_without_the_article_causes_one_warning() -> None:
    [problem] = compared("<p>Members only. Sign in to read on.</p>")
    assert problem.startswith("the page shows ")
    assert "older version" in problem


def test_many_losses_are_counted() -> None:
    article = "".join(
        f"<p>The words of paragraph {number} are here</p><p><em>And {number}</em></p>" for number in range(99)
    )
    problems = compared(article.replace("are", "<br>are").replace("em>", "i>").replace("<i>", "<u>"), article)
    assert problems[:2] == [
        'a line break was put into the paragraph "The words of paragraph 0 are here"',
        '"And 0" lost its emphasis',
    ]
    assert len(problems) <= MAX_LISTED + 1
    assert problems[-1] == "… and 192 more such losses on the page"


def test_a_complete_page_has_no_losses() -> None:
    article = render(BODY, "markdown").html
    assert compared(article, article) == []


_TAGS = st.sampled_from(
    [
        "p", "h2", "ul", "ol", "li", "table", "tr", "td", "th", "caption", "pre", "code", "a href='#x'", "a id=x", "br",
        "sup", "blockquote", "details", "summary", "img src=/a.png alt=b", "iframe src=//[x", "em", "dl", "dt",
        "input type=checkbox", "ol start=-9", "hr", "noscript", "div hidden", "a href=//[", "custom-x data-y=z",
        "p dir=rtl lang=ar",
    ]
)  # fmt: skip


def test_the_end_of_a_long_article_is_found_despite_surrounding_page_content() -> None:
    body = "".join(f"<p>Paragraph {number}.</p>" for number in range(30_000))
    menu = "".join(f"<li>Item {number}</li>" for number in range(300))
    assert read_losses(page(f"<ul>{menu}</ul>{body}").encode(), body, URL) == []
    assert "Paragraph 29999." in read_losses(page(body[: body.rindex("<p>")]).encode(), body, URL)[0]


_PIECES = st.one_of(
    st.text(max_size=20),
    _TAGS.map(lambda tag: f"<{tag}>"),
    _TAGS.map(lambda tag: f"</{tag.split()[0]}>"),
    st.sampled_from(["☐ a", "☑", "1 \N{MULTIPLICATION SIGN} 2", "&#0;", "<!--", "\ud800", "緑 茶", " ", "\n"]),
)
HTML = st.lists(_PIECES, max_size=60).map("".join)


@given(HTML, HTML)
def test_nothing_is_raised_whatever_a_page_holds(article: str, shown: str) -> None:
    try:
        found = losses(structure_of(article, URL), structure_of(shown, URL))
    except InvalidInput:
        return
    assert len(found) <= MAX_LISTED + 1


@given(HTML)
def test_a_page_loses_nothing_of_itself(body: str) -> None:
    try:
        found = structure_of(body, URL)
    except InvalidInput:
        return
    assert losses(found, found) == []
