"""Unusual but valid pages: common forms that are not faults."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from .sites import text
from .test_page_checks import (
    CANONICAL,
    DESCRIPTION,
    FAULTS,
    GOOD,
    IMAGE,
    LD,
    TITLE,
    Change,
    Draft,
    all_of,
    also,
    at,
    found,
    head,
    header,
    no_header,
    without,
)

WEB_PAGE = LD + '{"@context": "https://schema.org", "@type": "WebPage", "name": "bees"}</script>'
CHINESE = "蜜蜂采集花蜜并酿成蜂蜜。" * 20
ARABIC = "يجمع النحل رحيق الأزهار ويصنع منه العسل في خلاياه. " * 20


def data(document: object) -> Change:
    """Replace the page's JSON-LD with another document."""
    return without(WEB_PAGE, f"{LD}{json.dumps(document)}</script>")


def in_language(code: str, title: str, description: str, body: str, *, attributes: str = "") -> Change:
    return all_of(
        without('<html lang="en">', f'<html lang="{code}"{attributes}>'),
        without(f"<title>{TITLE}", f"<title>{title}"),
        without(DESCRIPTION, description),
        without(text("/bees"), body),
    )


SOUND: dict[str, Change] = {
    "titles in drawings": also(
        "<svg><title>Menu</title><symbol id=a><title>A</title></symbol>"
        "<g><a href='/wood'><title>The wood</title></a></g></svg>"
    ),
    "policies in the page": all_of(
        no_header("Content-Security-Policy"),
        no_header("Referrer-Policy"),
        header(X_Frame_Options="DENY"),
        head(
            '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">'
            '<meta name="referrer" content="strict-origin">'
        ),
    ),
    "headers that a server and a proxy both send": header(
        X_Content_Type_Options="nosniff, nosniff", Strict_Transport_Security="max-age=31536000, max-age=600"
    ),
    "directives for another search engine": header(X_Robots_Tag="otherbot: noindex, nofollow"),
    "a page for those without scripts": head(
        '<noscript><meta http-equiv="refresh" content="0; url=/plain"></noscript>'
    ),
    "an image that counts": also(
        '<noscript><img height="1" width="1" style="display:none" src="https://count.example/tr?id=1"></noscript>'
        '<img src="https://count.example/p" width=1 height=1><img src="https://count.example/q" hidden>'
    ),
    "an image sized by its style": without(
        IMAGE, '<img src="/image.png" alt="An image" style="width: 100%; aspect-ratio: 16 / 9">'
    ),
    "a link that only doubles another": also(
        '<a href="/wood" aria-hidden="true" tabindex="-1"><img src="/image.png" alt="" width="9" height="9"></a>'
    ),
    "a link named by an element": also('<p id="named">The wood</p><a href="/wood" aria-labelledby="named"></a>'),
    "a link named by two elements": also(
        '<b id="n1">Read</b> <b id="n2">the wood</b><a href="/wood" aria-labelledby="n1 n2"><svg></svg></a>'
    ),
    "a heading that is a drawing": without(
        "<h1>The bees</h1>", '<h1><a href="/" aria-label="The bees"><svg aria-hidden="true"></svg></a></h1>'
    ),
    "Lao in Laos": head(
        '<link rel="alternate" hreflang="lo-LA" href="/lo"><link rel="alternate" hreflang="en" href="/bees">'
        '<link rel="alternate" hreflang="x-default" href="/bees">'
    ),
    "a viewport of its scale": without('content="width=device-width"', 'content="initial-scale=1"'),
    "a plus sign in a name": all_of(
        at("https://www.example.org/c++"),
        without(CANONICAL, '<link rel="canonical" href="https://www.example.org/c++">'),
        without('"og:url" content="https://www.example.org/bees"', '"og:url" content="https://www.example.org/c++"'),
    ),
    "social tags with two names": all_of(
        without('<meta property="og:title"', '<meta name="title" property="og:title"'),
        without('<meta property="og:image"', '<meta name="image" property="og:image"'),
        without('<meta property="og:type"', '<meta name="type" property="og:type"'),
    ),
    "RDFa below its vocabulary": without(
        WEB_PAGE, '<div vocab="https://schema.org/"><p typeof="WebPage"><span property="name">x</span></p></div>'
    ),
    "a graph of one item": data({"@context": "https://schema.org", "@graph": {"@type": "WebPage", "name": "bees"}}),
    "a script of a plugin with nothing to say": also(f"{LD}null</script>{LD}[]</script>"),
    "a script in a comment": without(
        WEB_PAGE, f'{LD}<!-- {{"@context": "https://schema.org", "@type": "WebPage", "name": "x"}} --></script>'
    ),
    "an image that says its URL by another name": without('property="og:image"', 'property="og:image:url"'),
    "a name that begins like an error": without(TITLE, "404 Media and the art of long investigations"),
    "headings that nobody sees yet": also("<h1 hidden>Menu</h1><dialog><h6>Cookies</h6></dialog>"),
    "a document type below an XML declaration": without(
        "<!doctype html>", '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">'
    ),
    "a URL in letters": all_of(
        at("https://www.example.org/%E8%9C%82"),
        without(CANONICAL, '<link rel="canonical" href="https://www.example.org/蜂">'),
        without('"og:url" content="https://www.example.org/bees"', '"og:url" content="https://www.example.org/蜂"'),
    ),
    "a URL whose letters are long only when they are escaped": all_of(
        at("https://www.example.org/" + quote("蜜蜂怎样采集花蜜并在蜂巢里酿成蜂蜜")),
        without(CANONICAL, '<link rel="canonical" href="https://www.example.org/蜜蜂怎样采集花蜜并在蜂巢里酿成蜂蜜">'),
        without(
            '"og:url" content="https://www.example.org/bees"',
            '"og:url" content="https://www.example.org/蜜蜂怎样采集花蜜并在蜂巢里酿成蜂蜜"',
        ),
    ),
    "a graph that says more of an item elsewhere": data(
        {"@context": "https://schema.org", "@graph": [{"@type": "WebPage", "@id": "#p"}, {"@id": "#p", "name": "x"}]}
    ),
    "a text about filling texts": also("<p>Printers set a lorem ipsum where the text was not there yet.</p>"),
    "an image for those without scripts": also("<noscript><img src='/image.png'></noscript>"),
    "a link that is a button": also('<a href="javascript:void(0)" role="button">Menu</a>'),
    "a link to the home page in German": all_of(
        without('<html lang="en">', '<html lang="de-AT">'), also('<a href="/">Start</a>')
    ),
    "Chinese": in_language(
        "zh-Hans",
        "蜜蜂的生活与蜂蜜的酿造方法",
        "本文介绍蜜蜂怎样采集花蜜，怎样在蜂巢里酿成蜂蜜，以及养蜂人怎样收获蜂蜜并照顾蜂群过冬。",  # noqa: RUF001
        CHINESE,
    ),
    "Arabic": in_language(
        "ar",
        "حياة النحل وكيف يصنع العسل في الخلية",
        "تعرّف على حياة النحل: كيف يجمع الرحيق من الأزهار، وكيف يصنع العسل، وكيف يعتني مربو النحل بخلاياهم في الشتاء.",
        ARABIC,
        attributes=' dir="rtl"',
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_valid_pages_have_no_findings(name: str) -> None:
    assert found(SOUND[name](GOOD)) == set()


def test_json_ld_that_is_too_long_to_parse_is_not_reported_as_broken() -> None:
    catalogue = {"@context": "https://schema.org", "@type": "WebPage", "name": "bees", "keywords": "honey, " * 80_000}
    assert found(data(catalogue)(GOOD)) == {"page_heavy"}


FOUND_STILL: dict[str, tuple[str, Change]] = {
    "frames of everybody": (
        "framing_allowed",
        header(Content_Security_Policy="default-src 'self'; frame-ancestors *", X_Frame_Options="DENY"),
    ),
    "an error page": ("soft_404", without(TITLE, "404 | My blog of bees and other animals")),
    "an error page in words": ("soft_404", without(TITLE, "Error 404 not found on this server")),
    "a second title in the body": ("title_multiple", also("<title>Another title that is wide enough</title>")),
    "an image without alt that people see": ("image_alt_missing", also('<img src="/b.png" width="1" height="90">')),
    "a hidden title of a hidden link": ("link_without_text", also('<a href="/wood" aria-hidden="false"></a>')),
    "directives for all after those for one": (
        "noindex",
        header(X_Robots_Tag="otherbot: nofollow, googlebot: nofollow, noindex"),
    ),
    "directives for all with a date": (
        "noindex",
        header(X_Robots_Tag="unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"),
    ),
    "a region for a continent": (
        "hreflang_invalid",
        head('<link rel="alternate" hreflang="es-LA" href="/la"><link rel="alternate" hreflang="en" href="/bees">'),
    ),
    "a page that leads elsewhere": ("meta_refresh", head('<meta http-equiv="Refresh" content="0; url=/plain">')),
    "sniffing that is allowed": ("nosniff_missing", header(X_Content_Type_Options="none")),
    "a snippet of no length": ("nosnippet", head('<meta name="robots" content="max-snippet : 0">')),
    "a vague link in German": (
        "link_text_generic",
        all_of(without('<html lang="en">', '<html lang="de-AT">'), also('<a href="/clay">Weiterlesen …</a>')),
    ),
    "a vague link in a page without a language": (
        "link_text_generic",
        all_of(without('<html lang="en">', "<html>"), also('<a href="/clay">ici</a>')),
    ),
    "a style that sizes nothing": (
        "image_without_size",
        without(IMAGE, '<img src="/image.png" alt="An image" style="max-height: 9em; height: auto">'),
    ),
}


@pytest.mark.parametrize("name", FOUND_STILL)
def test_lookalikes_are_detected(name: str) -> None:
    check_id, change = FOUND_STILL[name]
    assert check_id in found(change(GOOD))


def test_header_lines_of_several_crawlers_do_not_mix() -> None:
    lines = (("x-robots-tag", "otherbot: noindex, nofollow"), ("x-robots-tag", "max-snippet:20"))
    record = replace_headers(GOOD, *lines).read()
    assert record.robots == {"max-snippet:20"}
    lines = (("x-robots-tag", "otherbot: nofollow"), ("x-robots-tag", "noindex"))
    assert replace_headers(GOOD, *lines).read().robots == {"noindex"}


def replace_headers(draft: Draft, *lines: tuple[str, str]) -> Draft:
    return replace(draft, more=lines)


def test_the_faults_tested_here_are_those_of_the_checks() -> None:
    assert {check_id for check_id, _ in FOUND_STILL.values()} <= FAULTS.keys()
