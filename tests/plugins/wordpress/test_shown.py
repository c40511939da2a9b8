"""Appearance of articles on the pages of a real WordPress."""

from __future__ import annotations

import re
from html import unescape

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.rendering.sanitising import render
from pressroom_wordpress.site import WordPressSite
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.wordpress import WordPress

from .conftest import site_of
from .test_site import a_post, seen

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress

ARTICLE = """\
A hard-wrapped
paragraph with `[gallery]` in code, [gallery ids="1"] typed as text and [caption]more[/caption].

```python
[gallery]
[caption id="a"]x[/caption]
https://www.youtube.com/watch?v=abcdefg
if a < b and not c["d"]:

    print("--")
```

```php
<?php echo do_shortcode('[gallery]');
```

| Left | Middle | Right |
|:-----|:------:|------:|
| a    | `[embed]` | c  |

- one
- two
  1. three
  2. four

- [x] done

> A quote[^1]
> in two lines

![A [gallery] of beans](https://img.example/a.png)

<figure><img src="https://img.example/b.png" alt="B"><figcaption>A caption</figcaption></figure>

<p dir="rtl" lang="ar">مرحبا</p>

<p dir="rtl">שלום</p>

<details><summary>More</summary>

Hidden

</details>

日本語の文章です。

https://www.youtube.com/watch?v=typed12

<iframe src="https://www.youtube-nocookie.com/embed/abcdefg"></iframe>

---

[^1]: A note [gallery]
"""


@pytest.fixture
async def page(blog: WordPress, site: WordPressSite) -> LexborNode:
    return await shown(site, ARTICLE)


async def shown(site: WordPressSite, markdown: str) -> LexborNode:
    """Publish an article, and return the content of its page."""
    remote = await site.create(a_post(html=render(markdown, "markdown").html, markdown=markdown))
    live = await site.set_state(remote.id, "live")
    content = LexborHTMLParser((await seen(live.url)).text).css_first(".entry-content")
    assert content is not None
    return content


def text_of(node: LexborNode, selector: str) -> list[str]:
    return [" ".join(element.text().split()) for element in node.css(selector)]


async def test_lines_of_a_paragraph_are_joined(page: LexborNode) -> None:
    assert page.css("br") == []
    assert text_of(page, "p")[0].startswith("A hard-wrapped paragraph with [gallery] in code, [gallery ids=")
    assert "[caption]more[/caption]." in text_of(page, "p")[0]


async def test_code_is_shown_unchanged(page: LexborNode) -> None:
    python, php = page.css("pre")
    assert python.text() == (
        '[gallery]\n[caption id="a"]x[/caption]\nhttps://www.youtube.com/watch?v=abcdefg\n'
        'if a < b and not c["d"]:\n\n    print("--")'
    )
    assert php.text() == "<?php echo do_shortcode('[gallery]');"
    assert [
        re.search(r"language-\w+", str(element.attributes["class"]))[0]  # type: ignore[index]
        for element in (python, php)
    ] == ["language-python", "language-php"]


async def test_shortcodes_and_urls_are_shown_literally(page: LexborNode) -> None:
    assert page.css(".gallery, .wp-caption, .wp-block-embed") == []
    assert len(page.css("iframe")) == 1
    assert "https://www.youtube.com/watch?v=typed12" in text_of(page, "p")
    assert page.css("img")[0].attributes["alt"] == "A [gallery] of beans"


async def test_tables_lists_and_quotes_keep_their_structure(page: LexborNode) -> None:
    cells = [(" ".join(cell.text().split()), cell.attributes.get("data-align")) for cell in page.css("th, td")]
    assert cells[:3] == [("Left", "left"), ("Middle", "center"), ("Right", "right")]
    assert cells[4] == ("[embed]", "center")
    assert text_of(page, "ul > li > ol > li") == ["three", "four"]
    assert "☑ done" in text_of(page, "li")
    assert text_of(page, "blockquote p") == ["A quote[1] in two lines"]


async def test_captions_languages_directions_details_and_notes_survive(page: LexborNode) -> None:
    assert text_of(page, "figure figcaption") == ["A caption"]
    [arabic, hebrew] = page.css("p[dir=rtl]")
    assert (arabic.text(), arabic.attributes["lang"], hebrew.text()) == ("مرحبا", "ar", "שלום")
    assert text_of(page, "details summary, details p") == ["More", "Hidden"]
    assert "日本語の文章です。" in text_of(page, "p")
    [target] = page.css("section.footnotes li")
    [link] = page.css("sup a")
    assert link.attributes["href"] == f"#{target.attributes['id']}"
    assert "A note [gallery]" in target.text()


async def test_a_user_without_unfiltered_html_gets_the_same_text(blog: WordPress, fetcher: GuardedFetcher) -> None:
    page = await shown(site_of(blog, fetcher, "author"), ARTICLE)
    assert page.css(".gallery, .wp-caption, br") == []
    assert text_of(page, "p")[0].startswith("A hard-wrapped paragraph with [gallery] in code")
    assert len(page.css("pre, table, blockquote, details, section.footnotes")) == 6


async def test_a_line_that_looks_like_a_block_is_code(site: WordPressSite) -> None:
    page = await shown(site, "```html\n<!-- wp:latest-posts /-->\n<!--more-->\n```")
    assert unescape(page.css("pre")[0].text()) == "<!-- wp:latest-posts /-->\n<!--more-->"
