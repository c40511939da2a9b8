"""Escaping: hostile text from plugins or visitors stays text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages import FormState, Pages
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.page_server import branding, meta
from support.sizes import examples
from support.tool_descriptors import param

FRAGMENTS = [
    "<script>alert(1)</script>",
    "</script>",
    "<!--",
    "-->",
    "]]>",
    "</textarea>",
    "</title>",
    "</template>",
    "<img src=x onerror=alert(1)>",
    '"',
    "'",
    "<",
    ">",
    "&",
    "&lt;",
    "&#x3c;",
    "{{ 7*7 }}",
    "{% raw %}",
    "\\u003c",
    "\u2028",
    " onfocus=alert(1) ",
    "javascript:alert(1)",
]
HOSTILE = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), min_size=1, max_size=5).map("".join)
# Backticks mark code, blank lines separate paragraphs, and long sentences are cut: this markup is intended.


def plain(text: str) -> str:
    return "x" + "".join(c for c in text if c not in "`.!?" and c.isprintable()) + "x"


PLAIN = HOSTILE.map(plain)
EVERYTHING = plain("".join(FRAGMENTS))


def tool_of(text: str) -> dict[str, Any]:
    """Return a descriptor that contains the text wherever a plugin could put one."""
    return {
        "slug": "some-tool",
        "name": text,
        "description": text,
        "pageUrl": "/tools/some-tool",
        "apiBaseUrl": "/tools/some-tool/api",
        "hasApi": True,
        "clientOnly": False,
        "tags": [text],
        "rateLimit": {"requests": 1, "windowSec": 7},
        "endpoints": [
            {
                "path": "/generate",
                "method": text,
                "summary": text,
                "description": text,
                "responseContentType": [text],
                "cacheDiscount": 0.1,
                "params": [
                    param(text, "string", text, required=True, max=10, example=text),
                    param("long", "string", text, max=500, default=text),
                    param("mono", "string", text, max=5000, example=text),
                    param("colour", "string", text, default=text),
                    param("few", "enum", text, default=text, enumValues=[text]),
                    param("many", "enum", text, enumValues=[text, "a", "b", "c", "d"]),
                    param("thing", "object", text, example={text: text}),
                    param("flag", "boolean", text),
                    param("count", "number", text, min=0, max=9),
                ],
                "examples": [{"title": text, "params": {"long": text, "thing": {text: [text]}}}],
            }
        ],
        "promo": {"tagline": text, "description": text, "useCases": [text], "ctaUrl": text, "relatedFeatures": [text]},
        "notes": [text],
        "sampleData": {text: text},
    }


def states_of(text: str) -> list[FormState | None]:
    """Return the form states that a visitor can cause with the text: a filled form, a result, an error."""
    form = {name: [text] for name in ("long", "mono", "colour", "few", "many", "thing", "flag", "count")}
    meta_ = meta(tool_of("x"), 1)
    data = {
        "id": text,
        "url": f"https://x.example/{text}",
        "expiresAt": text,
        "cached": True,
        "format": text,
        text: text,
    }
    success = {"ok": True, "data": data | {"files": [text], "warnings": [text]}, "meta": meta_}
    failure = {"ok": False, "error": {"code": text, "message": f"long: {text}"}, "meta": meta_}
    return [None, FormState(form), FormState(form, success), FormState(form, failure)]


def skeleton(page: bytes) -> list[tuple[str, tuple[str, ...]]]:
    """Return the tags of a page with their attribute names, which a text must never change."""
    nodes = LexborHTMLParser(page.decode()).root
    assert nodes is not None
    return [(str(node.tag), tuple(sorted(node.attributes))) for node in nodes.traverse(include_text=False)]


def one(page: LexborHTMLParser, selector: str) -> LexborNode:
    node = page.css_first(selector)
    assert node is not None, selector
    return node


@settings(max_examples=examples(12))
@given(PLAIN)
@example(EVERYTHING)
def test_no_text_changes_the_structure_of_a_page(text: str) -> None:
    harmless = "y" * len(text)
    brand = {"name": text, "tagline": text, "logo_url": text, "mcp_url": text}
    hostile = Pages(PageFrame(branding(**brand), "https://pressroom.example"))
    benign = Pages(PageFrame(branding(**dict.fromkeys(brand, harmless)), "https://pressroom.example"))
    assert skeleton(hostile.index([tool_of(text)])) == skeleton(benign.index([tool_of(harmless)]))
    assert skeleton(hostile.site.error(404, text, text)) == skeleton(benign.site.error(404, harmless, harmless))
    for bad, good in zip(states_of(text), states_of(harmless), strict=True):
        assert skeleton(hostile.tool(tool_of(text), bad)) == skeleton(benign.tool(tool_of(harmless), good))


@settings(max_examples=examples(12))
@given(PLAIN)
@example(EVERYTHING)
def test_texts_arrive_as_they_are(text: str) -> None:
    pages = Pages(PageFrame(branding(), "https://pressroom.example"))
    page = LexborHTMLParser(pages.tool(tool_of(text), FormState({"long": [text], "mono": [text]})).decode())
    assert one(page, "h1").text() == text
    assert one(page, "textarea[name=long]").text() == text
    assert one(page, "textarea[name=mono]").text() == text
    assert one(page, "section[aria-labelledby=notes] li").text() == text
    linked = json.loads(one(page, "script[type='application/ld+json']").text())
    assert linked["@graph"][0]["name"] == text
    specs = [json.loads(node.attributes["data-field"] or "") for node in page.css("[data-field]")]
    assert specs[0]["name"] == text
    assert json.loads(one(page, "[data-example]").attributes["data-example"] or "")["long"] == text


@settings(max_examples=examples(12))
@given(st.text())
def test_no_character_costs_the_page(text: str) -> None:
    pages = Pages(PageFrame(branding(), "https://pressroom.example"))
    for state in states_of(text):
        page = pages.tool(tool_of(text or "x"), state)
        assert page.decode().rstrip().endswith("</html>")


def test_lone_surrogates_do_not_break_the_page() -> None:
    page = Pages(PageFrame(branding(), "https://pressroom.example")).tool(
        tool_of("\ud800"), FormState({"long": ["\udfff"]})
    )
    assert page.decode().rstrip().endswith("</html>")


def test_code_between_backticks_is_escaped_too() -> None:
    page = LexborHTMLParser(
        Pages(PageFrame(branding(), "https://pressroom.example")).tool(tool_of("use `<b>` or `` ` not")).decode()
    )
    assert one(page, "section[aria-labelledby=notes] code").text() == "<b>"
    assert page.css("section[aria-labelledby=notes] b") == []
