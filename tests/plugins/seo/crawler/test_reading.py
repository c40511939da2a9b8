"""Parsing pages, encodings, sitemaps, robots.txt and llms.txt, whatever they contain."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pressroom_seo.crawler.frontier import Frontier, Limits
from pressroom_seo.crawler.records import PageRecord, page_from_json, to_json
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.site_files import read_llms_txt, read_sitemap
from pressroom_seo.document.decoding import decode, prescan, unpack
from pressroom_seo.document.facts import read_page
from pressroom_seo.document.markup import MAX_ATTRIBUTES
from pressroom_seo.document.model import NEAR, distance, near_pairs, simhash, words_of
from pressroom_seo.site_checks.model import issues_of
from pressroom_seo.site_checks.report import OF_PAGES
from pressroom_seo.urls import SiteScope, normalise
from support.sizes import examples

from .sites import text

URL = "https://www.example.org/a/b"
PIECES = """
<html <head> <body> <title> </title> <a href='x'> <a href=//[> </a> <img <meta charset=utf-16> <base
href='//x'> <h1> </h2> <script> </script> <!-- --> <svg> <table> <select> <template> <p> &amp; &#0; <![CDATA[
]]> > < = " ' itemscope itemtype=x <link rel=canonical href=/> <meta name=robots content=noindex> <script
type=application/ld+json> {"@type":[1]} [] </style> <plaintext> <frameset> <meta http-equiv=refresh
content="0;url=/z">
"""
MARKUP = st.lists(
    st.sampled_from([*PIECES.split(), "\0", "\ud800", "\u00e9", " "]) | st.text(max_size=8), max_size=40
).map(" ".join)


@given(MARKUP)
@settings(max_examples=examples(150))
def test_any_markup_is_read(html: str) -> None:
    content = html.encode("utf-8", "surrogatepass")
    facts = read_page(content, "text/html", URL)
    record = PageRecord(URL, 0, 200, page=facts)
    assert page_from_json(to_json(record)) == record
    list(issues_of(OF_PAGES, record))
    for link in facts.links:
        assert normalise(link.url) == link.url


@given(st.binary(max_size=400), st.text(max_size=40))
@example(b"<meta charset", "")
@example(b"<meta charset=utf-8 charset=koi8-r>", "text/html; charset")
@example(b"\xff\xfe", "")
def test_any_bytes_are_decoded(content: bytes, content_type: str) -> None:
    decoded = decode(content, content_type)
    assert decoded.encoding
    assert decoded.damaged >= 0
    read_page(content, content_type, URL)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\ufffd\ufeff"), max_size=200))
def test_utf_8_is_read_as_it_is_written(written: str) -> None:
    decoded = decode(written.encode(), "text/html; charset=UTF-8")
    assert (decoded.text, decoded.damaged, decoded.encoding) == (written, 0, "utf-8")


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CharSet = ' KOI8-R '>", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html;charset=big5'>", "big5"),
        (b'<meta content=\'text/html; charset="euc-kr"\' http-equiv="Content-Type">', "euc-kr"),
        (b"<meta content='text/html; charset=big5'>", ""),
        (b"<!-- <meta charset=big5> --><meta charset=koi8-r>", "koi8-r"),
        (b"<a title='<meta charset=big5>'><meta charset=koi8-r>", "koi8-r"),
        (b"<meta name=a><meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=nonsense><meta charset=big5>", "big5"),
        (b"<metacharset=big5>", ""),
        (b" " * 1100 + b"<meta charset=big5>", ""),
        (b"<!doctype html><?xml?></p ><meta/charset=big5>", "big5"),
    ],
)
def test_the_document_declares_its_encoding(head: bytes, encoding: str) -> None:
    assert prescan(head) == encoding


def test_encodings_are_detected_in_the_order_of_the_standard() -> None:
    koi = b"<meta charset=koi8-r>"
    assert decode(b"\xef\xbb\xbf" + koi, "text/html; charset=big5").source == "bom"
    assert decode(koi, 'text/html; charset="big5"').encoding == "big5"
    assert decode(koi, "text/html").source == "meta"
    assert decode(b"x", "text/html").source == "guess"


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "identity", "br", "gzip, gzip", ""]))
def test_unpacking_never_makes_more_than_asked(content: bytes, coding: str) -> None:
    for packed in (content, gzip.compress(content * 50)):
        assert len(unpack(packed, coding, 200).content) <= 200


@given(st.binary(max_size=300))
def test_what_was_packed_is_unpacked(content: bytes) -> None:
    assert unpack(gzip.compress(content), "gzip", 1000).content == content


@pytest.mark.parametrize("codings", ["gzip", "gzip, gzip"])
def test_content_that_ends_too_early_is_incomplete(codings: str) -> None:
    packed = gzip.compress(b"some words " * 50)
    packed = gzip.compress(packed[:-12]) if codings == "gzip, gzip" else packed[:-12]
    unpacked = unpack(packed, codings, 1000)
    assert unpacked.content.startswith(b"some words ")
    assert (unpacked.whole, unpacked.problem) == (False, "the compressed content ends too early")
    assert not unpack(gzip.compress(b"a")[:-1], "gzip", 1000, whole=False).problem, "it was cut here"
    assert unpack(b"", "gzip", 1000).whole, "such as the response to HEAD"


def test_content_that_is_cut_in_between_is_incomplete() -> None:
    stored = gzip.compress(bytes(200), 0)  # longer than what it holds
    assert not unpack(gzip.compress(stored), "gzip, gzip", len(stored) - 8).whole


SITEMAP = "https://www.example.org/sitemap"
ROWS = [f"https://www.example.org/{at}" for at in range(500)]
XML = "".join(["<urlset>", *(f"<url><loc>{row}</loc></url>" for row in ROWS)]).encode()


@pytest.mark.parametrize("content", [XML, "\n".join(ROWS).encode()], ids=["xml", "text"])
def test_a_truncated_sitemap_keeps_what_arrived(content: bytes) -> None:
    damaged = read_sitemap(SITEMAP, gzip.compress(content)[:-40])
    assert 0 < len(damaged.entries) < 500
    assert (damaged.problem, damaged.too_large) == ("the compressed content ends too early", False)
    truncated = read_sitemap(SITEMAP, content[:-5], whole=False)
    assert [entry.url for entry in truncated.entries] == ROWS[:-1]
    assert (truncated.problem, truncated.too_large) == ("", True)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda part: f"<urlset><url><loc>{part}".encode()))
@example(b"\x1f\x8b\x08\x00")
@example(b"\xff\xfe<\x00u\x00")
@example(b'<?xml version="1.0" encoding="nonsense"?><urlset/>')
def test_any_sitemap_is_read(content: bytes) -> None:
    sitemap = read_sitemap("https://www.example.org/sitemap.xml", content)
    assert sitemap.problem or sitemap.kind != "unknown"


def test_a_sitemap_that_ends_early_keeps_what_it_has() -> None:
    content = b"<urlset><url><loc> /a </loc><lastmod>2026-01-01</lastmod></url><url><loc>/b</loc></url><url><lo"
    sitemap = read_sitemap("https://www.example.org/sitemap.xml", content)
    assert [entry.url for entry in sitemap.entries] == ["https://www.example.org/a", "https://www.example.org/b"]
    assert "well-formed" in sitemap.problem


def test_a_sitemap_in_another_namespace_is_distinguished_from_another_document() -> None:
    other = read_sitemap(SITEMAP, b'<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9"></urlset>')
    assert other.problem == "its namespace is not http://www.sitemaps.org/schemas/sitemap/0.9"
    assert read_sitemap(SITEMAP, b"<rss></rss>").problem == "its root element is neither urlset nor sitemapindex"


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["User-agent: *", "Disallow: /*a*$", "Crawl-delay: x", ":"])).map("\n".join)
)
def test_any_robots_txt_is_read(content: str) -> None:
    robots = Robots.read(200, content.encode("utf-8", "surrogatepass"))
    robots.allows(URL)
    robots.problems()
    assert robots.crawl_delay >= 0
    assert len(robots.sitemaps) <= 100


def test_lines_of_robots_txt_that_crawlers_understand_are_not_problems() -> None:
    robots = Robots.read(200, b"Useragent: *\nDissallow: /a\nDisallow /b\nSite-map: /map.xml\nNo entry: /c\n")
    assert [robots.allows(f"https://www.example.org/{path}") for path in "abc"] == [False, False, True]
    assert robots.problems() == ["line 5: No entry: /c"]
    early = Robots.read(200, b"Dissallow: /a\nUser agent: *\nDisallow: /b\n")
    assert early.problems() == ["line 1: Dissallow: /a comes before any user-agent"]


def test_robots_rules_with_slow_patterns() -> None:
    robots = Robots.read(200, b"User-agent: *\nDisallow: /" + b"*a" * 500 + b"b$\n")
    assert robots.allows(f"https://www.example.org/{'a' * 2000}")


@given(st.text(max_size=300))
@example(f"# a\n## b\n- [c](<{'d' * 200_000}")
def test_any_llms_txt_is_read(content: str) -> None:
    read_llms_txt(content.encode("utf-8", "surrogatepass"), "https://www.example.org/llms.txt")


def test_an_llms_txt_by_its_convention() -> None:
    content = (
        "# Site\n\n> A summary\n> in two lines.\n\nText.\n\n## Docs\n\n- [One](/one.md): first\n- no link\n\n"
        "## Optional\n* [Two](https://other.example.net/)\n"
    )
    llms = read_llms_txt(content.encode(), "https://www.example.org/llms.txt")
    assert (llms.title, llms.summary, llms.sections) == ("Site", "A summary in two lines.", ("Docs", "Optional"))
    assert [(entry.title, entry.url, entry.note) for entry in llms.entries] == [
        ("One", "https://www.example.org/one.md", "first"),
        ("Two", "https://other.example.net/", ""),
    ]
    assert llms.problems == ("line 11: no link of the form - [title](url): note",)


def facts_of(html: str) -> Any:
    return read_page(html.encode(), "text/html", URL)


def test_structured_data_of_every_kind() -> None:
    nested = '{"@type": "Article", "@context": ' + "[" * 900 + "]" * 900 + "}"
    scripts = (
        '{"@context": "http://schema.org", "@graph": [{"@type": "Organization", "name": "A", "url": "/"}, 3]}',
        '[{"@context": {"@vocab": "https://schema.org/"}, "@type": ["Recipe", "Thing"], "name": "B"}, 7]',
        '{"@type": "Product", "name": "C"}',
        '{"@context": "https://schema.org"}',
        "",
        nested,
    )
    html = "".join(f'<script type="Application/LD+JSON">{script}</script>' for script in scripts)
    facts = facts_of(html + '<div itemscope itemtype="https://schema.org/Person"></div><p vocab="x" typeof="Event">')
    assert [(item.types, bool(item.problem), item.missing) for item in facts.structured] == [
        (("Organization",), False, ()),
        (("Recipe", "Thing"), False, ("image",)),
        ((), True, ()),
        (("Product",), True, ()),
        ((), True, ()),
        ((), True, ()),
        (("Article",), True, ("headline", "image", "datePublished", "author")),
        (("Person",), False, ()),
        (("Event",), False, ()),
    ]


def test_a_truncated_page_has_no_damaged_characters() -> None:
    content = "<title>é</title>".encode() + "é".encode() * 2_100_000
    facts = read_page(content, "text/html; charset=utf-8", URL)
    assert (facts.cut, facts.damaged) == (True, 0)


def test_links_are_resolved_against_the_base() -> None:
    facts = facts_of("<base href='/docs/'><a href=x>X</a><a href='#y'>Y</a><a href=' /z '><img alt=Zed src=z></a>")
    assert [(link.url, link.text) for link in facts.links] == [
        ("https://www.example.org/docs/x", "X"),
        ("https://www.example.org/z", "Zed"),
    ]


def test_formatting_and_attributes_do_not_change_the_text() -> None:
    assert facts_of("<h1>One<b>two</b> <EM class=x>three</EM></h1>").headings == ((1, "Onetwo three"),)
    many = " ".join(f"a{number}" for number in range(MAX_ATTRIBUTES + 1))
    assert facts_of(f"<title {many}>A</title><h1>B</h1>").headings == ((1, "B"),)
    few = " ".join(f"a{number}" for number in range(MAX_ATTRIBUTES - 10))
    assert facts_of(f"<title {few}>A</title>").titles == ("A",)


def test_an_image_that_loads_late_has_its_own_url() -> None:
    facts = facts_of("<img src='data:image/gif;base64,R0' data-src='/a.jpg'><img src='/b.jpg' data-src='/c.jpg'>")
    assert [image.url.rpartition("/")[2] for image in facts.images] == ["a.jpg", "b.jpg"]


def test_a_decorative_image_needs_no_alt_text() -> None:
    facts = facts_of("<img src=a alt><img src=b role=presentation><img src=c><img src='data:x' alt='d'>")
    assert [image.alt for image in facts.images] == ["", "", None, "d"]


def test_only_the_main_text_is_compared() -> None:
    first = facts_of(f"<nav>One menu</nav><main>{text('m')}</main>")
    second = facts_of(f"<nav>Another menu</nav><main>{text('m')}</main><footer>2026</footer>")
    assert first.text_hash == second.text_hash
    assert first.words == 150


# Similarity


def test_fingerprints_of_similar_texts_are_close() -> None:
    first, other = text("a", 400), text("b", 400)
    changed = first.replace("river", "stream", 2)
    assert distance(simhash(words_of(first)), simhash(words_of(changed))) <= NEAR
    assert distance(simhash(words_of(first)), simhash(words_of(other))) > NEAR
    assert simhash(words_of("too short")) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("안녕하세요 세계 여러분", 3),
        ("किताब पढ़ना बहुत अच्छा है", 5),
        ("كِتَابٌ جَمِيلٌ", 2),
        ("שָׁלוֹם עולם", 2),
        ("ภาษาไทยเป็นภาษาที่สวยงาม", 6),
        ("今天天气很好", 3),
        ("Donau\u00addampf cafe\u0301", 2),
        ("Don't stop", 2),
    ],
)
def test_the_words_of_a_page_are_counted_in_every_script(text: str, words: int) -> None:
    assert facts_of(f"<p>{text}</p>").words == words


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 2**64 - 1), max_size=30), st.integers(0, 7))
def test_near_pairs_are_all_that_there_are(fingerprints: dict[str, int], most: int) -> None:
    names = [name for name, fingerprint in fingerprints.items() if fingerprint]
    expected = {
        frozenset((one, other))
        for at, one in enumerate(names)
        for other in names[at + 1 :]
        if distance(fingerprints[one], fingerprints[other]) <= most
    }
    assert {frozenset(pair) for pair in near_pairs(fingerprints, most)} == expected


# The frontier

SITE = SiteScope.at("https://www.example.org/")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 30) | st.none()), max_size=30), st.integers(0, 10))
def test_a_frontier_goes_on_where_it_was(found: list[tuple[str, int | None]], taken: int) -> None:
    limits = Limits(100)
    frontier = Frontier(SITE, limits)
    for path, depth in found:
        frontier.add(f"https://www.example.org/{path}", depth)
    done: set[str] = set()
    for _ in range(taken):
        item = frontier.take()
        if item is None:
            break
        if len(done) % 2:
            frontier.done(item, "form")
        done.add(item.url)
    under_way = set(frontier._under_way)
    again = Frontier.from_state(SITE, limits, frontier.state())
    left = set()
    while (item := again.take()) is not None:
        assert item.url not in left
        left.add(item.url)
        again.done(item)
    everything = {f"https://www.example.org/{path}" for path, depth in found if depth is None or depth <= 25}
    refused_first = {url for url in everything if url not in frontier._depths}
    assert left == everything - refused_first - (done - under_way)


def test_a_link_moves_a_url_of_the_sitemap_forward() -> None:
    frontier = Frontier(SITE, Limits(10))
    for path in ("a", "b"):
        frontier.add(f"https://www.example.org/{path}", None)
    frontier.add("https://www.example.org/c", 2)
    assert not frontier.add("https://www.example.org/b", 1, "https://www.example.org/")
    items = []
    while (item := frontier.take()) is not None:
        items.append((item.url[-1], item.depth))
        frontier.done(item)
    assert items == [("c", 2), ("b", 1), ("a", None)]


def test_a_frontier_is_bounded() -> None:
    frontier = Frontier(SITE, Limits(10, known=3))
    accepted = [frontier.add(f"https://www.example.org/{name}", 0) for name in "abcde"]
    assert accepted == [True, True, True, False, False]
    assert frontier.refused["full"] == (2, ("https://www.example.org/d", "https://www.example.org/e"))
    with pytest.raises(ValueError, match="version"):
        Frontier.from_state(SITE, Limits(10), {"version": 7})
