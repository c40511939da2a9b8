"""Any article gets a report, in bounded time."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom_content.language import SUPPORTED
from pressroom_seo.scoring import (
    BUILDABLE,
    Author,
    ImageFacts,
    LinkStatus,
    OtherArticle,
    ScoringArticle,
    World,
    article_from_page,
    build_structured_data,
    preview_snippet,
    score,
    validate_page,
    validate_structured_data,
)
from support.sizes import examples

ANY_TEXT = st.text(st.characters(), max_size=60)  # including lone surrogates
PIECES = st.sampled_from(
    [
        "# ", "## ", "- ", "> ", "1. ", "|a|b|\n|-|-|\n", "```\n", "`", "*", "**", "_", "[a](/b)", "[", "](", "![x](y)",
        "<p>", "</p>", "<div hidden>", "<a href='javascript:x'>", "<a>", "<img alt>", "<img src=x width=9e9>", "<!--",
        "<table><td>", "<script>", "<svg>", "&#0;", "&nbsp;", "\n\n", "\n", " ", ". ", "? ", "! ", "e.g. ", "z. B. ",
        "bread", "Sourdough starter ", "was eaten ", "However, ", "не только", "今日は。", "ฉันรัก", "नमस्ते", "مرحبا",
        "👨‍👩‍👧", "a\u0301", "\u202e", "\x00", "\ud800", "’", "“", "l'eau ", "how-to ", "Straße ", "İ", "ǅ",  # noqa: RUF001
        "<h2>What is it?</h2>",
    ]
)  # fmt: skip
BODIES = st.lists(PIECES | ANY_TEXT, max_size=30).map("".join)
TAGS = st.sampled_from(["", "en", "de-AT", "fr", "es", "it", "pt_BR", "nl", "ja", "th", "tr", "xx", "!!"]) | ANY_TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["@type", "@context", "@graph", "@id", "author", "image", "mainEntity", "step", "name", "offers"]
            )
            | ANY_TEXT,
            inner
            | st.sampled_from(["BlogPosting", "FAQPage", "HowTo", "Product", "BreadcrumbList", "https://schema.org"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)
ARTICLES = st.builds(
    ScoringArticle,
    body=BODIES,
    format=st.sampled_from(["markdown", "html"]),
    title=ANY_TEXT,
    seo_title=ANY_TEXT,
    description=ANY_TEXT,
    slug=ANY_TEXT,
    url=ANY_TEXT | st.sampled_from(["https://e.com/a", "http://[", "https://e.com:99999/"]),
    language=TAGS,
    keyphrase=ANY_TEXT | st.sampled_from(["sourdough starter", "“bread”", "the", "今日", "l'eau"]),
    synonyms=st.lists(ANY_TEXT, max_size=2).map(tuple),
    secondary_phrases=st.lists(ANY_TEXT, max_size=2).map(tuple),
    canonicals=st.lists(ANY_TEXT, max_size=2).map(tuple),
    robots=st.none() | st.lists(ANY_TEXT, max_size=2).map(tuple),
    authors=st.lists(st.builds(Author, ANY_TEXT, ANY_TEXT), max_size=1).map(tuple),
    published=st.none() | st.dates(),
    modified=st.none() | st.datetimes(),
    featured_image=ANY_TEXT,
    featured_image_alt=st.none() | ANY_TEXT,
    images=st.dictionaries(
        ANY_TEXT | st.just("y"), st.builds(ImageFacts, weight=st.none() | st.integers(0, 10**9)), max_size=2
    ),
    social=st.none()
    | st.dictionaries(st.sampled_from(["og:title", "og:image", "og:image:width"]), ANY_TEXT, max_size=3),
    structured_data=st.none() | st.lists(JSON, max_size=2).map(tuple),
)
WORLDS = st.builds(
    World,
    others=st.none() | st.lists(st.builds(OtherArticle, ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=2).map(tuple),
    link_status=st.none() | st.dictionaries(st.just("/b"), st.builds(LinkStatus, st.integers(0, 999)), max_size=1),
    robots_blocked=st.none() | st.booleans(),
    markdown_twin=st.none() | BODIES,
    llms_txt=st.none() | BODIES,
)


@settings(max_examples=examples(100))
@given(ARTICLES, WORLDS, st.sampled_from(["default", "cornerstone", "news", "product"]))
def test_any_article_gives_a_report(article: ScoringArticle, world: World, profile: str) -> None:
    report = score(article, profile, world=world)
    assert 0 <= report.score <= 100
    assert len(report.checks) == 55
    for result in report.checks:
        assert (result.status == "skipped") == (result.points is None)
        assert result.message
        assert 0 <= result.gain <= 100
        assert len(result.evidence) <= 5
        assert all(len(piece.text) <= 300 for piece in result.evidence)
    json.dumps(report.to_dict())


@settings(max_examples=examples(50))
@given(ARTICLES, st.sampled_from(BUILDABLE))
def test_any_article_gives_structured_data(article: ScoringArticle, type_name: str) -> None:
    built = build_structured_data(article, type_name)
    assert built.json_ld["@type"] == type_name
    json.dumps(built.to_dict())


@settings(max_examples=examples(50))
@given(JSON)
def test_any_document_can_be_validated(document: Any) -> None:
    json.dumps(validate_structured_data(document).to_dict())


@settings(max_examples=examples(50))
@given(BODIES, ANY_TEXT)
def test_any_page_can_be_read_and_validated(html: str, url: str) -> None:
    assert 0 <= score(article_from_page(html, url)).score <= 100
    json.dumps(validate_page(html).to_dict())


@settings(max_examples=examples(50))
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_can_be_previewed(title: str, description: str, url: str) -> None:
    preview = preview_snippet(title * 9, description * 20, url)
    for device in (preview.desktop, preview.mobile):
        for line in (device.title, device.url, device.description):
            assert line.truncated == (line.width > line.limit) or abs(line.width - line.limit) <= 1
            assert line.truncated == bool(line.cut) or not line.truncated


@pytest.mark.parametrize("language", SUPPORTED)
@pytest.mark.parametrize(
    "piece", ["was was ", "a-", "l'", "e.g. ", "1. ", "ge", "not only ", "aeiou", "'", "die wird "]
)
def test_a_text_of_one_repeated_element_gives_a_report(language: str, piece: str) -> None:
    report = score(ScoringArticle(body=piece * 2000, language=language, title="t", keyphrase=piece))
    assert 0 <= report.score <= 100


PARAGRAPH = "The *fox* jumps over the [dog](https://e.com/a). It **never** sleeps, as it is `busy`.\n\n"
BOMBS = {
    "prose": PARAGRAPH,
    "image brackets": "![",
    "link openings": "[a](",
    "emphasis and brackets": "**x [",
    "list": "* a\n",
    "headings": "## what is a?\n\nb.\n",
    "bars": "|a",
    "one hyphenated word": "a-",
    "lone surrogates": "\ud800",
    "ideographs": "文。",
}
TAG_BOMBS = {
    "blocks": "<div>",
    "formatting": "<p><b><i>",
    "mismatched": "<div></span>",
    "items": "<div itemscope itemprop=a>",
}
SIZE = 2_000_000


def _filled(piece: str) -> str:
    return piece * (SIZE // len(piece))


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.timeout(60)
def test_two_megabytes_of_markdown_are_parsed_in_bounded_time(name: str) -> None:
    """The test timeout is the bound: without limits in the code, these take from minutes to days."""
    report = score(ScoringArticle(body=_filled(BOMBS[name]), title="t", keyphrase="fox", language="en"))
    assert 0 <= report.score <= 100


@pytest.mark.parametrize("name", TAG_BOMBS)
@pytest.mark.timeout(60)
def test_two_megabytes_of_html_are_parsed_in_bounded_time(name: str) -> None:
    body = _filled(TAG_BOMBS[name])
    assert 0 <= score(ScoringArticle(body=body, format="html", title="t", language="en")).score <= 100
    validate_page(body)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_deep_nesting_keeps_its_text(form: Literal["markdown", "html"]) -> None:
    article = ScoringArticle(
        body="<div>" * 5000 + "the end is here" + "</div>" * 5000, format=form, published=date(2026, 1, 1)
    )
    assert score(article).words == 4


def test_a_body_that_is_too_long_is_truncated_and_the_report_says_so() -> None:
    report = score(ScoringArticle(body="word " * 200_000, language="en"))
    assert any("left out" in note for note in report.notes)
    assert not any("left out" in note for note in score(ScoringArticle(body="word " * 50_000, language="en")).notes)
