"""Losses on a page that contains all of an article, but in the wrong place or not often enough."""

from __future__ import annotations

import pytest
from pressroom_content.publishing.losses import losses, read_losses
from pressroom_content.publishing.structure_reading import structure_of
from pressroom_content.rendering.sanitising import render
from support.growth import grows

from .test_losses import URL, page

ARTICLE = render(
    """## Tea

See [our tea](/tea/green "All our teas") and [the list](https://shop.example/list). Tea
is drunk [here](/a) and [here](/b).

Green tea is the best of them.

Note well:

Water comes first, which everybody forgets.

Note well:

The cup comes second, which is easy.

Buy it at [our tea](/tea/green "All our teas") too.

| Kind | Morning | Evening |
|---|---|---|
| Green | yes | no |
| Black | no | yes |
| Herbs | | yes |

![A cup of tea](https://blog.example/files/cup-of-tea.png) ![A pot](https://blog.example/files/teapot.png)

```php
echo 1;
```

Again:

```php
echo 1;
```

```bash
ls
```
""",
    "markdown",
).html

GREEN = "<p>Green tea is the best of them.</p>"
WATER = "<p>Water comes first, which everybody forgets.</p>"


def compared(body: str, article: str = ARTICLE) -> list[str]:
    """Return the losses of an article on a page that shows `body`."""
    return losses(structure_of(article, URL), structure_of(page(body), URL))


def test_a_page_that_shows_the_article_needs_no_remark() -> None:
    assert compared(ARTICLE) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            'See <a href="/tea/green" title="All our teas">our tea</a>',
            "See our tea",
            '"our tea" is not a link to https://blog.example/tea/green',
        ),
        (
            'at <a href="/tea/green" title="All our teas">our tea</a>',
            "at our tea",
            '"our tea" is not a link to https://blog.example/tea/green',
        ),
        ('<a href="/b">here</a>', "here", '"here" is not a link to https://blog.example/b'),
        (
            '<a href="/b">here</a>',
            '<a href="/c">here</a>',
            'the link "here" leads to https://blog.example/c instead of https://blog.example/b',
        ),
        (
            '<a href="https://shop.example/list">the list</a>. Tea\nis drunk',
            'the list. Tea is drunk</p><p><a href="https://shop.example/list">Advertisement</a></p><p>',
            '"the list" is not a link to https://shop.example/list',
        ),
        ('"A cup of tea"', '"IMG 2024"', 'the image "A cup of tea" has the alternative text "IMG 2024"'),
        ('alt="A pot"', 'alt="A cup of tea"', 'the image "A pot" has the alternative text "A cup of tea"'),
        ("<p>Again:</p>\n", "", 'the paragraph "Again:" is not shown'),
        ("<p>Note well:</p>\n<p>Water", "<p>Water", 'the paragraph "Note well:" is not shown'),
        (
            '<pre><code class="language-php">echo 1;\n</code></pre>\n<p>Again:',
            "<p>Again:",
            'code block 2 (php) is not shown: "echo 1;"',
        ),
        (
            'class="language-bash"',
            'class="language-python"',
            "code block 3 (bash) is marked as python",
        ),
        ('class="language-bash"', 'class="language-plaintext"', "code block 3 (bash) lost its language"),
        (
            "<td>Green</td>\n<td>yes</td>\n<td>no</td>",
            "<td>Green</td>\n<td>no</td>\n<td>yes</td>",
            'the table "Kind | Morning | Evening" shows the cell "yes" and 1 more in another place',
        ),
        ("<td>Herbs</td>\n<td></td>", "<td>Herbs</td>", 'shows the cell "yes" in another place'),
        ("<td>Herbs</td>", "<td>Black</td>", 'lacks the cell "Herbs"'),
        (
            f"{GREEN}\n<p>Note well:</p>\n{WATER}",
            f"{WATER}\n<p>Note well:</p>\n{GREEN}",
            'the paragraph "Green tea is the best of them." is shown in another place; in the article it is after "See',
        ),
    ],
)
def test_a_loss_is_reported_with_the_lost_part(before: str, after: str, expected: str) -> None:
    assert before in ARTICLE
    problems = compared(ARTICLE.replace(before, after, 1))
    assert [problem for problem in problems if expected in problem], problems
    assert len(problems) <= 2, problems


def test_link_titles_are_compared() -> None:
    assert compared(ARTICLE.replace(' title="All our teas"', "")) == [
        'the link "our tea" lost its title "All our teas"',
        'the link "our tea" lost its title "All our teas"',
    ]
    assert compared(ARTICLE.replace("All our teas", "Read more"))[0] == (
        'the link "our tea" has the title "Read more" instead of "All our teas"'
    )


def test_a_paragraph_that_also_occurs_elsewhere_is_searched_for_in_its_position() -> None:
    article = "<ul><li>Green tea</li><li>Black tea</li></ul><p>Soft water</p><p>Soft water is the best for tea.</p>"
    body = "<ul><li>Black tea</li></ul><p>Soft water is the best for tea.</p>"
    assert compared(body, article) == [
        'the list item "Green tea" is not shown',
        'the paragraph "Soft water" is not shown',
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("the list</a>", "the list <i>↗ opens in a new tab</i></a>"),
        (
            '<a href="https://shop.example/list">the list</a>',
            '<a href="https://shop.example/list">the</a> <a href="https://shop.example/list">list</a>',
        ),
        ('title="All our teas"', 'data-tippy-content="All our teas"'),
        ('title="All our teas"', 'title="All our teas (opens in a new window)"'),
        ('alt="A pot"', 'alt="Image: a pot"'),
        ('alt="A pot"', 'alt="A pot" title="A pot"'),
        ("files/teapot.png", "files/teapot-1024x768.png"),
        ("<h2>Tea</h2>", '<nav class="toc"><a href="#tea">Tea</a></nav><h2 id="tea">Tea</h2>'),
        ('class="language-bash"', 'class="hljs language-shell"'),
        ('class="language-bash"', 'class="lang-sh line-numbers"'),
        ('class="language-bash"', 'class="language-xyz"'),
        ("<table>", "<table><colgroup></colgroup>"),
        ("<tr>\n<td>Green", "<tr></tr><tr>\n<td>Green"),
        (
            f"<p>Note well:</p>\n{WATER}",
            WATER.replace("<p>", "<p>Note well:<br>"),
        ),
        (GREEN, f'{GREEN}<aside class="ad"><p>Buy</p></aside>'),
        ("</table>", f"</table>{GREEN}"),
    ],
)  # fmt: skip
def test_changes_by_platforms_and_themes_are_not_losses(before: str, after: str) -> None:
    assert before in ARTICLE
    assert compared(ARTICLE.replace(before, after)) == []


def test_each_lost_link_is_detected_among_many_marked_links_to_one_page() -> None:
    article = "".join(f'<p>Text {number}, see <a href="/list?n=1">part {number}</a>.</p>' for number in range(300))
    page_html = article.replace("</a>", " (opens in a new tab)</a>").replace("?n=1", "?n=1&amp;ref=blog")
    assert compared(page_html, article) == []
    lost = '<a href="/list?n=1&amp;ref=blog">part 299 (opens in a new tab)</a>'
    assert compared(page_html.replace(lost, "part 299"), article) == [
        '"part 299" is not a link to https://blog.example/list?n=1'
    ]


def test_a_changed_paragraph_next_to_an_unchanged_one_is_recognised() -> None:
    article = '<p>Tea is <a href="/good">good for you</a>.</p><p>Coffee is not as good.</p>'
    assert compared(article.replace("</a>", " (opens in a new tab)</a>"), article) == []


def test_row_numbers_added_by_a_theme_do_not_shift_cells() -> None:
    body = ARTICLE.replace("<tr>\n<", "<tr>\n<td>#</td><")
    assert compared(body) == []


def test_an_image_is_not_confused_with_another_of_the_same_name() -> None:
    article = '<p>Some words about tea.</p><p>And some more.</p><img src="/files/logo.png" alt="The sign of the shop">'
    body = article.replace("/files/logo.png", "/cdn/8f3a91.webp")
    page_html = page(body).replace("<header>", '<header><img src="/theme/logo.png" alt="The blog">')
    assert losses(structure_of(article, URL), structure_of(page_html, URL)) == []


@pytest.mark.parametrize(
    "after", ["<hr>", '<a href="/x"><img src="/files/photo.png" alt="A photo"></a>', "<pre>a</pre>"]
)
def test_content_after_the_only_paragraph_belongs_to_the_article(after: str) -> None:
    article = f"<p>A single paragraph stands here.</p>{after}"
    assert compared(article, article) == []


def _repeated(number: int) -> tuple[str, str]:
    """Return an article that repeats each element, and a page that lacks one of each."""
    links = "".join(f'<a href="/x?n={index}" title="t{index}">here</a> ' for index in range(number))
    elements = (
        "<p>The same words again.</p>",
        "<table><tr><td>yes</td><td>no</td></tr></table>",
        "<pre><code class='language-php'>echo 1;</code></pre>",
        '<img src="/a-photo.png" alt="A photo">',
    )
    body = f"<p>{links}</p>" + "".join(element * number for element in elements)
    changed = body.replace("/x?n=", "/x?m=").replace("A photo", "Another")
    for element in elements:
        changed = changed.replace(element, "", 1)
    return body, page(changed)


def test_comparing_repeated_content_takes_linear_time() -> None:
    assert not grows(lambda texts: read_losses(texts[1].encode(), texts[0], URL), _repeated, 2_000)
