"""Validation of structured data: JSON-LD and microdata."""

from __future__ import annotations

from typing import Any

import pytest
from pressroom_seo.scoring import (
    validate_page,
    validate_structured_data,
)
from pressroom_seo.structured_data.extraction import crawled_structured_data
from selectolax.lexbor import LexborHTMLParser

CONTEXT = {"@context": "https://schema.org"}


def problems(node: dict[str, Any]) -> tuple[list[str], list[str]]:
    result = validate_structured_data({**CONTEXT, **node})
    return [problem.path for problem in result.errors], [problem.path for problem in result.warnings]


PRODUCT: dict[str, Any] = {
    "@type": "Product",
    "name": "Jar",
    "image": "https://e.com/i.png",
    "description": "d",
    "brand": "b",
}


@pytest.mark.parametrize(
    ("node", "errors", "warnings"),
    [
        ({"@type": "FAQPage"}, ["FAQPage.mainEntity"], ["FAQPage"]),
        (
            {
                "@type": "FAQPage",
                "mainEntity": [{"@type": "Question", "name": "Why?", "acceptedAnswer": {"@type": "Answer"}}],
            },
            ["FAQPage.mainEntity.acceptedAnswer.text"],
            ["FAQPage"],
        ),
        (
            {"@type": "Product", "name": "Jar"},
            ["Product"],
            ["Product.image", "Product.description", "Product.brand", "Product.offers"],
        ),
        (
            {
                "@type": "Product",
                "name": "Jar",
                "image": "https://e.com/i.png",
                "description": "d",
                "brand": "b",
                "offers": {"price": "1,5"},
            },
            ["Product.offers.price"],
            ["Product.offers.priceCurrency", "Product.offers.availability"],
        ),
        (
            {
                "@type": "VideoObject",
                "name": "v",
                "thumbnailUrl": "/t.png",
                "uploadDate": "2026-13-01",
                "description": "d",
                "contentUrl": "https://e.com/v",
                "duration": "20 min",
            },
            ["VideoObject.thumbnailUrl", "VideoObject.uploadDate", "VideoObject.duration"],
            [],
        ),
        (
            {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "position": 1, "name": "a"}]},
            ["BreadcrumbList.itemListElement"],
            [],
        ),
        (
            {
                "@type": "BreadcrumbList",
                "itemListElement": [{"position": 1, "name": "a"}, {"position": 3, "name": "b"}],
            },
            ["BreadcrumbList.itemListElement[0]", "BreadcrumbList.itemListElement[1]"],
            [],
        ),
        (
            {"@type": "Event", "name": "e", "startDate": "2026-05-01T10:00:00Z", "location": {}},
            ["Event.location"],
            [
                "Event.description",
                "Event.endDate",
                "Event.eventStatus",
                "Event.image",
                "Event.offers",
                "Event.organizer",
                "Event.performer",
                "Event.location.name",
            ],
        ),
        (
            {"@type": "Organization", "name": "o", "url": "https://e.com", "logo": {"@type": "ImageObject"}},
            ["Organization.logo"],
            [],
        ),
        ({"@type": "Unheard", "datePublished": "soon"}, ["Unheard.datePublished"], []),
        (
            {**PRODUCT, "offers": {"@type": "AggregateOffer", "lowPrice": 3, "highPrice": 5, "offerCount": 2}},
            ["Product.offers.priceCurrency"],
            [],
        ),
        (
            {**PRODUCT, "offers": {"@type": "Offer", "lowPrice": 3, "availability": "https://schema.org/InStock"}},
            ["Product.offers"],
            ["Product.offers.priceCurrency"],
        ),
        (
            {
                **PRODUCT,
                "offers": {
                    "@type": "Offer",
                    "priceSpecification": {"price": 3, "priceCurrency": "EUR"},
                    "availability": "https://schema.org/InStock",
                },
            },
            [],
            [],
        ),
        (
            {
                "@type": "VideoObject",
                "name": "v",
                "thumbnailUrl": "https://e.com/t.png",
                "uploadDate": "2026-01-01",
                "description": "d",
                "embedUrl": "https://e.com/v",
                "duration": "PT20M",
            },
            [],
            [],
        ),
        (
            {
                "@type": "JobPosting",
                "title": "Baker",
                "description": "Bakes.",
                "datePosted": "2026-01-01",
                "hiringOrganization": {"@type": "Organization", "name": "Bakery"},
                "jobLocation": {
                    "@type": "Place",
                    "address": {"@type": "PostalAddress", "streetAddress": "1 Mill Lane"},
                },
                "baseSalary": 1,
                "directApply": True,
                "employmentType": "FULL_TIME",
                "validThrough": "2026-02-01",
                "identifier": "j1",
            },
            ["JobPosting.jobLocation.address.addressCountry"],
            [],
        ),
    ],
)
def test_faults_are_reported_with_their_location(node: dict[str, Any], errors: list[str], warnings: list[str]) -> None:
    assert problems(node) == (errors, warnings)


def test_references_inside_a_graph_are_followed() -> None:
    graph = {
        **CONTEXT,
        "@graph": [
            {"@type": "Person", "@id": "#ada", "name": "Ada", "url": "https://e.com/ada"},
            {
                "@type": ["Article", "Thing"],
                "headline": "H",
                "image": "https://e.com/i",
                "author": {"@id": "#ada"},
                "datePublished": "2026-01-01",
                "dateModified": "2026-01-01",
            },
        ],
    }
    result = validate_structured_data(graph)
    assert [item.type for item in result.items] == ["Person", "Article"]
    assert result.errors == ()
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not JSON"),
        ({"@type": "Article"}, "@context is missing"),
        ({"@context": "https://other.org", "@type": "Article"}, "not schema.org"),
        ({**CONTEXT, "headline": "x"}, "no @type"),
        ([3], "must be an object"),
    ],
)
def test_invalid_documents_are_errors(document: object, message: str) -> None:
    assert any(message in error.message for error in validate_structured_data(document).errors)


def test_a_long_headline_and_dates_in_the_wrong_order_are_warnings() -> None:
    node = {
        "@type": "Article",
        "headline": "x" * 111,
        "image": "https://e.com/i",
        "author": {"name": "A", "url": "https://e.com"},
        "datePublished": "2026-02-01",
        "dateModified": "2026-01-01",
    }
    assert problems(node) == ([], ["Article.headline", "Article.dateModified"])


MICRODATA = """
<article itemscope itemtype="https://schema.org/BlogPosting">
  <h1 itemprop="headline name">Bread</h1>
  <img itemprop="image" src="https://e.com/i.png">
  <div itemprop="author" itemscope itemtype="https://schema.org/Person">
    <a itemprop="url" href="https://e.com/ada"><span itemprop="name">Ada</span></a></div>
  <time itemprop="datePublished" datetime="2026-01-01">New Year</time>
  <meta itemprop="dateModified" content="tomorrow">
</article>
"""


def test_microdata_is_read_like_json_ld() -> None:
    result = validate_page(MICRODATA)
    (item,) = result.items
    assert (item.type, item.format, item.supported) == ("BlogPosting", "microdata", True)
    assert [error.path for error in result.errors] == ["BlogPosting.dateModified"]
    assert result.warnings == ()


@pytest.mark.parametrize("base", ["", '<base href="/docs/">', '<base href="https://cdn.example/">'])
def test_relative_urls_of_microdata_are_resolved(base: str) -> None:
    html = f"{base}{MICRODATA}".replace('"https://e.com/i.png"', '"i.png"').replace("tomorrow", "2026-01-02")
    assert validate_page(html, "https://e.com/bread").errors == ()


def test_json_ld_that_search_engines_read_has_no_errors() -> None:
    commented = '<!-- {"@context": "https://schema.org", "@type": "Person", "name": "Ada", "url": "https://e.com/"} -->'
    broken_line = commented[4:-3].replace("Ada", "Ada\nLovelace")
    graph = '{"@context": "https://schema.org", "@graph": [{"@id": "#ada", "name": "Ada"}]}'
    for script in (commented, broken_line, graph):
        html = f'<script type="application/ld+json">{script}</script>'
        assert validate_page(html).errors == ()
        assert [item.problem for item in crawled_structured_data(LexborHTMLParser(html))] == [""]


def test_broken_scripts_and_pages_without_data_are_reported() -> None:
    broken = validate_page("<script type='application/ld+json'>{</script>")
    assert broken.errors[0].path == "script 1"
    modules = "<script type='module'></script>" * 200
    among = validate_page(f"{modules}<script type='application/ld+json; charset=utf-8'>{{</script>")
    assert [error.path for error in among.errors] == ["script 1"]
    assert "no structured data" in validate_page("<p>x</p>").warnings[0].message
