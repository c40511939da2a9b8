"""HTML converted to blocks of the block editor."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_content.rendering.sanitising import sanitise
from pressroom_wordpress.classic import has_shortcodes
from pressroom_wordpress.codec import WordPressCodec
from pressroom_wordpress.gutenberg import encode

FRAGMENTS = [
    *("<p>", "</p>", "<ul>", "<ol start=3>", "<li>", "</li>", "</ul>", "</ol>", "<blockquote>", "</blockquote>"),
    *("<pre><code class=language-go>", "</code></pre>", "<table>", "<tr>", "<td align=right>", "</td>", "</table>"),
    *("<figure>", "<img src=/a.png alt='[gallery]'>", "<figcaption>", "</figure>"),
    *("<details>", "<summary>", "</summary>", "</details>", "[gallery]", "[", "a\nb", "&lt;!-- wp:a --&gt;"),
    *("<b>", "</b>", "<h2 id=x>", "</h2>", "<br>", "<hr>", "<p dir=rtl lang=ar>",),
    *("<iframe src=https://www.youtube.com/embed/abcdefg></iframe>", "https://a.example/b", "&amp;", " "),
]  # fmt: skip
pieces = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=20).map("".join)


def one_block(html: str) -> str:
    (source,) = encode(sanitise(html).html)
    return source


def text_of(html: str) -> Counter[str]:
    """Count the characters that readers see, in any order, since captions move."""
    return Counter("".join(unescape(re.sub(r"<[^>]*>", " ", html)).split()))


@given(pieces)
def test_nothing_runs_and_nothing_is_lost(text: str) -> None:
    html = sanitise(text).html
    sources = encode(html)
    raw = WordPressCodec().join(sources)
    assert not has_shortcodes(raw)
    shown = "".join(one.html or "" for one in WordPressCodec().split(raw))
    assert text_of(shown) == text_of(html)


@given(st.text())
def test_any_text_is_encoded(text: str) -> None:
    assert all(source.startswith("<!-- wp:") for source in encode(text))


@given(pieces)
def test_what_is_encoded_is_understood(text: str) -> None:
    raw = WordPressCodec().join(encode(sanitise(text).html))
    assert all(one.html is not None for one in WordPressCodec().split(raw))


def test_hard_wrapped_lines_are_one_line() -> None:
    assert one_block("<p>one\ntwo<br>\nthree</p>") == (
        "<!-- wp:paragraph -->\n<p>one two<br>three</p>\n<!-- /wp:paragraph -->"
    )


def test_a_nested_list() -> None:
    assert one_block("<ol start=3>\n<li>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ol>") == (
        '<!-- wp:list {"ordered":true,"start":3} -->\n<ol start="3" class="wp-block-list"><!-- wp:list-item -->\n<li>a'
        '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>b</li>\n<!-- /wp:list-item --></ul>\n'
        "<!-- /wp:list --></li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->"
    ).replace('<ol start="3" class="wp-block-list">', '<ol class="wp-block-list" start="3">')


def test_code_keeps_its_lines_and_its_language_and_runs_nothing() -> None:
    html = '<pre><code class="language-php">[gallery]\n\n  https://youtu.be/abcdefg\n&lt;!-- wp:a --&gt;</code></pre>'
    assert one_block(html) == (
        '<!-- wp:code {"className":"language-php"} -->\n<pre class="wp-block-code language-php"><code>&#91;gallery]\n\n'
        "  https:&#47;&#47;youtu.be/abcdefg\n&lt;!-- wp:a --&gt;</code></pre>\n<!-- /wp:code -->"
    )


def test_a_table_with_alignment_and_caption() -> None:
    html = (
        "<table><caption>C</caption><thead><tr><th align=center>A</th></tr></thead>"
        "<tbody><tr><td>1</td></tr></tbody></table>"
    )
    assert one_block(html) == (
        '<!-- wp:table {"hasFixedLayout":false} -->\n<figure class="wp-block-table"><table><thead><tr><th '
        'class="has-text-align-center" data-align="center">A</th></tr></thead>'
        "<tbody><tr><td>1</td></tr></tbody></table>"
        '<figcaption class="wp-element-caption">C</figcaption></figure>\n<!-- /wp:table -->'
    )


def test_an_image_with_its_caption() -> None:
    image = '<img src="/a.png" alt="A [gallery]" width="64" height="48" class="wp-image-7">'
    html = f"<figure>{image}<figcaption>C</figcaption></figure>"
    assert one_block(html) == (
        '<!-- wp:image {"id":7,"width":64,"height":48} -->\n<figure class="wp-block-image is-resized"><img '
        'src="/a.png" alt="A &#91;gallery]" class="wp-image-7" width="64" height="48">'
        '<figcaption class="wp-element-caption">C</figcaption></figure>\n<!-- /wp:image -->'
    )


def test_an_image_keeps_a_width_without_a_height() -> None:
    assert one_block('<figure class="alignleft"><img src="/a.png" alt="A" width="300"></figure>') == (
        '<!-- wp:image {"align":"left","width":300} -->\n<figure class="wp-block-image alignleft is-resized">'
        '<img src="/a.png" alt="A" width="300"></figure>\n<!-- /wp:image -->'
    )


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ("<p><img src='/a.png' alt=''></p>", "image"),
        ("<p><a href='/b'><img src='/a.png' alt=''></a></p>", "image"),
        ("<p>a <img src='/a.png' alt=''></p>", "paragraph"),
        ("<p dir=rtl>a</p>", "paragraph"),
        ("<p dir=rtl lang=ar>a</p>", "html"),
        ("<h2 lang=fr>a</h2>", "html"),
        ("<blockquote><p>a</p><ul><li>b</li></ul></blockquote>", "quote"),
        ("<pre>a\n  b</pre>", "preformatted"),
        ("<hr>", "separator"),
        ("<details open><summary>S</summary><p>a</p></details>", "details"),
        ("<iframe src='https://player.vimeo.com/video/123456'></iframe>", "embed"),
        ("<iframe src='https://www.youtube-nocookie.com/embed/abcdefg'></iframe>", "html"),
        ("<iframe src='https://www.youtube.com/embed/abcdefg?start=7'></iframe>", "html"),
        ("<section class=footnotes><ol><li id=fn1><p>a</p></li></ol></section>", "html"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "html"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "html"),
        ("just text", "paragraph"),
    ],
)
def test_each_construct_has_its_block(html: str, name: str) -> None:
    assert one_block(html).startswith(f"<!-- wp:{name} ")
