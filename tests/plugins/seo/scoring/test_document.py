"""Parsing Markdown and HTML for scoring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pressroom_seo.document import (
    BlockKind,
    Document,
    clean_text,
    document_from_html,
    document_from_markdown,
    safe_html,
)

MARKDOWN = """\
# Bread

First *paragraph* with `code`, a [link](/a "t") and
a soft break.\\
A hard break.

> A quote

- one
- two

| a | b |
|---|---|
| c | d |

    code block

![An image](i.png) <b>inline</b> HTML &amp; more

<div style="text-align:center"><p>Centred</p></div>
"""


def kinds(document: Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in document.blocks]


LINES = (
    "Oven-dried: 5 % (or so), $3.",
    "a-b-c",
    "http://example.org/x?y=1#z",
    "1 + 1 = 2 {x} ^2",
    "x\u00a0y “z” …",
    "...",
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_without_delimiters_is_parsed_as_by_any_parser(line: str) -> None:
    for written in (f"# {line}", f"- {line}", f"> {line}", f"| {line} |\n|---|", line):
        html = MarkdownIt("commonmark").enable("table").render(f"{written}\n\nThe end.")
        assert kinds(document_from_markdown(f"{written}\n\nThe end.")) == kinds(document_from_html(html))


def test_markdown_becomes_blocks_of_text() -> None:
    document = document_from_markdown(MARKDOWN)
    assert kinds(document) == [
        (BlockKind.HEADING, "Bread"),
        (BlockKind.PARAGRAPH, "First paragraph with code, a link and a soft break.\nA hard break."),
        (BlockKind.QUOTE, "A quote"),
        (BlockKind.LIST_ITEM, "one"),
        (BlockKind.LIST_ITEM, "two"),
        *((BlockKind.CELL, cell) for cell in "abcd"),
        (BlockKind.CODE, "code block"),
        (BlockKind.PARAGRAPH, "inline HTML & more"),
        (BlockKind.PARAGRAPH, "Centred"),
    ]
    assert [(link.text, link.href) for link in document.links] == [("link", "/a")]
    assert [(image.src, image.alt) for image in document.images] == [("i.png", "An image")]
    assert [block.text for block in document.blocks if block.centred] == ["Centred"]
    assert document.blocks[1].section == "Bread"
    assert "code block" not in document.prose


def test_invisible_content_is_not_text() -> None:
    html = (
        "<nav>menu</nav><script>x</script><style>y</style><p hidden>h</p><p style='display: none'>n</p>"
        "<!-- c --><template>t</template><p>Seen<svg><text>s</text></svg></p>"
    )
    assert kinds(document_from_html(html)) == [(BlockKind.PARAGRAPH, "Seen")]


def test_links_and_images_keep_their_attributes() -> None:
    document = document_from_html(
        "<p><a href=' /a ' rel='NoFollow noopener'>"
        "<img src=i.png alt='' width=10 height='20px' loading=LAZY srcset='x'></a>"
        "<a id=top></a><a href='/b' aria-label='Label'></a><img src=j.png role=presentation width=50%></p>"
    )
    first, second, third = document.links
    assert (first.href, first.followed, first.text) == ("/a", False, "")
    assert (second.href, second.named) == (None, True)
    assert third.text == "Label"
    image, other = document.images
    assert (image.alt, image.sized, image.loading, image.srcset) == ("", True, "lazy", True)
    assert (other.alt, other.sized, other.decorative) == (None, False, True)


def test_paragraphs_belong_to_their_list_item() -> None:
    document = document_from_html("<ul><li><p>a</p><p>b</p></li></ul><p>c</p>")
    assert kinds(document) == [(BlockKind.LIST_ITEM, "a"), (BlockKind.LIST_ITEM, "b"), (BlockKind.PARAGRAPH, "c")]


@pytest.mark.parametrize("tag", ["div", "section", "blockquote"])
def test_nesting_is_flattened_and_text_stays(tag: str) -> None:
    html = f"<{tag}>" * 3000 + "<p>inside</p>" + f"</{tag}>" * 3000 + "<p>after</p>"
    flat = safe_html(html)
    assert flat.count(f"<{tag}>") == flat.count(f"</{tag}>") <= 250
    assert [block.text for block in document_from_html(html).blocks] == ["inside", "after"]


def test_ordinary_markup_is_unchanged() -> None:
    html = "<div><p>a</p></div>" * 400
    assert safe_html(html) == html


@given(st.text(st.characters(), max_size=200))
def test_cleaned_text_can_be_stored(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert clean_text(clean) == clean
