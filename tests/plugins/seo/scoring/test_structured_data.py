"""Generating and validating structured data."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from pressroom.sdk import InvalidInput
from pressroom_seo.scoring import (
    BUILDABLE,
    Author,
    ScoringArticle,
    article_from_page,
    build_structured_data,
    score,
    validate_page,
    validate_structured_data,
)
from pressroom_seo.structured_data.extraction import crawled_structured_data
from selectolax.lexbor import LexborHTMLParser
from support.seo_articles import GOOD, with_changes

CONTEXT = {"@context": "https://schema.org"}


def problems(node: dict[str, Any]) -> tuple[list[str], list[str]]:
    result = validate_structured_data({**CONTEXT, **node})
    return [problem.path for problem in result.errors], [problem.path for problem in result.warnings]


@pytest.mark.parametrize("type_name", ["BlogPosting", "Article", "NewsArticle"])
def test_an_article_is_built_completely(type_name: str) -> None:
    article = with_changes(site_name="Bread", site_logo="https://example.com/logo.png")
    result = build_structured_data(article, type_name)
    assert result.missing == ()
    assert result.warnings == ()
    data = result.json_ld
    assert data["@type"] == type_name
    assert data["headline"] == GOOD.title
    assert data["datePublished"] == "2026-01-05"
    assert data["author"] == [{"@type": "Person", "name": "Ada Baker", "url": "https://example.com/ada"}]
    assert data["image"] == ["https://example.com/img/starter-jar.webp"]
    assert data["publisher"]["logo"]["url"] == "https://example.com/logo.png"
    assert validate_structured_data(data).errors == ()


def test_missing_parts_of_an_article_are_left_out_and_named() -> None:
    result = build_structured_data(ScoringArticle(body="Text", title="T"))
    assert result.missing == ("image", "datePublished", "dateModified", "author")
    assert "author" not in result.json_ld
    assert len(result.warnings) == 4


def test_generated_data_passes_the_check() -> None:
    structured_data = build_structured_data(with_changes(published=datetime(2026, 1, 1, 8, tzinfo=UTC)))
    article = with_changes(structured_data=(structured_data.json_ld,))
    (result,) = score(article, checks=["structured_data"]).checks
    assert result.status == "good"


def test_faq_entries_come_from_the_headings() -> None:
    result = build_structured_data(GOOD, "FAQPage")
    questions = result.json_ld["mainEntity"]
    assert [question["name"] for question in questions] == [
        "What is a sourdough starter?",
        "When is it ready to bake with?",
    ]
    assert questions[1]["acceptedAnswer"]["text"].startswith("Drop a spoonful into a glass of water.")
    assert result.missing == ()
    assert "health and government" in result.warnings[-1]
    assert build_structured_data(ScoringArticle(body="Text"), "FAQPage").missing == ("mainEntity",)


def test_greek_questions_end_with_a_semicolon() -> None:
    article = ScoringArticle(body="## Τι είναι;\n\nΨωμί.", language="el")  # noqa: RUF001
    assert [question["name"] for question in build_structured_data(article, "FAQPage").json_ld["mainEntity"]] == [
        "Τι είναι;"  # noqa: RUF001
    ]


def test_a_question_without_text_is_reported() -> None:
    result = build_structured_data(ScoringArticle(body="## Why?\n\n## How?\n\nSo."), "FAQPage")
    assert result.missing == ("mainEntity.acceptedAnswer",)


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("## Step 1: Mix\n\nMix it.\n\n## Step 2: Bake\n\nBake it.", ["Mix it.", "Bake it."]),
        ("## Schritt 1: Kneten\n\nKneten.\n\n## Schritt 2: Backen\n\nBacken.", ["Kneten.", "Backen."]),
        ("1. Mix\n2. Rest\n3. Bake\n\nText\n\n- a\n- b", ["Mix", "Rest", "Bake"]),
    ],
)
def test_steps_come_from_numbered_headings_or_the_longest_list(body: str, steps: list[str]) -> None:
    result = build_structured_data(ScoringArticle(body=body, title="Bread"), "HowTo")
    assert [step["text"] for step in result.json_ld["step"]] == steps
    assert result.missing == ()


def test_a_breadcrumb_comes_from_the_url_or_the_given_one() -> None:
    trail = build_structured_data(GOOD, "BreadcrumbList").json_ld["itemListElement"]
    assert [(crumb["position"], crumb["name"], crumb["item"]) for crumb in trail] == [
        (1, "example.com", "https://example.com/"),
        (2, "Blog", "https://example.com/blog"),
        (3, GOOD.title, GOOD.url),
    ]
    explicit = build_structured_data(with_changes(breadcrumbs=(("Home", "https://e.com/"),)), "BreadcrumbList")
    assert [crumb["name"] for crumb in explicit.json_ld["itemListElement"]] == ["Home", GOOD.title]
    assert build_structured_data(ScoringArticle(body="x", title="T"), "BreadcrumbList").missing == ("itemListElement",)


def test_another_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match=", ".join(BUILDABLE)):
        build_structured_data(GOOD, "Recipe")


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


PAGE = f"""<!doctype html><html lang="en-GB"><head><title>Bread | Site</title>
<meta name="description" content="About bread."><meta name="robots" content="noindex, follow">
<link rel="canonical" href="https://e.com/bread"><meta property="og:title" content="Bread">
<meta property="og:image" content="/i.png"><meta name="author" content="Ada">
<script type="application/ld+json">{json.dumps({**CONTEXT, "@type": "BlogPosting", "headline": "Bread"})}</script>
</head><body><nav>Menu</nav><main><article><h1>Bread</h1><p>Text of the article.</p></article></main>
<footer>Footer</footer></body></html>"""


def test_the_article_of_a_page_is_extracted() -> None:
    article = article_from_page(PAGE, "https://e.com/bread", keyphrase="bread")
    assert article.seo_title == "Bread | Site"
    assert article.title == "Bread"
    assert article.description == "About bread."
    assert article.language == "en-GB"
    assert article.robots == ("noindex, follow",)
    assert article.canonicals == ("https://e.com/bread",)
    assert article.social == {"og:title": "Bread", "og:image": "https://e.com/i.png"}
    assert article.authors == (Author("Ada"),)
    report = score(article)
    statuses = {result.id: result.status for result in report.checks}
    assert report.words == 5
    assert statuses["indexable"] == "bad"
    assert statuses["structured_data"] == "ok"
    assert statuses["single_h1"] == "good"


def test_noindex_can_be_in_a_header() -> None:
    article = article_from_page("<p>x</p>", robots_header="noindex")
    assert article.robots == ("noindex",)
    assert article.published is None or isinstance(article.published, date)


ADA = {"@type": "Person", "@id": "https://e.com/#ada", "name": "Ada Lovelace"}
DATES = {"datePublished": "2026-01-02T03:04:05+00:00", "dateModified": "2026-02-03"}


@pytest.mark.parametrize(
    "document",
    [
        {**CONTEXT, "@type": "BlogPosting", "author": {"@type": "Person", "name": "Ada Lovelace"}, **DATES},
        {**CONTEXT, "@graph": [{"@type": ["Article"], "author": {"@id": ADA["@id"]}, **DATES}, ADA]},
        [{**CONTEXT, "@type": "WebSite"}, {**CONTEXT, "@type": "NewsArticle", "author": ["Ada Lovelace"], **DATES}],
        {**CONTEXT, "@graph": {"@type": "Article", "author": "Ada Lovelace", **DATES}},
        {**CONTEXT, "@type": "WebPage", "mainEntity": {"@type": "Article", "author": "Ada Lovelace", **DATES}},
        {
            **CONTEXT,
            "@graph": [
                {"@type": "Article", "@id": "#article", "isPartOf": {"@id": "#page"}, "author": {"@id": ADA["@id"]}},
                {"@type": ["WebPage", "ItemPage"], "@id": "#page", **DATES},
                ADA,
            ],
        },
        {
            **CONTEXT,
            "@type": "Article",
            "author": {"@type": "Person", "name": {"@value": "Ada Lovelace", "@language": "en"}},
            "datePublished": {"@type": "Date", "@value": "2026-01-02"},
            "dateModified": [{"@value": "2026-02-03T10:00:00.000Z"}],
        },
    ],
)
def test_the_author_and_dates_of_a_page_come_from_its_structured_data(document: Any) -> None:
    script = f"<script type='application/ld+json'>{json.dumps(document)}</script>"
    article = article_from_page(f"<head>{script}</head><article><h1>x</h1><p>Text</p></article>")
    assert [author.name for author in article.authors] == ["Ada Lovelace"]
    [check] = [result for result in score(article).checks if result.id == "author_and_dates"]
    assert check.status == "good", check.message


@pytest.mark.parametrize(
    "page",
    [
        (
            "<article><header><h1>Tea</h1><p>By <a rel=author href=/a>Ada Lovelace</a>, <time datetime=2026-01-02>2 May"
            "</time>, <time class=updated datetime=2026-02-03>3 June</time></header><p>Text</p></article>"
        ),
        (
            "<main><h1>Tea</h1><div class=byline><span class=p-author>Ada Lovelace</span> <time datetime=2026-01-02>May"
            "</time> <time itemprop=dateModified datetime=2026-02-03T10:00:00Z>June</time></div><p>Text</p></main>"
        ),
    ],
)
def test_the_author_and_dates_can_come_from_a_line_beside_the_headline(page: str) -> None:
    article = article_from_page(page)
    [check] = [result for result in score(article).checks if result.id == "author_and_dates"]
    assert check.status == "good", check.message
    assert [author.name for author in article.authors] == ["Ada Lovelace"]
    assert [(moment.year, moment.month, moment.day) for moment in (article.published, article.modified) if moment] == [
        (2026, 1, 2),
        (2026, 2, 3),
    ]


def test_dates_inside_a_text_are_not_taken_for_those_of_the_page() -> None:
    page = "<article><h1>Tea</h1><p>On <time datetime=1926-01-02>a day</time> Ada drank.</p></article>"
    article = article_from_page(page)
    assert (article.authors, article.published, article.modified) == ((), None, None)


def test_the_author_and_dates_of_another_article_on_the_page_are_ignored() -> None:
    related = {"@type": "Article", "author": "Eve", **DATES}
    graph = {**CONTEXT, "@graph": [{"@type": "Article", "headline": "x", "dateModified": "2026-05-06"}, related]}
    script = f"<script type='application/ld+json'>{json.dumps(graph)}</script>"
    article = article_from_page(f"<head>{script}</head><article><h1>x</h1><p>Text</p></article>")
    assert (article.authors, article.published) == ((), None)


@pytest.mark.parametrize(
    "author", [None, 1, [], [[[]]], {"name": {}}, {"@id": []}, {"@id": "x"}, "", {"name": ["", 1]}]
)
def test_odd_bylines_are_ignored(author: Any) -> None:
    document = {**CONTEXT, "@type": "Article", "author": author, "datePublished": author, "@graph": author}
    script = f"<script type='application/ld+json'>{json.dumps(document)}</script>"
    article = article_from_page(f"<head>{script}</head><p>x</p>")
    assert (article.authors, article.published) == ((), None)


@pytest.mark.parametrize(
    "page",
    [
        "<article><header><p class=eyebrow>Guides · Tea</p><h1>Tea</h1><p>Ada, 3 May</p></header>{}</article>",
        "<main><p>Guides</p><div><a>Tea</a></div><h1>Tea</h1>{}</main>",
        "<article><div><h1>Tea</h1></div>{}</article>",
        "<article><h1>Tea</h1><p class=byline>By Ada</p><div><time>3 May</time> · 2 min read</div>{}</article>",
        "<main><h1>Tea</h1><figure><img src=a.png></figure><p>By <a rel=author href=/a>Ada</a></p>{}</main>",
        "<h1>Tea</h1><div class=entry-content><ul class=cat-meta><li>Guides</ul><p><time>3 May</time></p>{}</div>",
        "<article><h1>Tea</h1><nav>Guides</nav><!-- no text -->{}</article>",
        (
            "<article><header><div class=meta><a href=/c>Guides</a></div><h1><a href=/t>Tea</a></h1>"
            "<div><span>Ada</span> <time>3 May</time></div></header>{}</article>"
        ),
        (
            "<article><div class=entry-header><span class=cat-links>Guides</span><h1>Tea</h1></div>"
            "<div class=entry-meta>Ada, <time>3 May</time></div>{}</article>"
        ),
        (
            "<div><article class=teaser><h2>Guides</h2><p>Of 3 May</p></article></div>"
            "<main><article><h1>Tea</h1>{}</article></main>"
        ),
        "<main><h1>Tea</h1>{}<article class=card>Guides of 3 May</article></main>",
        ("<article><div><h1>Tea</h1><h3>What it is</h3><div class=byline><a href=/a>Ada</a></div></div>{}</article>"),
        (
            "<header><p>Guides for everybody</p></header><h1>Tea</h1><p class=posted>3 May</p>{}"
            "<div id=sidebar><p>Guides</p></div>"
        ),
        "<meta itemprop=articleBody content='Guides'><article><h1>Tea</h1>{}</article>",
        "<article dir=rtl><h1>Tea</h1><p class=post-date>3 May</p>{}</article>",
        "<article><h1>Tea</h1><div id=toc><p>Guides</p><ul><li><a href=#a>Of 3 May</a></ul></div>{}</article>",
        "<main><h1>Tea</h1>{}<section id=comments><p>Guides are better, says Eve on 3 May.</p></section></main>",
    ],
)
def test_the_lines_around_a_headline_are_not_the_first_paragraph(page: str) -> None:
    text = "<p>Tea is a drink of leaves, and of patience.</p>"
    article = article_from_page(page.format(text), keyphrase="tea")
    assert "Guides" not in article.body
    assert "3 May" not in article.body
    assert text in article.body
    assert next(result for result in score(article).checks if result.id == "keyphrase_in_intro").status == "good"


def test_the_headline_is_the_one_of_the_article() -> None:
    article = article_from_page("<header><h1>My shop</h1></header><main><h1>Tea</h1><p>Tea is a drink.</p></main>")
    assert article.title == "Tea"
    assert {result.id: result.status for result in score(article).checks}["single_h1"] == "good"


def test_social_tags_may_have_a_second_name() -> None:
    title = '<meta name="title" property="og:title" content="Tea">'
    description = '<meta property="description" name="og:description" content="x">'
    assert article_from_page(f"<head>{title}{description}</head>").social == {"og:title": "Tea", "og:description": "x"}


@pytest.mark.parametrize(
    "first",
    [
        "<p>On <time>3 May</time> the shop opened.</p>",
        f'<div class="meta-story">{"Tea is good for you and " * 6}everybody</div>',
        "<p>Tea</p>",
        '<blockquote class="author">Tea</blockquote>',
    ],
)
def test_a_first_paragraph_is_not_a_byline(first: str) -> None:
    article = article_from_page(f"<article><h1>Tea</h1>{first}<p class=date>3 May</p></article>")
    assert first in article.body
    assert "3 May" in article.body.replace(first, "")


LISTINGS = ("author_and_dates", "structured_data", "intro_length", "image_count", "outbound_links")


def typed(name: str) -> str:
    return f"<script type='application/ld+json'>{json.dumps({**CONTEXT, '@type': name})}</script>"


WEBSITE = '<meta property="og:type" content="website">'


@pytest.mark.parametrize(
    ("head", "listing"),
    [
        (WEBSITE, True),
        (typed("Blog"), True),
        (f'{WEBSITE}<meta name="author" content="Ada">', False),
        (f"{WEBSITE}{typed('BlogPosting')}", False),
        ('<meta property="og:type" content="article">', False),
        ("", False),
    ],
)
def test_a_page_that_lists_articles_is_not_scored_as_one(head: str, listing: bool) -> None:
    report = score(article_from_page(f"<head>{head}</head><main><h1>Blog</h1><ul><li>Tea</ul></main>"))
    skipped = {result.id for result in report.checks if result.status == "skipped"}
    assert skipped.issuperset(LISTINGS) is listing
    assert skipped.isdisjoint(LISTINGS) is not listing
