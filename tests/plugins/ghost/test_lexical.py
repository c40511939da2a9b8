"""Ghost bodies in blocks: split and joined byte for byte, and written as Ghost's editor would."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom_content.contract import BodyCodec, render_body
from pressroom_ghost.lexical import LexicalCodec, document_of, is_document
from selectolax.lexbor import LexborHTMLParser
from support.merged_notes import edits_beside_notes_are_merged
from support.sizes import SOAK

CODEC: BodyCodec = LexicalCodec()
ELEMENT: dict[str, Any] = {"direction": None, "format": "", "indent": 0, "version": 1}


def words(text: str, bits: int = 0) -> dict[str, Any]:
    return {
        "detail": 0,
        "format": bits,
        "mode": "normal",
        "style": "",
        "text": text,
        "type": "extended-text",
        "version": 1,
    }


def block(kind: str, *children: Any, **more: Any) -> dict[str, Any]:
    return {"children": [*children], **ELEMENT, "type": kind, **more}


def item(*children: Any) -> dict[str, Any]:
    return block("listitem", *children, value=1)


def document(*blocks: Any, indent: int | None = None) -> str:
    root = {"children": [*blocks], **ELEMENT, "type": "root"}
    return json.dumps({"root": root}, indent=indent, ensure_ascii=False)


def joined(raw: str) -> str:
    return CODEC.join([block.source for block in CODEC.split(raw)], raw)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "children", "root", "text", "format", "html", "tag", "url"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)
PIECES = st.sampled_from(
    [
        '{"root":', '{"children":[', '"root"', '"children":[', "[", "]", "{", "}", ",", ":", '"', "\\", "\n ", "1",
        '{"type":"paragraph","children":[]}', '{"type":"html","html":"<b>"}', "]}}", "\u2028", "\ud800",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join) | st.text())
@example('{"root":{"children":[]}} x')
@example('{"root":{"children":[{}],"children":[]}}')
@example('{"root":{"children":[1,,2]}}')
@example('{"root":{"children":["')
def test_whatever_a_site_says_is_put_together_as_it_was(raw: str) -> None:
    assert joined(raw) == raw
    for one in CODEC.split(raw):
        assert one.name


@given(st.lists(ANYTHING, max_size=6), st.sampled_from([None, 0, 3]))
def test_each_child_of_the_root_is_a_block(blocks: list[Any], indent: int | None) -> None:
    raw = document(*blocks, indent=indent)
    found = CODEC.split(raw)
    assert joined(raw) == raw
    assert [json.loads(one.source) for one in found] == blocks


def test_blocks_are_moved_added_and_removed_within_the_original_document() -> None:
    raw = document(block("paragraph", words("one")), {"type": "gallery", "version": 1, "images": []}, indent=2)
    first, second = CODEC.split(raw)
    new = [second.source, *CODEC.encode("<p>new</p>", "new"), first.source]

    joined = CODEC.join(new, raw)

    assert [block.name for block in CODEC.split(joined)] == ["gallery", "paragraph", "paragraph"]
    assert second.source in joined
    assert joined.startswith(raw[: raw.index(first.source)])
    assert is_document(joined)
    # Ghost rejects a document without blocks.
    assert [block.name for block in CODEC.split(CODEC.join([], raw))] == ["paragraph"]
    assert [block.name for block in CODEC.split(document_of(""))] == ["paragraph"]


IMAGE = '<img src="https://e.org/a.png" alt="a &quot;b&quot;" width="2" height="1">'
UNDERSTOOD = {
    "paragraph": (block("paragraph", words("a & "), words("b", 3)), "<p>a &amp; <strong><em>b</em></strong></p>"),
    "overlap": (
        block("paragraph", words("a", 2), words("b", 3), words("c", 1)),
        "<p><em>a<strong>b</strong></em><strong>c</strong></p>",
    ),
    "break": (
        block("paragraph", words("a", 1), {"type": "linebreak", "version": 1}, words("b", 1)),
        "<p><strong>a<br>b</strong></p>",
    ),
    "formats": (
        block("paragraph", *(words(str(bit), 1 << bit) for bit in range(8))),
        "<p><strong>0</strong><em>1</em><s>2</s><u>3</u><code>4</code><sub>5</sub><sup>6</sup><mark>7</mark></p>",
    ),
    "link": (
        block("paragraph", block("link", words("b", 1), url="https://e.org/?a=1&b=2", rel="nofollow")),
        '<p><a href="https://e.org/?a=1&amp;b=2" rel="nofollow"><strong>b</strong></a></p>',
    ),
    "heading": (block("extended-heading", words("H"), tag="h3"), "<h3>H</h3>"),
    "old heading": (block("heading", words("H"), tag="h2"), "<h2>H</h2>"),
    "list": (
        block(
            "list",
            item(words("a")),
            item(block("list", item(words("b")), tag="ul", listType="bullet", start=1)),
            item(words("c")),
            tag="ol",
            listType="number",
            start=4,
        ),
        '<ol start="4"><li>a<ul><li>b</li></ul></li><li>c</li></ol>',
    ),
    "quote": (block("extended-quote", words("q")), "<blockquote><p>q</p></blockquote>"),
    "aside": (block("aside", words("q")), '<blockquote class="kg-blockquote-alt"><p>q</p></blockquote>'),
    "code": (
        {"type": "codeblock", "version": 1, "code": "a < b\n", "language": "c++", "caption": "<b>C</b>"},
        '<figure><pre><code class="language-c++">a &lt; b\n</code></pre><figcaption><b>C</b></figcaption></figure>',
    ),
    "rule": ({"type": "horizontalrule", "version": 1}, "<hr>"),
    "image": (
        {"type": "image", "version": 1, "src": "https://e.org/a.png", "alt": 'a "b"', "cardWidth": "wide", "width": 2,
         "height": 1, "caption": "C", "href": "https://e.org/"},
        f'<figure class="kg-width-wide"><a href="https://e.org/">{IMAGE}</a><figcaption>C</figcaption></figure>',
    ),
    "html": ({"type": "html", "version": 1, "html": '<p dir="rtl">x</p>'}, '<p dir="rtl">x</p>'),
    "html for all": (
        {"type": "html", "html": "<p>x</p>", "visibility": {
            "web": {"nonMember": True, "memberSegment": "status:free,status:-free"}}},
        "<p>x</p>",
    ),
    "markdown": ({"type": "markdown", "version": 1, "markdown": "- *a*"}, "<ul>\n<li><em>a</em></li>\n</ul>"),
    "embed": (
        {"type": "embed", "version": 1, "url": "https://youtu.be/x", "caption": "",
         "html": '<iframe width="9" src="https://www.youtube.com/embed/x" style="a" allowfullscreen></iframe>'},
        '<iframe width="9" src="https://www.youtube.com/embed/x" allowfullscreen=""></iframe>',
    ),
    "toggle": (
        {"type": "toggle", "version": 1, "heading": "<b>M</b>", "content": "<p>x</p>"},
        "<details><summary><b>M</b></summary><p>x</p></details>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_a_known_block_is_converted_to_html(name: str) -> None:
    node, html = UNDERSTOOD[name]
    [block] = CODEC.split(document(node))
    assert block.html == html


OPAQUE = {
    "gallery": {"type": "gallery", "images": []},
    "bookmark": {"type": "bookmark", "url": "https://e.org"},
    "callout": {"type": "callout", "calloutText": "x"},
    "header": {"type": "header"},
    "product": {"type": "product"},
    "end of the public preview": {"type": "paywall"},
    "e-mail content": {"type": "email", "html": "<p>x</p>"},
    "signup form": {"type": "signup"},
    "file": {"type": "file"},
    "video": {"type": "video"},
    "audio": {"type": "audio"},
    "a-new-one card": {"type": "a-new-one"},
    "HTML card": {"type": "html", "html": "<script>x</script>"},
    "HTML card   ": {"type": "html", "html": "<p>x</p><body onload=alert(1)>"},
    "HTML card ": {"type": "html", "html": '<p class="mine">x</p>'},
    "HTML card  ": {"type": "html", "html": "<p>x</p>", "visibility": {"web": {"nonMember": False}}},
    "markdown card": {"type": "markdown", "markdown": "<form>x</form>"},
    "embed": {"type": "embed", "html": '<iframe src="https://unknown.example/"></iframe>'},
    "embed ": {"type": "embed", "html": '<blockquote>t</blockquote><iframe src="https://www.youtube.com/x"></iframe>'},
    "toggle": {"type": "toggle", "heading": "<style>x</style>", "content": ""},
    "image": {"type": "image", "src": "javascript:alert(1)"},
    "paragraph": block("paragraph", block("link", words("x"), url="javascript:alert(1)")),
    "paragraph ": block("paragraph", words("x", 4096)),
    "paragraph  ": block("paragraph", {"type": "mention", "text": "x"}),
    "paragraph   ": block("paragraph"),
    "heading": block("heading", words("x"), tag="script"),
    "list": block("list", words("x"), tag="ul"),
    "list ": block("list", item(block("list", item(words("a")), tag="ul")), tag="ul"),
    "unknown block": {"type": 3},
    "unknown block ": [],
}


@pytest.mark.parametrize("name", OPAQUE)
def test_a_block_without_an_html_equivalent_is_kept_with_a_name(name: str) -> None:
    [block] = CODEC.split(document(OPAQUE[name]))
    assert (block.name, block.html, block.markdown) == (name.strip(), None, None)


def test_an_old_or_invalid_body_is_one_block() -> None:
    mobiledoc = '{"version":"0.3.1","atoms":[],"cards":[],"markups":[],"sections":[[1,"p",[[0,[],0,"Old"]]]]}'
    for raw, name in ((mobiledoc, "text in Ghost's old format"), ('{"root":{', "text that is not a Lexical document")):
        [block] = CODEC.split(raw)
        assert (block.source, block.name, block.html) == (raw, name, None)
        assert not is_document(CODEC.join([raw, *CODEC.encode("<p>new</p>", "")], raw))
    assert [*CODEC.split("")] == []


def test_a_too_deeply_nested_block_is_kept() -> None:
    deep = '{"type":"list","children":' * 5_000 + "[]" + "}" * 5_000
    raw = document(block("paragraph", words("x"))).replace("[{", f"[{deep},{{", 1)
    blocks = CODEC.split(raw)
    assert [block.name for block in blocks] == ["deeply nested block", "paragraph"]
    assert joined(raw) == raw


@pytest.mark.parametrize("unit", ["[", '{"a":', '"', '\\"', '{"root":{"children":[', '{"root":{"children":[{},', "{},"])
def test_megabytes_of_garbage_are_one_block(unit: str) -> None:
    raw = unit * ((5_000_000 if SOAK else 1_000_000) // len(unit))
    assert len(CODEC.split(raw)) == 1


INLINE = st.recursive(
    st.sampled_from(["a", " b ", "c d", "\n", "<br>", "&amp;", "&nbsp;", "", "日本", "مر", "{{x}}", "&lt;!--a--&gt;"]),
    lambda inner: st.tuples(
        st.sampled_from(["strong", "em", "s", "u", "code", "sub", "sup", "mark", "a href='https://e.org/'", "kbd",
                         'sup class="footnote-ref"', 'span lang="de"']),
        st.lists(inner, max_size=3).map("".join),
    ).map(lambda element: f"<{element[0]}>{element[1]}</{element[0].split()[0]}>"),
    max_leaves=8,
)  # fmt: skip
LISTS = st.recursive(
    INLINE,
    lambda inner: st.tuples(st.sampled_from(["ul", "ol", "ol start='3'"]), st.lists(inner, min_size=1, max_size=3)).map(
        lambda element: f"x<{element[0]}>{''.join(f'<li>{each}</li>' for each in element[1])}</{element[0].split()[0]}>"
    ),
    max_leaves=6,
)
BLOCKS = st.one_of(
    INLINE.map("<p>{}</p>".format),
    INLINE.map("<h2>{}</h2>".format),
    INLINE.map("<blockquote><p>{}</p></blockquote>".format),
    INLINE.map("<details><summary>{0}</summary><p>{0}</p></details>".format),
    LISTS.map("<div>{}</div>".format),
    LISTS,
    INLINE.map('<p dir="rtl">{}</p>'.format),
    INLINE.map("<table><tr><th align='left'>{}</th></tr></table>".format),
    INLINE.map("<figure><img src='https://e.org/a.png' alt='x'><figcaption>{}</figcaption></figure>".format),
    st.text(max_size=20).map(lambda code: f"<pre><code class='language-x'>{code}</code></pre>"),
    st.just("<hr>"),
)


def plain(html: str) -> str:
    """Return the text of HTML without any white space."""
    body = LexborHTMLParser(html).body
    return re.sub(r"[\s\xa0]+", "", body.text() if body is not None else "")


@given(st.lists(BLOCKS, max_size=4).map("\n".join))
@example("<p>a</p>b<em>c</em><p>d</p>")
@example("<ul><li><p>a</p><ul><li>b</li></ul></li></ul>")
def test_what_is_written_is_read_again_with_nothing_lost(written: str) -> None:
    html = render_body(written, "html")
    sources = CODEC.encode(html, "")
    raw = CODEC.join(sources)
    blocks = CODEC.split(raw)

    assert is_document(raw) or not sources
    assert [one.source for one in blocks] == [*sources]
    assert all(one.html is not None for one in blocks), blocks
    assert plain("".join(one.html or "" for one in blocks)) == plain(html)
    again = [source for one in blocks for source in CODEC.encode(one.html or "", "")]
    assert again == [*sources]


CARDS = (
    '<p dir="rtl">x</p>',
    '<p>Note<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup></p>',
    "<table><tr><td>x</td></tr></table>",
    "<blockquote><p>a</p><p>b</p></blockquote>",
    "<ul><li><p>a</p><p>b</p></li></ul>",
    "<ul><li>a<ul><li>b</li></ul>c</li></ul>",
    '<ol type="a"><li>a</li></ol>',
    '<h2 id="own">x</h2>',
    '<p><a href="https://e.org/" title="T">x</a></p>',
    "<p>press <kbd>x</kbd></p>",
    '<p>see <img src="https://e.org/a.png" alt=""> here</p>',
    '<figure><img src="https://e.org/a.png" alt="" width="50%"></figure>',
    "<p><img src='https://e.org/a.png' alt='<!--members-only-->'></p>",
    "<details><summary>a</summary><table><tr><td>x</td></tr></table></details>",
    "<pre>a <b>b</b></pre>",
    "<dl><dt>a</dt><dd>b</dd></dl>",
    "<p><em>a</em><strong><em>b</em>c</strong></p>",
)


@pytest.mark.parametrize("html", CARDS)
def test_content_without_an_editor_block_becomes_an_html_card(html: str) -> None:
    [source] = CODEC.encode(render_body(html, "html"), "")
    card = json.loads(source)
    assert card["type"] == "html"
    assert card["html"] == LexborHTMLParser(render_body(html, "html")).body.inner_html  # type: ignore[union-attr]


def test_a_paragraph_of_many_lines_becomes_one_line() -> None:
    [source] = CODEC.encode("<p>Hard\nwrapped\n  lines</p>", "")
    assert [child["text"] for child in json.loads(source)["children"]] == ["Hard wrapped lines"]


def test_a_large_body_remains_a_readable_document() -> None:
    assert len(document_of("<p><b>a</b><i>b</i></p>" * 30_000)) < 1_000_000


def test_the_codec_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(CODEC)) == CODEC


def test_an_edit_next_to_footnotes_is_merged() -> None:
    edits_beside_notes_are_merged(LexicalCodec())
