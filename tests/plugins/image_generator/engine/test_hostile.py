"""Hostile input produces an image or the documented error, in bounded time and memory."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_image_generator.engine import image_addresses, render
from pressroom_image_generator.engine.properties import PROPERTIES
from pressroom_image_generator.engine.shorthands import SHORTHANDS
from support.sizes import examples

BOMB = "".join(f'<g id="a{level}">' + f'<use href="#a{level + 1}"/>' * 10 + "</g>" for level in range(9))

REFUSED = [
    ("<div>" * 900 + "x", "nested inside each other"),
    ('<img src="http://example.com/a.png">', "http://example.com/a.png"),
    ('<p>\n<img src="file:///etc/passwd">', "line 2, column 11"),
    ('<img src="data:text/html,x">', "data:text/html"),
    ("<script>alert(1)</script>", "<script>"),
    ("<style>p { color: red }</style>", "<style>"),
    ('<link rel="stylesheet" href="https://example.com/a.css">', "<link>"),
    ('<div style="background:url(https://example.com/a.png)">', "https://example.com/a.png"),
    ('<div style="--x:url(//example.com/a.png)">', "//example.com/a.png"),
    ("<i></i>" * 5001, "5000 elements"),
    ('<div style="width:' + "(" * 40 + '">', "brackets"),
    ('<div style="transform:rotate(1deg);width:2000px;height:2000px;background:red">' * 90, "too long to paint"),
]

HUGE = (
    '<div style="width:99999999px;height:99999999px;border-radius:5000px;border:99999px dashed blue;'
    'box-shadow:0 0 10000px 99999px red;background:red">x</div>'
)

DRAWN = [
    '<div style="display:flex">' * 99 + "x",
    '<div style="display:flex"><div style="display:flex;flex-direction:column;align-items:center">' * 49 + "x",
    HUGE,
    '<p style="width:calc(1px/0);font-size:1e999px;margin:-1e99px;flex-grow:1e308;padding:calc(infinity*1px)">x',
    '<div style="display:flex"><div style="height:100%"><div style="height:100%;width:1000000%">x</div></div></div>',
    '<div style="filter:blur(10000px);width:500px;height:500px;background:red">x</div>',
    '<div style="background:linear-gradient(' + ",".join(["red"] * 1000) + ')">x</div>',
    "a" * 10_000,
    "\N{FACE WITH TEARS OF JOY}" * 9000,
    "<br>" * 2400,
    '<div style="font-size:99999px">Hello</div>',
    '<div style="transform:skew(89.9999deg) scale(1e6)">x</div><div style="transform:scale(0)">x</div>',
    '<div style="display:grid;grid-template-columns:repeat(100000,1fr);gap:1e9px"><p style="grid-area:1/1/9999/9999">x',
    '<div style="--a:var(--b)var(--b);--b:var(--a);color:var(--a)">x</div>',
    '<div style="-webkit-text-stroke:9999px red;text-shadow:' + ",".join(["0 0 9999px red"] * 9) + '">x</div>',
    f'<svg viewBox="0 0 9 9" width="90"><defs>{BOMB}<g id="a9"></g></defs><use href="#a0"/></svg>',
    '<svg width="1e9" height="1e9"><rect width="1" height="1"/></svg>',
    '<div style="transform:scale(1e6);font-size:90px">Hello</div><p style="rotate:1e9deg;scale:1e9;translate:1e9px">x',
    '<div style="transform:matrix(1e9,1e-9,1e9,1e9,0,0);border-radius:50%;width:9px;height:9px;background:red">x</div>',
    '<div style="transform:rotate(3deg);opacity:.5;border:9px groove red;border-radius:9px">' * 30 + "x",
    '<div style="overflow:hidden;border-radius:9px"><p style="position:relative;z-index:1">' * 45 + "x",
    "<div style=\"width:900px;height:600px;background:red;clip-path:path('M0 0"
    + "a9 9 0 0 0 5 5" * 600
    + "')\">x</div>",
    "<div style=\"clip-path:path('M0 0 L1e99 1e99 -1e99')\">x</div>",
    "<div style=\"display:grid;grid-template-areas:'" + "a " * 3000 + '\'"><p style="grid-area:b 99999/span 99999 c">x',
    '<div style="display:grid;grid-template-columns:repeat(9999,[a b] 1px [c])"><p style="grid-column:a -999/c 9">x',
    "(" * 4000 + "\u05d0" + ")" * 4000,
    '<div style="mask:linear-gradient(red,blue) 0 0/0.6px 0.6px;width:900px;height:600px;background:red">x</div>',
]


@pytest.mark.parametrize(("html", "named"), REFUSED)
def test_refused_input_is_named(html: str, named: str) -> None:
    with pytest.raises(InvalidInput) as exc_info:
        render(html, 1200, 630)
    assert exc_info.value.field == "html"
    assert named in str(exc_info.value)


@pytest.mark.parametrize("html", DRAWN)
@pytest.mark.timeout(120)
def test_extreme_input_is_drawn(html: str) -> None:
    assert render(html, 1200, 630).image.size == (1200, 630)


def test_an_svg_reads_no_files() -> None:
    """Neither file contents nor entities ever get into the image."""
    entity = '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>'
    image = base64.b64encode(entity.encode()).decode()
    rendered = render(f'<img src="data:image/svg+xml;base64,{image}">', 200, 200)
    assert "declares entities" in rendered.warnings[0]


def test_unknown_properties_are_named_once() -> None:
    html = '<p style="colour:red;cursor:wait">a</p><p style="colour:red;width:wide">b</p>'
    assert render(html, 200, 200).warnings == (
        "the property colour is not supported",
        "the property cursor is not supported",
        'width: "wide" is not understood',
    )


def test_missing_images_are_drawn_as_a_placeholder_and_reported() -> None:
    html = '<img src="https://example.com/a.png" alt="An image" style="width:200px;height:100px">'
    assert image_addresses(html) == ("https://example.com/a.png",)
    rendered = render(html, 200, 200, images={"https://example.com/a.png": None})
    assert rendered.warnings == ('the image "https://example.com/a.png" could not be loaded',)
    alphas = rendered.image.getchannel("A").crop((0, 0, 200, 100)).getextrema()
    assert alphas[0] == 64


NAMES = st.sampled_from([*PROPERTIES, *SHORTHANDS, "--x", "unknown"])
LENGTHS = st.sampled_from(
    ["0", "1px", "-3px", "50%", "2em", "1e9px", "auto", "calc(100% - 1px)", "10vw", "1", "2", "0.5"]
)
WORDS = st.sampled_from(
    [
        *(
            "none",
            "flex",
            "grid",
            "block",
            "inline",
            "row",
            "column",
            "wrap",
            "hidden",
            "absolute",
            "relative",
            "center",
        ),
        *("stretch", "solid", "dashed", "red", "#f008", "inset", "cover", "repeat", "space", "text", "rtl", "bold"),
        *("italic", "pre", "nowrap", "balance", "span", "/", ",", "1fr", "var(--x)", "ellipsis", "circle(40%)"),
        *("linear-gradient(red,blue)", "rotate(9deg)", "blur(3px)", "scale(2)", "repeat(3,1fr)", "minmax(1px,auto)"),
        "url(data:image/png;base64,AA)",
    ]
)
VALUES = st.lists(LENGTHS | WORDS, min_size=1, max_size=5).map(" ".join)
STYLES = st.dictionaries(NAMES, VALUES, max_size=8).map(lambda known: ";".join(f"{k}:{v}" for k, v in known.items()))
TEXTS = st.text(max_size=12) | st.sampled_from(["Hello world", "שלום (abc) 12", "a\n\tb", "👩‍👩‍👧", ""])


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from(["div", "span", "p", "b", "img", "svg", "li", "pre", "br", "h1"])
    return st.builds(
        lambda tag, style, inner: f"<{tag} style='{style}'>{''.join(inner)}</{tag}>",
        tags, STYLES, st.lists(children, max_size=4),
    )  # fmt: skip


@given(st.recursive(TEXTS, element, max_leaves=12))
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
def test_documents_end_in_an_image_or_the_documented_error(html: str) -> None:
    with suppress(InvalidInput):
        assert render(html, 200, 200).image.size == (200, 200)


@given(st.text(alphabet=st.sampled_from("<>/='\"&;:(){}[]!-#%,.abdisvpx0123 \n\0\u202e\u0627"), max_size=300))
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
def test_any_text_ends_in_an_image_or_the_documented_error(text: str) -> None:
    for html in (text, f'<div style="{text}">x</div>', f"<svg {text}></svg>"):
        with suppress(InvalidInput):
            assert render(html, 200, 200).image.size == (200, 200)
