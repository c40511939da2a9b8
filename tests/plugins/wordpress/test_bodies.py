"""Splitting and joining bodies of posts: unedited parts stay byte for byte."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pressroom_content.contract import BodyCodec
from pressroom_content.rendering.sanitising import FRAME_HOSTS, sanitise
from pressroom_wordpress.codec import WordPressCodec
from pressroom_wordpress.markup import is_known_frame
from support.merged_notes import edits_beside_notes_are_merged
from support.sizes import SOAK, examples

CODEC: BodyCodec = WordPressCodec()
MAP = '<iframe src="https://www.google.com/maps/embed?pb=1" width="600" height="450"></iframe>'

FRAGMENTS = [
    *("<!-- wp:paragraph -->", "<!-- /wp:paragraph -->", '<!-- wp:columns {"a":1} -->', "<!-- /wp:columns -->"),
    *(
        "<!-- wp:latest-posts /-->",
        "<!-- wp:",
        "<!-- wp:list -->",
        '<!-- wp:image {"id":',
        "}-->",
        "-->",
        "<!--more-->",
    ),
    *("<p>", "</p>", "<div>", "</div>", "<ul><li>", "</li></ul>", "<pre>", "</pre>", "<b>", "</b>", "<br>", "<hr/>"),
    *(
        "[gallery]",
        "[caption id=1]",
        "[/caption]",
        "[",
        "]",
        "[[x]]",
        "text",
        "שלום",
        "日本語",
        "\n",
        "\n\n",
        "\r\n\r\n",
    ),
    *(" ", "\t", "&amp;", "<", ">", '"', "'", "\0", "\ud800", "<script>", "<a href='", "https://youtu.be/abcdefg\n"),
]
bodies = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=30).map("".join)


def block(raw: str) -> tuple[str, str | None]:
    """Return the name and the HTML of the only block of a body."""
    (segment,) = CODEC.split(raw)
    return segment.name, segment.html


@given(bodies)
@settings(max_examples=examples(200))
@example("<p>a</p><p>b</p>")
@example("\n\n<!-- wp:a --><!-- /wp:b -->x")
def test_the_sources_of_any_body_are_the_body(raw: str) -> None:
    sources = [one.source for one in CODEC.split(raw)]
    assert "".join(sources) == raw
    assert CODEC.join(sources, raw) == raw


@given(bodies)
def test_what_is_told_of_a_block_can_be_in_an_article(raw: str) -> None:
    for one in CODEC.split(raw):
        assert one.markdown is None
        if one.html is not None:
            assert sanitise(one.html).removed == ()


def test_the_codec_can_be_sent_to_worker_processes() -> None:
    assert pickle.loads(pickle.dumps(CODEC)).split("a")[0].html == "<p>a</p>"


UNITS = ["[a]", "[a]\n\n", "[a][/a]", "<!-- wp:a -->", '<!-- wp:a {"', "<div>", '<a "', "<p>a", "<br>", "<!--", "\n \n"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_very_long_body_stays_complete(unit: str) -> None:
    raw = unit * ((5_000_000 if SOAK else 100_000) // len(unit))
    segments = CODEC.split(raw)
    assert "".join(segment.source for segment in segments) == raw
    assert len(segments) <= 20_001


def wp(name: str, html: str, attributes: str = "") -> str:
    """Return a block as the block editor serialises it."""
    return f"<!-- wp:{name} {attributes + ' ' if attributes else ''}-->\n{html}\n<!-- /wp:{name} -->"


PLAYER = "https://www.youtube.com/embed/abcdefg"
UNDERSTOOD = {
    "paragraph": (wp("paragraph", "<p>Hi</p>"), "<p>Hi</p>"),
    "paragraph from right to left": (
        wp("paragraph", '<p dir="rtl">שלום</p>', '{"direction":"rtl"}'),
        '<p dir="rtl">שלום</p>',
    ),
    "heading": (
        wp("heading", '<h3 class="wp-block-heading" id="x">A</h3>', '{"level":3}'),
        '<h3 id="x">A</h3>',
    ),
    "list": (wp("list", f"<ul>{wp('list-item', '<li>a</li>')}</ul>"), "<ul>\n<li>a</li>\n</ul>"),
    "list of before 2022": (wp("list", "<ul><li>old</li></ul>"), "<ul><li>old</li></ul>"),
    "quote": (
        wp("quote", f'<blockquote class="wp-block-quote">{wp("paragraph", "<p>q</p>")}<cite>me</cite></blockquote>'),
        "<blockquote>\n<p>q</p>\n<cite>me</cite></blockquote>",
    ),
    "code": (
        wp("code", '<pre class="wp-block-code language-go"><code>a\n\nb</code></pre>', '{"className":"language-go"}'),
        '<pre><code class="language-go">a\n\nb</code></pre>',
    ),
    "table": (
        wp(
            "table",
            '<figure class="wp-block-table"><table><tbody><tr><td class="has-text-align-right" data-align="right">1'
            "</td></tr></tbody></table></figure>",
        ),
        '<figure><table><tbody><tr><td align="right">1</td></tr></tbody></table></figure>',
    ),
    "image": (
        wp(
            "image",
            '<figure class="wp-block-image size-large"><img src="/a.png" alt="A" class="wp-image-7"/>'
            '<figcaption class="wp-element-caption">C</figcaption></figure>',
            '{"id":7,"sizeSlug":"large","linkDestination":"none"}',
        ),
        '<figure><img src="/a.png" alt="A" class="wp-image-7"><figcaption>C</figcaption></figure>',
    ),
    "separator": (wp("separator", '<hr class="wp-block-separator has-alpha-channel-opacity"/>'), "<hr>"),
    "embed of youtube": (
        wp(
            "embed",
            '<figure class="wp-block-embed"><div class="wp-block-embed__wrapper">\nhttps://youtu.be/abcdefg\n</div>'
            "</figure>",
            '{"url":"https://youtu.be/abcdefg","type":"video","providerNameSlug":"youtube"}',
        ),
        f'<iframe src="{PLAYER}" width="560" height="315" title="YouTube" allowfullscreen></iframe>',
    ),
    "details": (
        wp("details", f"<details><summary>S</summary>{wp('paragraph', '<p>a</p>')}</details>"),
        "<details><summary>S</summary>\n<p>a</p>\n</details>",
    ),
    "html": (wp("html", "<dl><dt>a</dt><dd>b</dd></dl>"), "<dl><dt>a</dt><dd>b</dd></dl>"),
    "html of a map": (wp("html", MAP), MAP),
}


@pytest.mark.parametrize(
    "url",
    [
        *(f"https://{host}/maps/a" for host in sorted(FRAME_HOSTS)),
        "https://www.google.com/search",
        "https://maps.google.com/maps/a",
        "https://ada@www.youtube.com/embed/abcdefg",
        "https://www.youtube.com:443/embed/abcdefg",
        "https://www.youtube.com:444/embed/abcdefg",
        "http://www.youtube.com/embed/abcdefg",
        "//www.youtube.com/embed/abcdefg",
        "https://[a",
        "/embed/abcdefg",
    ],
)
def test_the_frames_allowed_in_an_article_are_those_that_sanitising_keeps(url: str) -> None:
    assert is_known_frame(url) == (" src=" in sanitise(f'<iframe src="{url}"></iframe>').html)


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_blocks_that_an_article_can_express_are_converted(case: str) -> None:
    raw, html = UNDERSTOOD[case]
    name, block_html = block(raw)
    assert block_html == html
    assert case.startswith(name)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (wp("paragraph", '<p class="has-text-align-center">a</p>', '{"align":"center"}'), "paragraph"),
        (wp("paragraph", '<p><mark style="color:red">a</mark></p>'), "paragraph"),
        (wp("paragraph", "<p>[contact-form-7 id=1]</p>"), "paragraph"),
        (wp("paragraph", '<p>a<sup data-fn="1" class="fn">1</sup></p>'), "paragraph"),
        ("<!-- wp:footnotes /-->", "footnotes"),
        (wp("columns", f"<div>{wp('column', '<div></div>')}</div>"), "columns"),
        ('<!-- wp:block {"ref":12} /-->', "block"),
        ("<!-- wp:latest-posts /-->", "latest posts"),
        (wp("jetpack/tiled-gallery", "<div></div>"), "tiled gallery (jetpack)"),
        (wp("html", "<script>run()</script>"), "html"),
        (wp("html", "<div>half"), "html"),
        (
            wp("embed", "<figure></figure>", '{"url":"https://x.com/a","providerNameSlug":"twitter"}'),
            "embed of twitter",
        ),
        ("<!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:heading -->", "paragraph that is not well formed"),
        ("<!-- wp:paragraph -->\n<p>a", "paragraph that is not well formed"),
        (wp("paragraph", "<p>a</p>", '{"a":}'), "paragraph that is not well formed"),
    ],
)
def test_blocks_that_express_more_are_preserved(raw: str, name: str) -> None:
    assert block(raw) == (name, None)


@pytest.mark.parametrize(
    ("raw", "html"),
    [
        ("one\ntwo", "<p>one<br>two</p>"),
        ("one<br />\ntwo", "<p>one<br>two</p>"),
        ("one<br><br>two", "<p>one</p><p>two</p>"),
        ("<p>one\ntwo</p>", "<p>one<br>two</p>"),
        ("a <em>b\nc</em>", "<p>a <em>b<br>c</em></p>"),
        ("<h2>A</h2>", "<h2>A</h2>"),
        ("<blockquote>a\n\nb</blockquote>", "<blockquote><p>a</p><p>b</p></blockquote>"),
        ("<ul>\n<li>a\n<ul><li>c</li></ul>\n</li>\n</ul>", "<ul><li>a<ul><li>c</li></ul></li></ul>"),
        ("<pre>a\n\nb</pre>", "<pre>a\n\nb</pre>"),
        ("[1] and [sic] and &#91;gallery]", "<p>[1] and [sic] and &#91;gallery]</p>"),
        (
            "https://youtu.be/abcdefg",
            f'<iframe src="{PLAYER}" width="560" height="315" title="YouTube" allowfullscreen></iframe>',
        ),
        ('<p style="color:red">a</p>', None),
        ("<li>a\n\nb</li>", None),
        ("https://example.org/card", None),
        ("<b>a\n\nb</b>", None),
    ],
)
def test_classic_text_is_reported_as_readers_get_it(raw: str, html: str | None) -> None:
    assert "".join(segment.html or "" for segment in CODEC.split(raw)) == (html or "")


def test_shortcodes_and_comments_are_preserved() -> None:
    raw = "a\n\n[gallery]\n\n[caption]<img>\n\nb[/caption]\n\n<!--more-->\n\nc <h2>d</h2>\n<!-- pressroom:p_1 -->"
    assert [(segment.name, segment.html) for segment in CODEC.split(raw)] == [
        ("paragraph", "<p>a</p>"),
        ("gallery", None),
        ("caption", None),
        ("more", None),
        ("paragraph", "<p>c</p>"),
        ("heading", "<h2>d</h2>"),
        ("mark", ""),
    ]


NEW = CODEC.encode("<p>new\nline</p>", "new line")


def test_a_new_block_in_a_body_with_blocks() -> None:
    raw = "<!-- wp:a /-->\n\n<!-- wp:b /-->"
    first, second = (segment.source for segment in CODEC.split(raw))
    new = "<!-- wp:paragraph -->\n<p>new line</p>\n<!-- /wp:paragraph -->"
    assert CODEC.join([first, *NEW, second], raw) == f"<!-- wp:a /-->\n\n{new}\n\n<!-- wp:b /-->"
    assert CODEC.join([second, first], raw) == "<!-- wp:b /-->\n\n<!-- wp:a /-->\n\n"


@pytest.mark.parametrize("gap", ["", "\n", "\r\n", " ", "\n\n", "\n\n\n"])
def test_replacing_a_block_preserves_the_white_space_around_it(gap: str) -> None:
    old = "<!-- wp:paragraph -->\n<p>old</p>\n<!-- /wp:paragraph -->"
    new = "<!-- wp:paragraph -->\n<p>new line</p>\n<!-- /wp:paragraph -->"
    raw = f"<!-- wp:a /-->{gap}{old}{gap}<!-- wp:b /-->"
    first, replaced, second = (segment.source for segment in CODEC.split(raw))
    written = [NEW[0] + replaced[len(old) :]] if gap.count("\n") > 1 else NEW
    assert CODEC.join([first, *written, second], raw) == raw.replace(old, new)
    assert CODEC.join([first, second], raw) == f"<!-- wp:a /-->{gap}<!-- wp:b /-->"
    two = CODEC.join([first, *NEW, *CODEC.encode("<h2>more</h2>", "## more"), second], raw)
    assert two.startswith(f"<!-- wp:a /-->{gap}{new}\n\n<!-- wp:heading -->")
    assert two.endswith(f"<!-- /wp:heading -->{gap}<!-- wp:b /-->")


def test_with_a_new_block_in_a_classic_body_wordpress_still_creates_its_paragraphs() -> None:
    raw = "one\n\ntwo"
    first, second = (segment.source for segment in CODEC.split(raw))
    assert CODEC.join([first, *NEW, second], raw) == "one\n\nnew line\n\ntwo"
    assert CODEC.join(NEW, raw) == NEW[0]


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p>new <strong>line</strong></p>", "new <strong>line</strong>"),
        ("<p>new<br>line</p>", "new<br>line"),
        ('<p dir="rtl">new</p>', '<p dir="rtl">new</p>'),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
    ],
)
def test_a_new_paragraph_in_a_classic_body_is_written_as_the_classic_editor_does(html: str, written: str) -> None:
    raw = "one\r\n\r\n<h2>two</h2>"
    first, second = (segment.source for segment in CODEC.split(raw))
    assert CODEC.join([first, *CODEC.encode(html, ""), second], raw) == f"one\r\n\r\n{written}\n\n<h2>two</h2>"


def test_a_new_paragraph_beside_paragraphs_with_tags_has_them_too() -> None:
    raw = "<p>one</p>\n<p>two</p>"
    first, second = (segment.source for segment in CODEC.split(raw))
    assert CODEC.join([first, *NEW, second], raw) == "<p>one</p>\n\n<p>new line</p>\n\n<p>two</p>"


def test_an_edit_next_to_footnotes_is_merged() -> None:
    edits_beside_notes_are_merged(WordPressCodec())
